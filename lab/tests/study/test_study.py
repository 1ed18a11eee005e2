"""The study exposes what an evaluator goes by, keeps what it said it would test, and goes on where it stopped."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot.text.words import names, words
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError, ConfigError, UsageError
from surefoot.types.protocols import Pair
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.report import as_json
from surefoot_lab.study import hypotheses, report
from surefoot_lab.study.controls import Hashed
from surefoot_lab.study.examination import StudySettings
from surefoot_lab.study.report import HOW
from surefoot_lab.study.run import PAIRS, Study, run

FIRST = "Arno Bela Cora Dario Elke Falk Gesa Hanno Ilse Jorun Kuno".split()
LAST = "Velt Morin".split()
CRAFTS = "potter weaver baker miller smith cooper".split()
"""About as rare in these passages as the names are."""
CITIES = frozenset("Ruvel Hohrin Larrow Tresk Olm Sarn Quilt Wend Garl Pesk Jarn".split())


def _pairs() -> list[LabelledPair]:
    """Of each of 22 questions: a passage that answers, one that has half the name, and one of something else."""
    found = []
    for n, (first, last) in enumerate((first, last) for last in LAST for first in FIRST):
        city, craft = sorted(CITIES)[n % len(CITIES)], CRAFTS[n % len(CRAFTS)]
        texts = [
            (f"{first} {last} was a {craft} of the north. The man was born in {city}. Many works hang here.", 1),
            (f"{first} sang in the hall each night. Many people came from afar to hear it all.", 0),
            ("The lock opens at noon on most days. Barges carry coal along the slow river.", 0),
        ]
        queries = f"In what city was {first} {last} born?"
        found += [
            LabelledPair(f"q{n}", queries, Passage(f"q{n}-{i}", text), label, (city,))
            for i, (text, label) in enumerate(texts)
        ]
    return found


FILE = LabelledSet("born.jsonl", "0" * 64, tuple(_pairs()), 0)


class Planted:
    """An evaluator that goes by one thing, in [0, 1]."""

    name = "planted"
    thresholds = Thresholds(0.9, 0.3, 0.3, "planted")

    def __init__(self, goes_by: Callable[[str, str], float]) -> None:
        self._goes_by = goes_by
        self.before: Callable[[], None] = lambda: None

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One a pair."""
        self.before()
        return tuple(Grade(passage.id, self._goes_by(question, passage.text)) for question, passage in pairs)


def matches_names(question: str, text: str) -> float:
    """The share of the question's names' words that stand in the text, whatever it says of them."""
    queries = {word for name in names(question) for word in words(name)}
    return len(queries & set(words(text))) / len(queries) if queries else 0.0


def finds_answers(question: str, text: str) -> float:
    """Whether what is asked for stands there, whoever it is about: a city where one was born."""
    return float("born" in question and not CITIES.isdisjoint(text.replace(".", "").split()))


def written(tmp_path: Path, **changes: str) -> hypotheses.Hypotheses:
    """The shipped hypotheses with fewer resamples, and whatever else is to be replaced in their text."""
    text = hypotheses.SHIPPED.read_text().replace("resamples = 9999", "resamples = 999")
    for old, new in changes.items():
        text = text.replace(old, new)
    path = tmp_path / "hypotheses.toml"
    path.write_text(text)
    return hypotheses.read(path)


def silent(stage: str, done: int, total: int) -> None:
    """For who need not know."""


def studied(evaluator: Planted, tmp_path: Path, folder: str = "run", **settings: Any) -> Study:
    depth = StudySettings(**{"per_action": 30, "checked": 1, "most": 1, **settings})
    controls = {"hashed": Hashed(evaluator.thresholds)} if depth.checked else {}
    where = tmp_path / folder
    found = run(evaluator, [FILE], written(tmp_path), where, silent, depth, controls=controls)
    report.write(found, where, json.loads((where / "run.json").read_text()))
    return found


