"""`surefoot lab errors`, and official data in `surefoot lab qa`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROWS = [
    {"id": 1, "question": "Who built the Ruvel Bridge?", "possible_answers": '["tomas aldwin"]', "prop": "author"},
    {"id": 2, "question": "Who built the Hohrin Hut?", "possible_answers": '["the miners"]', "prop": "author"},
    {"id": 3, "question": "In what city does the Ruvel Bridge stand?", "possible_answers": "?"},
]


@pytest.fixture
def run(indexed: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`surefoot`, after a run over three questions of PopQA's form, of which the last has no gold answer."""
    monkeypatch.setenv("COLUMNS", "100")
    (here / "pop.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    done = indexed("lab", "qa", "pop.jsonl", "--run", "run", "--json", "qa.json")
    assert (done.code, "data: 1 × no gold answer; whatever is said counts as wrong (3)" in done.err) == (0, True)
    return indexed


def test_official_data_are_counted_with_what_is_amiss(run: Callable[..., Any], here: Path) -> None:
    """A question without gold stays in the denominator, and the report says why it is wrong."""
    report = json.loads((here / "qa.json").read_text())
    assert (report["format"], report["match_lower"]["of"]) == ("PopQA of Self-RAG", 3)
    assert report["problems"][0]["where"] == ["3"]


def test_errors_are_shown_by_action_and_type(run: Callable[..., Any], here: Path) -> None:
    """As tables, as JSON and as a picture; nothing is asked again."""
    traces = (here / "run" / "crag" / "traces.jsonl").read_bytes()
    done = run("lab", "errors", "run", "--json", "errors.json", "--figure", "errors.svg")
    assert done.code == 0
    assert "run/crag: 3 questions of pop.jsonl, crag, right by match_lower" in done.out
    assert any(line.split()[:3] == ["author", "2", "50.0"] for line in done.out.splitlines())
    assert "types: 2 named by the data, 1 by a word of the question" in done.out
    assert "no gold answer" in done.err
    (report,) = json.loads((here / "errors.json").read_text())
    assert [(row["type"], row["right"]["count"]) for row in report["types"]] == [("author", 1), ("city", 0)]
    assert ElementTree.fromstring((here / "errors.svg").read_text()).tag.endswith("svg")
    assert (here / "run" / "crag" / "traces.jsonl").read_bytes() == traces


def test_golds_travel_with_the_run(indexed: Callable[..., Any], here: Path) -> None:
    """A folder of CRAG has none; the run says where they came from."""
    (here / "popqa" / "ref").mkdir(parents=True)
    (here / "popqa" / "sources").write_text("Who built the Ruvel Bridge?\n")
    (here / "golds.jsonl").write_text(json.dumps(ROWS[0]))
    assert indexed("lab", "qa", "popqa", "--golds", "golds.jsonl", "--run", "run").code == 0
    done = indexed("lab", "errors", "run")
    assert (done.code, "1 questions of popqa" in done.out, "100.0 %" in done.out) == (0, True, True)


def test_all_methods_of_a_run_are_read(run: Callable[..., Any], here: Path) -> None:
    """Each by itself; a picture is of one, and says which there are."""
    assert run("lab", "qa", "pop.jsonl", "--run", "run", "--method", "rag:1").code == 0
    done = run("lab", "errors", "run", "--json", "errors.json")
    assert [row["method"] for row in json.loads((here / "errors.json").read_text())] == ["crag", "rag:1"]
    assert done.code == 0
    assert "run/crag, run/rag-1" in run("lab", "errors", "run", "--figure", "f.svg").err
