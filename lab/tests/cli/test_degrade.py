"""`surefoot lab robustness` and `surefoot lab ablate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

TEXTS = {
    "Ruvel Bridge": "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
    "Hohrin Hut": "The Hohrin Hut was built by the miners.",
}


@pytest.fixture
def bench(surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A command of `surefoot lab` over two questions with a passage each."""
    monkeypatch.setenv("COLUMNS", "120")
    rows = [
        {
            "id": name,
            "question": f"Who built the {name}?",
            "answers": [text.removesuffix(".").split(" by ")[1]],
            "passages": [{"id": name, "title": name, "text": text, "label": 1}],
        }
        for name, text in TEXTS.items()
    ]
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lambda command, *words: surefoot("lab", command, "qa.jsonl", "--given", *words)


def test_robustness_is_shown_written_drawn_and_kept(bench: Callable[..., Any], here: Path) -> None:
    """Corrective RAG and plain RAG with ten passages, each step of each kind in a folder of its own."""
    words = ("--kind", "fewer", "--kind", "lost", "--step", "1", "--run", "run")
    done = bench("robustness", *words, "--json", "r.json", "--figure", "r.svg")
    assert done.code == 0, done.err
    assert "crag − rag:10" in done.out
    assert "2 questions, right by match_lower" in done.out
    report = json.loads((here / "r.json").read_text())
    assert [(s["kind"], s["share"]) for s in report["steps"] if s["method"] == "crag"] == [
        ("fewer", 0.0),
        ("fewer", 1.0),
        ("lost", 0.0),
        ("lost", 1.0),
    ]
    assert [step["changed"] for step in report["steps"] if step["method"] == "crag"] == [0, 2, 0, 2]
    assert report["environment"]["libraries"]
    assert ElementTree.fromstring((here / "r.svg").read_text()).tag.endswith("svg")
    assert (here / "run" / "rag-10-lost-1" / "traces.jsonl").exists()
    before = {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")}
    assert bench("robustness", *words).out == done.out
    assert {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")} == before


def test_a_picture_that_cannot_be_is_refused_before_a_question_is_asked(bench: Callable[..., Any], here: Path) -> None:
    """By its name."""
    assert "r.jpg is none of these" in bench("robustness", "--run", "run", "--figure", "r.jpg").err
    assert not (here / "run").exists()


def test_ablation_shows_what_each_stage_earned(bench: Callable[..., Any], here: Path) -> None:
    """One row a stage, with what stands in its place."""
    done = bench("ablate", "--without", "grading", "--without", "checking", "--json", "a.json")
    assert done.code == 0, done.err
    assert "without grading: every passage counts as CORRECT" in done.out
    report = json.loads((here / "a.json").read_text())
    assert (report["method"], [one["stage"] for one in report["stages"]]) == ("whole", ["grading", "checking"])
    assert report["stages"][1]["changed"] == 1