@pytest.fixture(scope="module")
def matcher(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study of an evaluator that matches names and nothing else."""
    return studied(Planted(matches_names), tmp_path_factory.mktemp("matcher"))


@pytest.fixture(scope="module")
def finder(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The study of an evaluator that looks for the answer and for no name."""
    return studied(Planted(finds_answers), tmp_path_factory.mktemp("finder"), most=150)


def verdicts(study: Study) -> dict[str, str]:
    return {one.claim.id: one.verdict for one in study.findings}


def test_an_evaluator_that_matches_names_is_exposed(matcher: Study) -> None:
    """Each claim on names is supported, and so is what follows from them."""
    assert [one.verdict for one in matcher.conclusions] == ["supported"]
    found = verdicts(matcher)
    on_names = ["entity-raises", "entity-beyond-rarity", "entity-needed", "entity-before-answer", "entity-enough"]
    assert {found[claim] for claim in on_names} == {"supported"}
    assert {found[claim] for claim in ("answer-unneeded", "relation-unneeded", "order-unneeded")} == {"supported"}


def test_an_evaluator_that_finds_answers_is_not_taken_for_one_that_matches_names(finder: Study) -> None:
    """Each of the claims that would make it one is refuted."""
    assert [one.verdict for one in finder.conclusions] == ["refuted"]
    found = verdicts(finder)
    assert {found[claim] for claim in finder.conclusions[0].conclusion.needs} == {"refuted"}
    assert {found[claim] for claim in ("entity-raises", "entity-beyond-rarity", "entity-needed")} == {"refuted"}


def test_the_attribution_knows_more_than_rarity_and_chance(matcher: Study) -> None:
    """What it puts first costs more without, and less alone."""
    faith = as_json(matcher.tables)["Are these the right words?"]
    gains = {row["order"]: (row["gain"]["value"] or 0.0, row["gain of only"]["value"] or 0.0) for row in faith}
    assert gains["attribution"] == (0.0, 0.0)
    assert min(gains["IDF"]) > 0.1
    assert min(gains["chance"]) > 0.1


def test_a_control_is_explained_otherwise(matcher: Study) -> None:
    """The same evaluator by another seed agrees with itself more than one that grades by chance does."""
    again = as_json(matcher.tables)["Explained again"]
    found = {row["explained with"]: row["correlation"]["value"] or 0.0 for row in again}
    assert list(found) == [HOW[how] for how in ("another seed", "filler", "pad", "hashed")]
    assert found[HOW["another seed"]] > 0.5 > abs(found[HOW["hashed"]])


def test_the_hypotheses_are_on_record_before_the_evaluator_is_asked(tmp_path: Path) -> None:
    """The file and its hash lie in the folder when the first pair is graded."""
    evaluator, seen = Planted(matches_names), []

    def look() -> None:
        seen.append(json.loads((tmp_path / "run" / "run.json").read_text())["hypotheses"])
        assert (tmp_path / "run" / hypotheses.REGISTERED).read_text() == (tmp_path / "hypotheses.toml").read_text()
        raise ComponentError("that is enough")

    evaluator.before = look
    with pytest.raises(UsageError, match="could grade none"):
        studied(evaluator, tmp_path)
    assert seen[0] == written(tmp_path).sha256


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A folder in which hypotheses have been registered."""
    hypotheses.register(tmp_path / "run", written(tmp_path), {"a": 1}, PAIRS)
    return tmp_path


def test_hypotheses_that_changed_are_refused(begun: Path) -> None:
    """Also where the copy in the folder was changed with them."""
    hypotheses.register(begun / "run", written(begun), {"a": 1}, PAIRS)
    other = written(begun, **{"smallest = 0.2": "smallest = 0.1"})
    with pytest.raises(UsageError, match="begun with other hypotheses"):
        hypotheses.register(begun / "run", other, {"a": 1}, PAIRS)
    (begun / "run" / hypotheses.REGISTERED).write_text(other.text)
    with pytest.raises(UsageError, match="holds another run"):
        hypotheses.register(begun / "run", other, {"a": 1}, PAIRS)
    with pytest.raises(UsageError, match="begun with other hypotheses"):
        hypotheses.register(begun / "run", written(begun), {"a": 1}, PAIRS)


def test_a_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """After a failure and a torn line: each pair once, the report the same as without."""
    small = {"per_action": 3, "checked": 0}
    studied(Planted(matches_names), tmp_path, "whole", **small)
    broken, calls = Planted(matches_names), iter(range(25))

    def fail() -> None:
        if next(calls, None) is None:
            raise ComponentError("out of memory")

    broken.before = fail
    with pytest.raises(ComponentError, match="out of memory"):
        studied(broken, tmp_path, **small)
    lines = tmp_path / "run" / PAIRS
    selected = lines.read_bytes()
    assert 0 < selected.count(b"\n") < 9
    lines.write_bytes(selected + b'{"key": "q1/q1-0", "val')
    studied(Planted(matches_names), tmp_path, **small)
    assert lines.read_bytes().startswith(selected)
    assert lines.read_bytes() == (tmp_path / "whole" / PAIRS).read_bytes()
    for name in (report.TEXT, report.DATA):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("alpha = 0.025", "alpha = 2", "alpha lies between"),
        ("alpha = 0.025", "alfa = 0.025", "no field 'alfa'"),
        ('measure = "value: entity"', 'measure = "value: soul"', "no measure 'value: soul'"),
        ('direction = "up"', 'direction = "sideways"', "sideways"),
        ('id = "entity-needed"', 'id = "entity-enough"', "two claims are called"),
        ("smallest = 0.05", "smallest = 0", "above 0"),
        ("resamples = 999", "resamples = 99", "none of 11 claims could be decided .* take 441 or more"),
        ('needs = ["entity-before-answer"', 'needs = ["entity-before"', "no claim is called"),
        ("[[claim]]", "[claim", "not TOML"),
    ],
)
def test_hypotheses_that_are_not_understood_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    """By name, before anything is asked."""
    with pytest.raises(ConfigError, match=says):
        written(tmp_path, **{old: new})


ROWS = [
    {
        "id": name,
        "question": f"Who built the {name} Bridge?",
        "answers": ["Aldwin"],
        "passages": [
            {
                "id": "a",
                "title": f"{name} Bridge",
                "text": f"Aldwin built the {name} Bridge of iron in spring, and it stands to this day.",
                "label": 1,
            },
            {
                "id": "b",
                "title": "Hut",
                "text": "The hut stands alone on a hill, and has a stove, a table and nine beds.",
                "label": None,
            },
        ],
    }
    for name in ("Ruvel", "Hohrin", "Larrow")
]
STUDY = "lab study pairs.jsonl --run run --per-action 2 --checked 1 --most 1 --hypotheses few.toml".split()


@pytest.fixture
def arguments(surefoot: Callable[..., Any], here: Path) -> Callable[..., Any]:
    """`surefoot` beside data and a file with one claim."""
    (here / "pairs.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    few = 'alpha = 0.05\nquestions = 2\nresamples = 99\nseed = 0\n[[claim]]\nid = "named"\nsays = "Names count."\n'
    (here / "few.toml").write_text(few + 'measure = "value: entity"\nsmallest = 0.01\nrefuted_by = "Nothing."\n')
    return surefoot


def test_a_study_is_reported_in_words_and_values(arguments: Callable[..., Any], here: Path) -> None:
    """A table of verdicts here, and the report in the folder with what was run; again, it is the same."""
    done = arguments(*STUDY)
    assert (done.code, "named" in done.out) == (0, True)
    assert "4 pairs of 3 questions" in done.out
    made = {name: (here / "run" / name).read_text() for name in ("report.md", "report.json")}
    assert "named: Names count." in made["report.md"]
    assert json.loads((here / "run" / "run.json").read_text())["config"]["evaluator"]["use"] == "lexical"
    assert arguments(*STUDY).out == done.out
    assert {name: (here / "run" / name).read_text() for name in made} == made
