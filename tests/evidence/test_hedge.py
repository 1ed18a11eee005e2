"""When an answer is given plainly, shown behind the passages, or refused, and what is said of it."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from surefoot.evidence import confidence
from surefoot.evidence.confidence import ConfidenceFit
from surefoot.evidence.hedge import ALONE, HOPELESS, MARKED, WEAK, absent, given_up, hedged, hopeless
from surefoot.stats.calibration import Head
from surefoot.types import Action, Answer, Citation, Conflict, Grade, Passage, Strip, Thresholds, Trace
from surefoot.types.protocols import Pair

ANSWER = Answer("Tomas Aldwin [1]", model="m")
SURE, HALF = Grade("a", 1.0, label=Action.CORRECT), Grade("b", 0.0, label=Action.AMBIGUOUS)
WHO = "Who built the Ruvel Bridge?"
GERMAN = "Wer hat die Brücke über den Fluss gebaut?"
RISK = 0.2
WHY = "the reader is not sure of it"


class Any:
    """An evaluator that does not say what it reads."""

    name = "any"
    thresholds = Thresholds(0.5, -0.5, -0.5, "any")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        raise AssertionError("nothing is graded for a hedge")


class English(Any):
    """One that has learned English."""

    languages = ("en",)


def decided(
    question: str, answer: Answer, grades: Sequence[Grade], evaluator: Any, risk: float = RISK, said: str = ""
) -> Answer:
    """Of passages that mention all that the question names, or that say this."""
    passages = [Passage(grade.passage_id, said or question) for grade in grades]
    return hedged(answer, traced(question, passages, grades), evaluator, risk)


def traced(question: str, passages: Sequence[Passage], grades: Sequence[Grade], **fields: object) -> Trace:
    return Trace("t", question, tuple(passages), tuple(grades), **fields)


def bare(answer: Answer) -> Answer:
    """Without why it has no confidence, its hedge and its word."""
    assert answer.confidence is None
    return replace(answer, text=answer.body, unjudged="", hedge="", certainty=None)


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit for what `Any` grades, which takes an answer's text for its confidence, with half of the answers below 0.7
    wrong and none above."""

    def judged(question: str, answer: Answer, *_: object) -> Answer:
        return answer if answer.refused else replace(answer, confidence=float(answer.text))

    fit = ConfidenceFit(Head((), (), 0.0), (), "any", ((0.7, 0.0), (0.0, 0.5)))
    monkeypatch.setattr(confidence, "judged", judged)
    monkeypatch.setattr(confidence, "shipped", lambda worded: fit)


@pytest.mark.parametrize(
    ("question", "because"),
    [
        ("When was the pier printed?", "no passage mentions “printed”; the nearest word is “painted”"),
        ("When was the pier painting?", ""),
        ("When was the pier pianted?", ""),
        ("When was the pier pante?", ""),
        ("When was the pier modernised?", ""),
    ],
)
def test_a_word_that_only_looks_like_the_questions_is_no_answer_to_it(question: str, because: str) -> None:
    """Another form of the same word is the same, and so is one with letters missing or exchanged."""
    pier = Passage("a", "The pier was painted in 2003 and modernized.", "Pier")
    strip = Strip("a", 0, len(pier.text), pier.text, 1.0, kept=True)
    answer = Answer(pier.text, (Citation(1, strip, pier.text, quoted=True),), model="m")
    trace = Trace("t", question, passages=(pier,), grades=(SURE,))
    assert hedged(answer, trace, Any(), RISK).because == because


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(("sure", "risk", "plain"), [(0.7, 0.2, True), (0.69, 0.2, False), (0.05, 0.5, True)])
def test_a_confidence_that_keeps_the_risk_is_reason_enough_to_answer(sure: float, risk: float, plain: bool) -> None:
    """Whatever the grades say."""
    for grades in ([], [HALF], [SURE]):
        answer = decided(WHO, Answer(str(sure)), grades, English(), risk)
        assert (answer.hedged, answer.confidence) == (not plain, sure)
        assert bool(answer.because) is not plain


@pytest.mark.usefixtures("fitted")
def test_an_answer_below_likely_is_called_unsure_where_it_is_given_plainly() -> None:
    """Whatever share of wrong ones is accepted."""
    words = [decided(WHO, Answer(sure), [SURE], English(), 0.5).certainty for sure in ("0.7", "0.69")]
    assert words == ["sure", "unsure"]


