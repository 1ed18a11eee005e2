"""`surefoot bench qa`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import pytest

from surefoot.bench.methods import METHODS
from surefoot.cli.bench import qa

QUESTIONS = [
    {"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Tomas Aldwin"]},
    {"id": "2", "question": "Who built the Hohrin Hut?", "answers": ["the miners"]},
]


@pytest.fixture
def bench(indexed: Callable[..., Any], here: Path) -> Callable[..., Any]:
    """`surefoot bench qa` over two questions, the second of which the model gets wrong."""
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return lambda *words: indexed("bench", "qa", "qa.jsonl", *words)


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
    first, second = keys_and_ids(here / "run")
    text = (here / "run" / "traces.jsonl").read_text()
    (here / "run" / "traces.jsonl").write_text(text[: text.index("\n") + 20])
    assert bench("--run", "run").code == 0
    again = keys_and_ids(here / "run")
    assert again[0] == first
    assert again[1][0] == "2"
    assert again[1] != second


def test_a_folder_of_another_run_is_refused(bench: Callable[..., Any]) -> None:
    """Figures of two settings are never mixed."""
    bench("--run", "run")
    done = bench("--run", "run", "--set", "pipeline.k=1")
    assert done.code == 2
    assert "holds another run" in done.err


@pytest.mark.parametrize("method", ["rag", "none"])
def test_other_methods_take_no_action(bench: Callable[..., Any], method: str) -> None:
    """Plain retrieval and the model's memory have answers and no decisions."""
    done = bench("--method", method, "--limit", "1")
    assert done.code == 0
    assert "CORRECT" not in done.out
    assert "1 of 1" in done.out


def test_the_methods_to_choose_from_are_those_that_there_are() -> None:
    """One that is added can be named."""
    choices = get_args(get_type_hints(qa)["method"])
    assert choices == get_args(Literal["crag", "rag", "none"])
    assert set(choices) == set(METHODS)


def test_a_question_that_fails_counts_as_wrong(bench: Callable[..., Any], here: Path) -> None:
    """It stays in the denominator, and the report says how many there were."""
    rows = [*QUESTIONS, {"id": "3", "question": " ", "answers": ["x"]}]
    (here / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = bench()
    assert done.code == 0
    assert "1 of 3" in done.out
    assert "failed, and counted as wrong: 1" in done.out
