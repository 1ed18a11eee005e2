"""What the study is made of: the sample, kinds of words, verdicts, controls."""

from dataclasses import replace
from pathlib import Path

import pytest

from surefoot.evaluators.minilm import MiniLM
from surefoot.explain.grade import taken_apart
from surefoot.stats.figures import Figure
from surefoot.types import Action, Grade, Passage, Thresholds
from surefoot_lab.datasets.pairs import LabelledPair
from surefoot_lab.study import controls, hypotheses
from surefoot_lab.study.hypotheses import Hypothesis, StudyConclusion
from surefoot_lab.study.kinds import as_rare, kinds
from surefoot_lab.study.report import correlation
from surefoot_lab.study.sample import Candidate, dealt, drawn
from surefoot_lab.study.verdicts import Finding, _decided, concluded

OWN = Thresholds(0.8, 0.3, 0.3, "own")


def decided(presence: str, value: float, supports: float, refutes: float) -> str:
    claim = Hypothesis("c", "", "value: entity", direction="down", presence=presence, smallest=0.2)  # type: ignore[arg-type]
    figure = Figure(value, value - 0.1, value + 0.1, 50)
    one = Finding(claim, 50, figure, figure, supports, refutes, supports, refutes, "undetermined", "")
    return _decided(one, 0.025).verdict


def test_a_verdict_takes_a_clear_effect_or_its_clear_absence() -> None:
    """A small one that is clearly there is no support; an unclear one decides nothing."""
    assert decided("present", -0.5, 0.001, 1.0) == "supported"
    assert decided("present", -0.5, 0.03, 1.0) == "undetermined"
    assert decided("present", -0.1, 0.001, 0.9) == "undetermined"
    assert decided("present", -0.1, 0.001, 0.001) == "refuted"
    assert decided("present", 0.5, 1.0, 0.001) == "refuted"


def test_a_conclusion_needs_all_of_its_claims() -> None:
    """One that is refuted refutes it, one that is open leaves it open."""
    nothing = Figure(None, None, None, 0)
    base = Finding(Hypothesis("", "", untestable="-"), 0, nothing, nothing, None, None, None, None, "supported", "")
    named = [replace(base, claim=Hypothesis(name, "", untestable="-")) for name in ("a", "b", "c")]
    each = [named[0], replace(named[1], verdict="undetermined"), replace(named[2], verdict="refuted")]
    wanted = [StudyConclusion("x", "", needs) for needs in (("a",), ("a", "b"), ("a", "b", "c"))]
    assert [one.verdict for one in concluded(each, wanted)] == ["supported", "undetermined", "refuted"]


def pair(question: int, passage: str, text: str = "A text.", answers: tuple[str, ...] = ()) -> LabelledPair:
    return LabelledPair(f"q{question}", "What is Ada Berg's occupation?", Passage(passage, text), 0, answers)


def candidate(question: int, passage: str, holds: bool, relation: str) -> Candidate:
    return Candidate(pair(question, passage), 0.9, Action.CORRECT, holds, relation)


def test_a_sample_is_dealt_out_evenly() -> None:
    """Of one question with many passages, and of a relation that most ask for, no more than has to be."""
    many = [candidate(0, f"a{n}", False, "born") for n in range(50)]
    many += [candidate(1 + n, f"b{n}", False, "father") for n in range(3)]
    many += [candidate(9 + n, f"c{n}", True, "born") for n in range(4)]
    first = dealt(many, 0)[:8]
    assert sum(one.holds_answer for one in first) == 4
    assert sorted(one.relation for one in first if not one.holds_answer) == ["born", "born", "father", "father"]
    assert len({one.pair.question_id for one in first if one.relation == "father"}) == 2
    assert dealt(many[::-1], 0) == dealt(many, 0) != dealt(many, 1)