@pytest.mark.usefixtures("fitted")
def test_a_risk_that_no_answer_keeps_hedges_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """In words, since a number would pass for part of the answer."""
    fit = ConfidenceFit(Head((), (), 0.0), (), "any", ((0.9, 0.1), (0.0, 0.5)))
    monkeypatch.setattr(confidence, "shipped", lambda worded: fit)
    assert fit.least(0.05) == math.inf
    told = decided(WHO, Answer("0.99"), [SURE], English(), 0.05)
    assert told.because == WEAK


@pytest.mark.usefixtures("fitted")
def test_only_a_hedged_answer_is_hopeless() -> None:
    """One that keeps the risk is given, whoever states such a risk."""
    low = str(HOPELESS - 0.01)
    assert hopeless(decided(WHO, Answer(low), [SURE], English()))
    assert not hopeless(decided(WHO, Answer(low), [SURE], English(), 0.5))
    assert not hopeless(decided(WHO, Answer(str(HOPELESS)), [SURE], English()))
    assert not hopeless(Answer("x", hedged=True))


def test_without_a_confidence_one_correct_passage_is_reason_enough() -> None:
    """Whatever the others are; what the fit never saw keeps the policy's own word."""
    told = decided(WHO, ANSWER, [HALF, SURE, Grade("c", None)], English())
    assert bare(told) == ANSWER
    assert "any and m" in told.unjudged


def test_what_the_question_names_and_no_passage_mentions_is_said() -> None:
    """However well the passages are graded: an answer about the rest of the question is none. One word of a name is a
    mention, and what is no name may be said in other words."""
    asked = "How do I configure Postfix in Plesk?"
    told = decided(asked, ANSWER, [SURE], Any(), said="Postfix is configured in main.cf.")
    assert (bare(told).hedged, told.because) == (True, "no passage mentions Plesk")
    assert not decided("Who built the Ruvel Bridge?", ANSWER, [SURE], Any(), said="It made the bridge famous.").hedged
    assert not decided("Somebody built it. Suppose that?", ANSWER, [SURE], Any(), said="A bridge.").hedged


def test_a_question_that_goes_on_from_another_is_told_so() -> None:
    """The user can mend that; where the answer is sure all the same, nothing is said."""
    assert decided("And in 1921?", ANSWER, [HALF], English()).because == ALONE
    assert bare(decided("And in 1921?", ANSWER, [SURE], English())) == ANSWER


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (GERMAN, "German"),
        ("Qui a construit le pont sur la rivière et pour quelle ville ?", "French"),
        ("谁建造了这座桥？", "Chinese or Japanese"),
        ("Кто построил этот мост через реку?", "Cyrillic"),
    ],
)
def test_a_language_that_the_evaluator_does_not_read_is_said(question: str, told: str) -> None:
    """Though a passage be graded CORRECT: the grade is a guess, and so would be a confidence."""
    answer = decided(question, ANSWER, [SURE], English())
    assert answer.hedged
    assert (
        answer.because
        == answer.unjudged
        == (
            f"the question seems to be in {told}, and the evaluator reads English: only names and numbers count; "
            "ask in English, or configure another evaluator"
        )
    )


def test_an_evaluator_that_reads_every_language_is_believed() -> None:
    """So is one that has learned the question's."""

    class Both(Any):
        languages = ("en", "de")

    for evaluator in (Any(), Both()):
        assert bare(decided(GERMAN, ANSWER, [SURE], evaluator)) == ANSWER


@pytest.mark.parametrize("question", ["And in 1921?", GERMAN])
def test_what_the_asker_can_mend_comes_first(question: str) -> None:
    """Before a reason of the generator's own; a refusal says it too, and stays one."""
    unsure = Answer("x [1]", hedged=True, because=WHY)
    told = decided(question, ANSWER, [HALF], English()).because
    assert bare(decided(question, unsure, [HALF], English())) == replace(unsure, because=told)
    refused = Answer("I cannot answer this.", refused=True)
    assert decided(question, refused, [HALF], English()) == replace(refused, because=told, certainty="not found")


