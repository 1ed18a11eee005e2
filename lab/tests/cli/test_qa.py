"""`surefoot lab qa`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from surefoot.run.store import recorded

QUESTIONS = [
    {"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Tomas Aldwin"]},
    {"id": "2", "question": "Who built the Hohrin Hut?", "answers": ["the miners"]},
]


@pytest.fixture
def bench(indexed: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`surefoot lab qa` over two questions, the second of which the model gets wrong."""
    monkeypatch.setenv("COLUMNS", "120")
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return lambda *words: indexed("lab", "qa", "qa.jsonl", *words)


def keys_and_ids(folder: Path) -> list[tuple[str, str]]:
    rows = map(json.loads, (folder / "traces.jsonl").read_text().splitlines())
    return [(row["key"], row["trace"]["id"]) for row in rows]


def test_the_figures_are_shown_with_interval_and_count(bench: Callable[..., Any]) -> None:
    """Of all questions, of those that were answered, and by action."""
    done = bench()
    assert done.code == 0
    assert "50.0 % (9.5 to 90.5), 1 of 2" in done.out
    assert "CORRECT" in done.out
    assert ".000 [" in done.out  # the score: the second is marked as unsupported, and wrong
    assert "wrong among the surest" in done.out
    assert "confidence against" not in done.out.replace(
        "confidence against grade: its", ""
    )  # a model's answers have none
    assert "traces in runs/" in done.err


def test_the_report_is_written_as_json(bench: Callable[..., Any], here: Path) -> None:
    """With what was run, and every outcome."""
    assert bench("--json", "report.json").code == 0
    report = json.loads((here / "report.json").read_text())
    assert (report["tables"]["methods"][0]["method"], report["tables"]["methods"][0]["right"]["count"]) == ("crag", 1)
    assert [outcome["match"] for outcome in report["reports"][0]["outcomes"]] == [True, False]
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
    assert [one["method"] for one in report["reports"]] == ["crag", "rag:1", "none"]
    assert len(report["tables"]["differences"]) == 3


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


def test_what_is_taken_away_is_asked_again_and_drawn(bench: Callable[..., Any], here: Path) -> None:
    """Each change of each method in a folder of its own; said in words, and asked once."""
    words = ("--method", "crag", "--method", "rag:1", "--without", "grading", "--worse", "lost:1", "--run", "run")
    done = bench(*words, "--figure", "r.svg")
    assert done.code == 0, done.err
    assert "crag − crag without grading" in done.out
    assert "without grading: every passage counts as CORRECT" in done.out
    folders = sorted(path.parent.name for path in (here / "run").glob("*/traces.jsonl"))
    assert folders == ["crag", "crag-lost-1", "crag-without-grading", "rag-1", "rag-1-lost-1"]
    assert ElementTree.fromstring((here / "r.svg").read_text()).tag.endswith("svg")
    before = {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")}
    assert bench(*words).out == done.out
    assert {path: path.read_bytes() for path in here.glob("run/*/traces.jsonl")} == before


def test_a_picture_that_cannot_be_is_refused_before_a_question_is_asked(bench: Callable[..., Any], here: Path) -> None:
    """By its name, or as one method at a time has its types and actions drawn."""
    assert "r.jpg is none of these" in bench("--run", "run", "--figure", "r.jpg").err
    assert (
        "draws types and actions of one method"
        in bench("--method", "rag", "--method", "none", "--run", "run", "--figure", "r.svg").err
    )
    assert not (here / "run").exists()


def test_official_data_are_counted_by_type_with_what_is_amiss(indexed: Callable[..., Any], here: Path) -> None:
    """A question without gold stays in the denominator, and the report says why it is wrong."""
    rows = [
        {"id": 1, "question": "Who built the Ruvel Bridge?", "possible_answers": '["tomas aldwin"]', "prop": "author"},
        {"id": 2, "question": "In what city does the Ruvel Bridge stand?", "possible_answers": "?"},
    ]
    (here / "pop.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = indexed("lab", "qa", "pop.jsonl", "--run", "run", "--json", "qa.json", "--figure", "types.svg")
    assert (done.code, "data: 1 × no gold answer; whatever is said counts as wrong (2)" in done.err) == (0, True)
    report = json.loads((here / "qa.json").read_text())
    assert (report["format"], report["problems"][0]["where"]) == ("PopQA of Self-RAG", ["2"])
    types = report["tables"]["types"]
    assert [(row["type"], row["right"]["count"], row["right"]["of"]) for row in types] == [
        ("author", 1, 1),
        ("city", 0, 1),
    ]
    assert ElementTree.fromstring((here / "types.svg").read_text()).tag.endswith("svg")
