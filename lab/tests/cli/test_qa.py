"""`surefoot lab qa`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.run.store import recorded

QUESTIONS = [
    {"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Tomas Aldwin"]},
    {"id": "2", "question": "Who built the Hohrin Hut?", "answers": ["the miners"]},
]


@pytest.fixture
def bench(indexed: Callable[..., Any], here: Path) -> Callable[..., Any]:
    """`surefoot lab qa` over two questions, the second of which the model gets wrong."""
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return lambda *words: indexed("lab", "qa", "qa.jsonl", *words)


def keys_and_ids(folder: Path) -> list[tuple[str, str]]:
    rows = map(json.loads, (folder / "traces.jsonl").read_text().splitlines())
    return [(row["key"], row["trace"]["id"]) for row in rows]


def test_the_figures_are_shown_with_interval_and_count(bench: Callable[..., Any]) -> None:
    """Of all questions, of those that were answered, and by action."""
    done = bench()
    assert done.code == 0
    assert any(
        line.split()[:3] == ["match", "50.0", "%"] and line.endswith("1 of 2  ") for line in done.out.splitlines()
    )
    assert "CORRECT" in done.out
    assert "score .000 [" in done.out  # the second is marked as unsupported, and wrong
    assert "wrong among the surest, by grade: 25 % " in done.out
    assert "by confidence" not in done.out  # a language model's answers have none
    assert "traces in runs/" in done.err


def test_the_report_is_written_as_json(bench: Callable[..., Any], here: Path) -> None:
    """With what was run, and every outcome."""
    assert bench("--json", "report.json").code == 0
    report = json.loads((here / "report.json").read_text())
    assert (report["method"], report["questions"], report["match"]["count"]) == ("crag", 2, 1)
    assert [outcome["match"] for outcome in report["outcomes"]] == [True, False]
    assert report["config"]["llm"]["use"] == "scripted"


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(bench: Callable[..., Any], here: Path) -> None:
    """What is there is not asked again; a torn last line is."""
    assert bench("--run", "run").code == 0
    selected = here / "run" / "crag"
    first, second = keys_and_ids(selected)
    text = (selected / "traces.jsonl").read_text()
    (selected / "traces.jsonl").write_text(text[: text.index("\n") + 20])
    assert bench("--run", "run").code == 0
    again = keys_and_ids(selected)
    assert again[0] == first
    assert again[1][0] == "2"
    assert again[1] != second


def test_several_methods_are_asked_the_same_questions(bench: Callable[..., Any], here: Path) -> None:
    """A line each, their differences, and a folder each; the report begins with the first."""
    done = bench("--method", "crag", "--method", "rag:1", "--method", "none", "--run", "run", "--json", "r.json")
    assert done.code == 0
    assert "rag:1" in done.out
    assert "crag − none" in done.out
    assert sorted(path.parent.name for path in (here / "run").glob("*/traces.jsonl")) == ["crag", "none", "rag-1"]
    report = json.loads((here / "r.json").read_text())
    assert (report["method"], [other["method"] for other in report["others"]]) == ("crag", ["rag:1", "none"])
    assert len(report["comparisons"]) == 3 * 2


def test_texts_that_come_with_the_questions_need_no_index(surefoot: Callable[..., Any], here: Path) -> None:
    """Passages are retrieved; what a web search had brought is found by a search."""
    text = "Who built it  The Ruvel Bridge was built by Tomas Aldwin."
    rows = [
        {**QUESTIONS[0], "passages": [{"id": "p", "text": "The Ruvel Bridge was built in 1911 by Tomas Aldwin."}]},
        {**QUESTIONS[1], "internal": text, "external": "Hohrin Hut: The Hohrin Hut was built by Napoleon."},
        {**QUESTIONS[0], "id": "bare"},
    ]
    (here / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = surefoot("lab", "qa", "given.jsonl", "--given", "--run", "run")
    assert done.code == 0
    assert "1 of 3" in done.out
    assert "data: 1 × no text came with the question; nothing is retrieved for it (bare)" in done.err
    _, traces = recorded(here / "run" / "crag+search")
    assert [passage.id for passage in traces["1"].passages] == ["p"]
    assert traces["2"].passages[0].text == "The Ruvel Bridge was built by Tomas Aldwin."
    assert traces["2"].external[0].text == "The Hohrin Hut was built by Napoleon."