def test_a_sample_says_where_there_are_too_few() -> None:
    """What there is of each action, and with an answer; what could not be graded is counted, and in no stratum."""
    each = [pair(n, f"p{n}", "A poet.", ("poet",)) for n in range(4)]
    grades = [Grade("", score) for score in (0.9, 0.85, 0.1, None)]
    found = drawn(each, grades, OWN, 1, 0)
    assert [one.action for one in found.candidates] == ["correct", "incorrect"]
    counts = {(row.action, row.holds_answer): (row.available, row.taken) for row in found.strata}
    assert counts["correct", True] == (2, 1)
    assert counts["ambiguous", True] == (0, 0)
    assert (found.graded, found.ungraded) == (3, 1)
    assert found.candidates[0].relation == "occupation"


QUESTION = "What is Ada Berg's occupation?"
PASSAGE = Passage(
    "p", "Years later Berg was a well-known poet — her occupation by day, and Ada Maria Berg's joy.", "Ada Berg"
)


def test_words_are_told_apart_by_kind() -> None:
    """Names by their words, answers before names, what is asked for in question and text alike."""
    apart = taken_apart(QUESTION, PASSAGE, entities=True)
    found = dict(zip([(u.side, u.words) for u in apart.units], kinds(apart, "Ada Berg", ("poet",)), strict=True))
    assert found["question", "Ada Berg's"] == "question entity"
    assert found["question", "occupation?"] == "relation word"
    assert found["question", "What"] == "function word"
    assert found["title", "Ada Berg"] == "passage entity"
    assert found["text", "Berg"] == "passage entity"
    assert found["text", "Ada Maria Berg's"] == "passage entity"
    assert found["text", "poet"] == "answer span"
    assert found["text", "occupation"] == "relation word"
    assert found["text", "well-known"] == "other"
    assert found["text", "—"] == "punctuation"
    assert found["text", "by"] == "function word"
    both = taken_apart(QUESTION, PASSAGE, entities=True)
    assert kinds(both, "Ada Berg", ("Berg",))[[u.words for u in both.units].index("Berg")] == "answer span"


def test_a_name_is_compared_with_a_word_as_rare_of_its_half() -> None:
    """The nearest within reach; where there is none, it is left out."""
    apart = taken_apart(QUESTION, Passage("p", "Ada Berg wrote rare verse"), entities=True)
    kind = kinds(apart, "Ada Berg", ())
    where = {unit.words: n for n, unit in enumerate(apart.units)}
    idf = [0.0] * len(kind)
    idf[where["Ada Berg's"]], idf[where["occupation?"]] = 5.0, 3.0
    idf[where["Ada Berg"]], idf[where["rare"]], idf[where["verse"]] = 5.0, 4.5, 5.2
    assert as_rare(kind, apart.units, idf) == [(where["Ada Berg"], where["verse"])]


def test_rank_correlation_is_spearmans() -> None:
    """Ties have their mean rank; a constant has none."""
    assert correlation([1, 2, 3, 4], [10, 20, 30, 40], ranks=True) == pytest.approx(1)
    assert correlation([1, 2, 3], [9, 5, 1], ranks=True) == pytest.approx(-1)
    assert correlation([1, 2, 2, 3], [1, 2, 3, 4], ranks=True) == pytest.approx(0.9486832980505138)
    assert correlation([1, 1, 1], [1, 2, 3], ranks=True) is None


@pytest.mark.slow
def test_shuffled_weights_are_the_same_numbers_elsewhere(tmp_path: Path) -> None:
    """The model still runs, and grades otherwise; the same seed gives the same file."""
    pytest.importorskip("onnx", reason="needs the extra train")
    own = controls.weights(None)
    folder = controls.shuffled(own, tmp_path / "a")
    data, before = (folder / "minilm.onnx").read_bytes(), own.read_bytes()
    assert data != before
    queries = [("Who wrote it?", Passage("p", "Ada Berg wrote it in 1911."))]
    assert MiniLM(str(folder)).grade(queries)[0].score != MiniLM().grade(queries)[0].score
    assert MiniLM(str(folder)).name != MiniLM().name
    assert (controls.shuffled(own, tmp_path / "b") / "minilm.onnx").read_bytes() == data


def test_the_shipped_hypotheses_are_understood() -> None:
    """Each says what would refute it, or why it is not tested."""
    found = hypotheses.read()
    assert all(claim.refuted_by or claim.untestable for claim in found.claims)
    assert len(found.sha256) == 64
