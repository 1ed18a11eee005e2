"""`surefoot lab evaluator`."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from surefoot.types import Grade, Thresholds
from surefoot.types.errors import ConfigError
from surefoot_lab.probes import PROBES

ROWS = [
    {
        "id": name,
        "question": f"Who built the {name} Bridge?",
        "answers": ["Aldwin"],
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


class Unfitted(Half):
    """Has no thresholds so far, and must be told two things."""

    name = "unfitted"

    def __init__(self, model: str, score: float) -> None:
        self.name = f"unfitted:{model}"
        self.score = score

    @property
    def thresholds(self) -> Thresholds:  # type: ignore[override]
        raise ConfigError(f"{self.name} has no thresholds; fit them")


UNFITTED = f"{__name__}:Unfitted"


@pytest.fixture
def files(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two files of labelled pairs; the second has one question."""
    monkeypatch.setenv("SUREFOOT_TRUST", "1")  # for the classes of this file
    monkeypatch.setenv("COLUMNS", "100")
    for name, rows in (("bridges", ROWS), ("one", ROWS[:1])):
        (here / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [Path("bridges.jsonl"), Path("one.jsonl")]


def cells(text: str, start: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip().startswith(start)]


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_the_figures_of_each_file_are_shown(surefoot: Any, files: list[Path]) -> None:
    """Counts, ranking, labels, questions, titles, and the mean; what is missing says why."""
    done = surefoot("lab", "evaluator", *files, "--evaluator", "lexical")
    assert done.code == 0
    bridges, one = cells(done.out, "bridges"), cells(done.out, "one")
    assert bridges[0] == ["bridges", "4", "7", "42.9", "%", "3"]
    assert bridges[1][:7] == ["bridges", "1.000", "[1.000,", "1.000]", "1.000", "[1.000,", "1.000]"]
    assert bridges[2][:4] == ["bridges", "1.000", "[1.000,", "1.000]"]
    assert bridges[3] == "bridges 1.000 100 % of 3 0 100 % of 1".split()
    assert bridges[4][:3] == ["bridges", "3", "1.000"]
    assert one[1][:3] == ["one", "1.000", "1.000"]
    assert len(cells(done.out, "all files:")) == 1
    assert len(cells(done.out, "all files ")) == 3
    assert "lexical: τ+ 0.75, τ− 0.4" in done.out
    assert "– no grade has a probability: bridges, one" in done.out
    assert "– it takes both labels, and 1 of 1 are positive: one" in done.out


def test_evaluators_are_measured_side_by_side(surefoot: Any, files: list[Path], here: Path) -> None:
    """On the same pairs, one below the other, by the names they were given."""
    words = ("--evaluator", "lexical", "--evaluator", "cosine", "--set", "embedder.use=static", "--json", "report.json")
    done = surefoot("lab", "evaluator", *files, *words)
    assert done.code == 0
    rows = report(here)["pairs"]
    assert [(row["file"], row["evaluator"], row["ROC-AUC"]["value"]) for row in rows][:2] == [
        ("bridges", "lexical", 1.0),
        ("bridges", "cosine", 1.0),
    ]
    assert report(here)["config"]["cosine"]["embedder"]["use"] == "static"
    assert all(cell_len(line.rstrip()) <= 100 for line in done.out.splitlines())


def test_options_can_stand_beside_a_name(surefoot: Any, files: list[Path], here: Path) -> None:
    """Then they are all it has; of several with one name each is shown by its own."""
    (here / "surefoot.toml").write_text(f'[evaluator]\nuse = "{HALF}"\nscore = 0.7\n[thresholds]\nupper = 0.9\n')
    names = (f"{UNFITTED} model='a b' score=0.25", f"{UNFITTED} model=c score=0.5", f"{HALF} score=0.5")
    words = [word for name in names for word in ("--evaluator", name)]
    done = surefoot("lab", "evaluator", files[0], *words, "--json", "report.json")
    assert (done.code, done.err) == (0, "")
    built = {name: one["evaluator"] for name, one in report(here)["config"].items()}
    assert built == {
        "unfitted:a b": {"use": UNFITTED, "model": "a b", "score": 0.25},
        "unfitted:c": {"use": UNFITTED, "model": "c", "score": 0.5},
        HALF: {"use": HALF, "score": 0.5},
    }
    assert f"{HALF}: τ+ 0.6, τ− 0.4" in done.out
    assert [row["evaluator"] for row in report(here)["pairs"]] == ["unfitted:a b", "unfitted:c", HALF]


def test_an_evaluator_can_be_measured_before_it_is_fitted(surefoot: Any, files: list[Path], here: Path) -> None:
    """What takes thresholds is empty and says why; probes take them, and are refused."""
    words = ("lab", "evaluator", files[0], "--evaluator", f"{UNFITTED} model=a score=0.5", "--json", "report.json")
    done = surefoot(*words)
    assert done.code == 0
    assert report(here)["pairs"][0]["ROC-AUC"]["value"] == 0.5
    assert "– the evaluator has no thresholds: bridges" in done.out
    assert f"{UNFITTED}: no thresholds, which surefoot lab tune would fit" in done.out
    assert cells(done.out, "bridges")[3][-3:] == ["–", "–", "–"]
    arguments = surefoot(*words, "--set", "thresholds.upper=0.5")
    assert (arguments.code, arguments.err) == (2, "surefoot: unfitted:a has no thresholds; fit them\n")
    assert surefoot(*words, "--probe").err == "surefoot: unfitted:a has no thresholds; fit them\n"


@pytest.mark.parametrize("part", ["question", "passage"])
def test_a_part_can_be_blanked(surefoot: Any, files: list[Path], here: Path, part: str) -> None:
    """Then words in common are worth nothing; the report says that it was a control."""
    words = ("--evaluator", "lexical", "--blank", part, "--json", "report.json")
    assert surefoot("lab", "evaluator", files[0], *words).code == 0
    data = report(here)
    assert data["blank"] == part
    assert (data["pairs"][0]["ROC-AUC"]["value"], data["pairs"][0]["ungraded"]) == (0.5, 0)


def test_what_could_not_be_graded_is_shown(surefoot: Any, files: list[Path]) -> None:
    """How many, and why, in words that cannot steer the terminal."""
    done = surefoot("lab", "evaluator", files[0], "--evaluator", HALF)
    assert done.code == 0
    assert f"bridges, {HALF}: 1 of 7 pairs could not be graded: a \ufffd[31mtower (1)" in done.out


def test_the_findings_of_each_probe_are_shown(surefoot: Any, files: list[Path]) -> None:
    """Every probe with pairs, change, flips and what was expected; what was left out says why."""
    files[0].write_text("".join(json.dumps(row) + "\n" for row in ROWS[:3]))
    done = surefoot("lab", "evaluator", *files, "--probe", "--evaluator", "lexical")
    assert done.code == 0
    assert "bridges · lexical · 3 relevant and 3 irrelevant pairs" in done.out
    injected = "injected question low 3 +1.00 [+1.00, +1.00] – ↓0 ↑3 ↓0 ↑3 0 % of 3".split()
    assert cells(done.out, "injected question")[0] == injected
    both = "entity in both holds 3 .000 [.000, .000] – ↓0 ↑0 ↓0 ↑0 100 % of 3".split()
    assert cells(done.out, "entity in both")[0] == both
    assert cells(done.out, "entity in question")[1] == "entity in question falls 0 – – ↓0 ↑0 ↓0 ↑0 –".split()
    assert all(len(cells(done.out, probe.name)) >= 2 for probe in PROBES)
    assert "left out, the title holds an answer" not in done.out
    reason = "one: left out, the file names nothing else that the pair does not"
    assert f"{reason}: entity in question 1, entity in passage 1, entity in both 1" in done.out


def test_a_pair_is_not_both_probed_and_blanked(surefoot: Any, files: list[Path]) -> None:
    """Each is an experiment of its own."""
    done = surefoot("lab", "evaluator", files[0], "--probe", "--blank", "question")
    assert done.code != 0
    assert "--probe changes one thing about a pair and --blank hides one" in done.err