def test_a_hedged_text_says_so() -> None:
    """Whoever shows the text alone shows the hedge; what is withheld later loses it."""
    answer = decided(WHO, ANSWER, [HALF], English())
    assert (answer.certainty, answer.body) == ("unsure", ANSWER.text)
    assert answer.text == f"{answer.hedge}\n\n{ANSWER.text}"
    assert answer.because in answer.hedge
    gone = given_up(answer, "No.")
    assert (gone.text, gone.withheld, gone.hedge, gone.certainty) == ("No.", ANSWER.text, "", "not found")


def test_an_answer_that_a_model_worded_is_as_good_as_its_statements() -> None:
    """Whatever the grades; one that stands on nothing is marked, and hedges the rest."""
    passages, answer = [Passage("b", WHO)], replace(ANSWER, worded=True)
    for grades in ([HALF], [SURE]):
        assert not hedged(answer, traced(WHO, passages, grades), Any(), RISK).hedged
    marked = replace(answer, uncited=("He was a spy.",))
    assert hedged(marked, traced(WHO, passages, [SURE]), Any(), RISK).because == MARKED


def test_an_answer_from_the_wrong_column_says_so() -> None:
    """Where a model worded it."""
    table = "| Team | 2025 | 2026 |\n| --- | --- | --- |\n| Sales | 12 | 14 |"
    strip = Strip("t", 0, len(table), table, 1.0, kept=True)
    answer = Answer("Sales got 12. [1]", (Citation(1, strip, "12", quoted=True),), worded=True)
    found = hedged(answer, traced("What did sales get in 2026?", [Passage("t", table)], [SURE]), Any(), RISK)
    assert found.because == "its number stands under “2025”, and you asked for “2026”"


def from_one_of(first: Passage, second: Passage, cited: Passage) -> str:
    """Why a model's answer is hedged that cites one of two passages that differ."""
    says = (one.text.split()[-1].rstrip(".") for one in (first, second))
    conflict = Conflict(first.id, next(says), second.id, next(says))
    external = tuple(one for one in (first, second) if one.source == "external")
    trace = traced(WHO, [one for one in (first, second) if one not in external], [SURE, HALF], conflicts=(conflict,))
    strip = Strip(cited.id, 0, 5, cited.text[:5], 1.0, kept=True)
    answer = replace(ANSWER, citations=(Citation(1, strip, strip.text, quoted=True),), worded=True)
    return hedged(answer, replace(trace, external=external), Any(), RISK).because


def test_an_answer_from_one_of_two_that_differ_says_what_the_other_says() -> None:
    """Where a model worded it. From the newer one it is given, and from the corpus whatever the web says."""
    old, new = Passage("o", f"{WHO} Brandt.", "Rules 2023"), Passage("n", f"{WHO} Aldwin.", "Rules 2026")
    assert from_one_of(new, old, cited=old) == "“Rules 2026” says otherwise: “Aldwin”"
    assert from_one_of(new, old, cited=new) == ""
    undated = replace(old, title="Rules")
    assert from_one_of(undated, new, cited=undated) == "“Rules 2026” says otherwise: “Aldwin”"
    assert from_one_of(undated, new, cited=new) == "“Rules” says otherwise: “Brandt”"
    web = replace(new, source="external")
    assert from_one_of(undated, web, cited=web) == "“Rules” says otherwise: “Brandt”"
    assert from_one_of(undated, web, cited=undated) == ""


def test_what_the_question_names_exactly_must_stand_where_the_answer_comes_from() -> None:
    """An identifier that no passage has is absent; one that stands elsewhere hedges the answer."""
    strip = Strip("a", 0, 21, "Pump TX-146: 4.5 bar.", 1.0, kept=True)
    answer = replace(ANSWER, citations=(Citation(1, strip, strip.text, quoted=True, title="Pumps"),))
    question, near = "What is the pressure of the TX-103?", Passage("b", "The tx 103 is red.")
    assert absent(question, [Passage("a", strip.text)]) == ("TX-103",)
    assert absent(question, [near]) == absent(question, []) == ()
    told = hedged(answer, traced(question, [near], [SURE]), Any(), RISK)
    assert told.because == "the place that it comes from does not mention TX-103"
    assert not hedged(answer, traced("What is the pressure of the TX-146?", [near], [SURE]), Any(), RISK).hedged
