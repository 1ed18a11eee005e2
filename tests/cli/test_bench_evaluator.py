"""`surefoot bench evaluator`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from surefoot.cli import evaluators
from surefoot.evaluators.lexical import Lexical
from surefoot.types import Grade, Thresholds

ROWS = [
    {
        "id": name,
        "question": f"Who built the {name} Bridge?",
        "passages": [
            {"id": "a", "title": f"{name} Bridge", "text": f"Aldwin built the {name} Bridge.", "label": 1},
            {"id": "b", "title": "Hut", "text": "The hut stands alone.", "label": 0, "rank": 1, "label_title": 0},
            {"id": "c", "title": "Pass", "text": "A pass.", "label": None},
        ],
    }
    for name in ("Ruvel", "Hohrin", "Larrow")
] + [{"id": "none", "question": "Who built the Olm Tower?", "passages": [{"id": "d", "text": "A hut.", "label": 0}]}]


class Half:
    """An evaluator that is told what to think, and cannot grade towers."""

    name = "half"

    def __init__(self, score: float = 0.5) -> None:
        self.score = score
        self.thresholds = Thresholds(0.6, 0.4, 0.4, "half")

    def grade(self, pairs: Any) -> tuple[Grade, ...]:
        return tuple(
            Grade(passage.id, None, reason="a \x1b[31mtower")
            if "Tower" in question
            else Grade(passage.id, self.score, 0.5)
            for question, passage in pairs
        )


HALF = f"{__name__}:Half"


@pytest.fixture
def files(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two files of labelled pairs; the second has one question."""
    monkeypatch.setenv("COLUMNS", "100")
    for name, rows in (("bridges", ROWS), ("one", ROWS[:1])):
        (here / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [Path("bridges.jsonl"), Path("one.jsonl")]


def cells(text: str, start: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith(start)]


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_figures_of_each_file_are_shown(surefoot: Any, files: list[Path]) -> None:
    """Counts, ranking, labels, questions, titles, and the mean; what is missing says why."""
    done = surefoot("bench", "evaluator", *files, "--evaluator", "lexical")
    assert done.code == 0
    bridges, one = cells(done.out, "bridges"), cells(done.out, "one")
    assert bridges[0] == ["bridges", "4", "7", "42.9", "%", "3"]
    assert bridges[1][:7] == ["bridges", "1.000", "[1.000,", "1.000]", "1.000", "[1.000,", "1.000]"]
    assert bridges[2][:4] == ["bridges", "1.000", "[1.000,", "1.000]"]
    assert bridges[3] == "bridges 1.000 100 % of 3 0 100 % of 1".split()
    assert bridges[4][:4] == ["bridges", "3", "pairs", "1.000"]
    assert one[1][:3] == ["one", "1.000", "1.000"]
    assert len(cells(done.out, "all files:")) == 1
    assert len(cells(done.out, "all files ")) == 3
    assert "lexical: τ+ 0.75, τ− 0.4" in done.out
    assert "– no grade has a probability: bridges, one" in done.out
    assert "– it takes both labels, and 1 of 1 are positive: one" in done.out


def test_evaluators_are_measured_side_by_side(surefoot: Any, files: list[Path], here: Path) -> None:
    """On the same pairs, one below the other, by the names they were given."""
    words = ("--evaluator", "lexical", "--evaluator", "cosine", "--set", "embedder.use=static", "--json", "report.json")
    done = surefoot("bench", "evaluator", *files, *words)
    assert done.code == 0
    first = done.out.splitlines().index(next(line for line in done.out.splitlines() if "ROC-AUC" in line))
    assert [line.split()[:2] for line in done.out.splitlines()[first + 1 : first + 3]] == [
        ["bridges", "lexical"],
        ["cosine", "1.000"],
    ]
    each = report(here)["evaluators"]
    assert [one["evaluator"] for one in each] == ["lexical", "cosine:static-256-v1-65bd3593"]
    assert each[0]["files"][0]["sha256"] == each[1]["files"][0]["sha256"]
    assert all(cell_len(line.rstrip()) <= 100 for line in done.out.splitlines())


def test_the_configured_evaluator_is_measured_unless_one_is_named(surefoot: Any, files: list[Path], here: Path) -> None:
    """With its options and thresholds; what was built from is in the report."""
    (here / "surefoot.toml").write_text(f'[evaluator]\nuse = "{HALF}"\nscore = 0.7\n[thresholds]\nupper = 0.65\n')
    assert surefoot("bench", "evaluator", files[0], "--json", "report.json").code == 0
    (one,) = report(here)["evaluators"]
    assert (one["evaluator"], one["thresholds"]["upper"], one["config"]["evaluator"]["score"]) == ("half", 0.65, 0.7)
    assert one["files"][0]["decisions"]["correct"]["count"] == 3


def test_options_are_for_the_first_evaluator(surefoot: Any, files: list[Path], here: Path) -> None:
    """Another has others, and thresholds never travel; but it keeps what the file says of it."""
    (here / "surefoot.toml").write_text(f'[evaluator]\nuse = "{HALF}"\nscore = 0.3\n[thresholds]\nupper = 0.9\n')
    settings = ("--set", "thresholds.upper=0.8", "--json", "report.json")
    names = ("--evaluator", "lexical", "--evaluator", HALF)
    assert surefoot("bench", "evaluator", files[0], *names, *settings).code == 0
    lexical, half = report(here)["evaluators"]
    assert (lexical["thresholds"]["upper"], lexical["config"]["evaluator"]) == (0.8, {"use": "lexical"})
    assert (half["thresholds"]["upper"], half["config"]["evaluator"]["score"]) == (0.9, 0.3)
    words = ("--evaluator", HALF, "--evaluator", "lexical", "--set", "evaluator.score=0.7")
    assert surefoot("bench", "evaluator", files[0], *words, "--json", "report.json").code == 0
    half, lexical = report(here)["evaluators"]
    assert half["config"]["evaluator"]["score"] == 0.7
    assert lexical["thresholds"]["upper"] == Lexical.thresholds.upper


@pytest.mark.parametrize("part", ["question", "passage"])
def test_a_part_can_be_blanked(surefoot: Any, files: list[Path], here: Path, part: str) -> None:
    """Then words in common are worth nothing; the report says that it was a control."""
    words = ("--evaluator", "lexical", "--blank", part, "--json", "report.json")
    assert surefoot("bench", "evaluator", files[0], *words).code == 0
    data = report(here)
    assert data["blank"] == part
    assert data["evaluators"][0]["files"][0]["metrics"]["roc_auc"]["value"] == 0.5
    assert data["evaluators"][0]["files"][0]["ungraded"] == 0


def test_a_sample_is_taken_of_each_file(surefoot: Any, files: list[Path], here: Path) -> None:
    """Of questions; the report says so, and which version of Surefoot it was."""
    words = ("--evaluator", "lexical", "--limit", "2", "--json", "report.json")
    assert surefoot("bench", "evaluator", *files, *words).code == 0
    data = report(here)
    assert [file["questions"] for file in data["evaluators"][0]["files"]] == [2, 1]
    assert (data["limit"], data["blank"], data["schema"]) == (2, None, 1)
    assert data["surefoot"]


def test_what_could_not_be_graded_is_shown(surefoot: Any, files: list[Path]) -> None:
    """How many, and why, in words that cannot steer the terminal."""
    done = surefoot("bench", "evaluator", files[0], "--evaluator", HALF)
    assert done.code == 0
    assert f"bridges, {HALF}: 1 of 7 pairs could not be graded: a \ufffd[31mtower (1)" in done.out


def test_a_wrong_file_or_name_is_told_before_work_begins(surefoot: Any, files: list[Path], here: Path) -> None:
    """In one line, with no report."""
    missing = surefoot("bench", "evaluator", *files, "none.jsonl", "--evaluator", "lexical", "--json", "report.json")
    assert (missing.code, missing.err) == (2, "surefoot: none.jsonl cannot be read: No such file or directory\n")
    unknown = surefoot("bench", "evaluator", *files, "--evaluator", "lexical", "--evaluator", "lexcal")
    assert (unknown.code, unknown.out) == (2, "")
    assert "no evaluator called 'lexcal'" in unknown.err
    assert not (here / "report.json").exists()


@pytest.mark.parametrize(
    ("value", "shown"), [(0.9754, ".975"), (1.0, "1.000"), (0.0, ".000"), (None, "–"), (0.99996, "1.000")]
)
def test_figures_are_short(value: float | None, shown: str) -> None:
    """Three decimals, no leading zero; what is undefined is no 0."""
    assert evaluators._number(value) == shown


@pytest.mark.parametrize(("speed", "shown"), [(12345.6, "12,346"), (9.87, "9.9"), (0.19, "0.2"), (None, "–")])
def test_slow_evaluators_have_a_decimal(speed: float | None, shown: str) -> None:
    """A pair in five seconds is not 0 pairs a second."""
    assert evaluators._speed(speed) == shown
