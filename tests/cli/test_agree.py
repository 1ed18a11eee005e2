"""`surefoot agree`: a judge against people."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluations import written

Surefoot = Callable[..., Any]

VALUES = [0.1, 0.9, 0.4, 0.7, 0.3, 0.8, 0.2, 1.0, 0.6, 0.5] * 3


@pytest.fixture
def run(here: Path) -> Path:
    return written(here / "run", {"factuality": VALUES, "context_recall": [None, *VALUES[1:]]})


def labels(here: Path, *rows: dict[str, Any]) -> Path:
    (here / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return here / "labels.jsonl"


def ratings(here: Path, metric: str = "factuality", count: int = 20) -> Path:
    return labels(here, *({"id": f"r{n}", "metric": metric, "rating": 1 + n % 5} for n in range(count)))


def test_agreement_is_shown_in_eighty_columns(surefoot: Surefoot, here: Path) -> None:
    """Each figure with its interval, and the corrected mean; also for the longest names, with every figure whole."""
    folder = written(here / "long", {"context_relevancy": VALUES}, judge="llm:qwen3-235b-a22b-instruct x3")
    done = surefoot("agree", folder, ratings(here, "context_relevancy"))
    tables = [line for line in done.out.splitlines() if not line.startswith(("No ratings", "fewer than"))]
    assert max(map(len, tables)) <= 80
    assert "…" not in done.out
    assert "No ratings, so that a value v counts as 1 + 4·v: llm:qwen3" in done.out
    for words in ("context_relevancy  20", "Kendall tau-b", "NMAE", "with the judge", "20/30"):
        assert words in done.out


def test_yes_and_no_give_an_auc(surefoot: Surefoot, run: Path, here: Path) -> None:
    """Labels of another file's shape, by name."""
    rows = [{"id": f"r{n}", "correct": value > 0.45} for n, value in enumerate(VALUES)]
    done = surefoot("agree", run, labels(here, *rows), "--label", "correct", "--metric", "factuality")
    assert done.code == 0
    assert "ROC-AUC 1.000" in " ".join(done.out.split())
    assert "NMAE" not in done.out


def test_two_labellers_are_held_against_each_other(surefoot: Surefoot, run: Path, here: Path) -> None:
    """In one file, each named; the judge is held against the mean of both."""
    rows = [
        {"id": f"r{n}", "metric": "factuality", "label": 1 + (n + shift * (n % 3 == 0)) % 5, "by": name}
        for n in range(20)
        for shift, name in enumerate(("Ada", "Bo"))
    ]
    done = surefoot("agree", run, labels(here, *rows))
    text = " ".join(done.out.split())
    assert "people (Ada, Bo) n the same Krippendorff α" in text
    assert "factuality 20 65 %" in text
    (people,) = json.loads(surefoot("agree", run, labels(here, *rows), "--json").out)["people"]
    assert (people["people"], people["of"]) == (["Ada", "Bo"], 20)


def test_what_is_missing_is_said(surefoot: Surefoot, run: Path, here: Path) -> None:
    """Labels of records that nobody judged, records that were left unscored, and figures that are not defined."""
    said = " ".join(surefoot("agree", run, ratings(here, "context_recall", 40)).out.split())
    assert "context_recall: 10 labels are of records without a score to hold them against" in said
    assert "context_recall j: 1 that have a label were left unscored, and are in no figure" in said
    rows = [{"id": f"r{n}", "metric": "factuality", "rating": 3} for n in range(5)]
    said = " ".join(surefoot("agree", run, labels(here, *rows)).out.split())
    assert "factuality j: no Kendall tau-b: all are tied" in said
    assert "intervals are too narrow: factuality j (5)" in said


@pytest.mark.parametrize(
    ("metric", "options", "said"),
    [
        ("factuality", ["--scale", "5:1"], "'5:1' is no scale; write LOW:HIGH"),
        ("factuality", ["--scale", "five"], "'five' is no scale"),
        ("factuality", ["--scale", "1:4"], "does not lie between 1 and 4"),
        ("factuality", ["--label", "verdict"], "no line has verdict"),
        ("grading_note", [], "no label"),
    ],
)
def test_a_mistake_is_one_line(
    surefoot: Surefoot, run: Path, here: Path, metric: str, options: list[str], said: str
) -> None:
    """On standard error, with exit code 2; labels of nothing that was judged are one."""
    done = surefoot("agree", run, ratings(here, metric), *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
