"""`surefoot lab words`: pictures of a few grades of each action, with their values beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.run.store import from_json
from surefoot.types import Attribution

TEXTS = {"right": "The bridge was built by Aldwin.", "wrong": "Add flour."}


@pytest.fixture
def labelled(here: Path) -> Path:
    """Pairs of which some come out CORRECT and some INCORRECT; none AMBIGUOUS."""
    rows = [
        {"id": f"{name}{n}", "question": "Who built bridges?", "passages": [{"id": name, "text": text, "label": 0}]}
        for n in range(2)
        for name, text in TEXTS.items()
    ]
    path = here / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_labelled_pairs_are_drawn(surefoot: Callable[..., Any], labelled: Path, here: Path) -> None:
    """Bars, heatmap and values, with the seed and the configuration; and what there was too little of."""
    done = surefoot("lab", "words", labelled, "--to", "drawn", "--each", "2", "--seed", "3", "--most", "60")
    assert done.code == 0
    assert "0 of 2 questions that came out ambiguous" in done.err
    results = json.loads((here / "drawn" / "words.json").read_text())
    assert (results["seed"], results["config"]["evaluator"]["use"]) == (3, "lexical")
    found = [from_json(Attribution, sample["grade"]) for sample in results["samples"]]
    assert {len(one.units) for one in found} == {9, 5}
    assert all(one.seed == 3 and one.passage for one in found)
    assert ">bridge<" in (here / "drawn" / "bars.svg").read_text()
    assert ">bridge<" in (here / "drawn" / "heatmap.svg").read_text()
    assert not (here / "drawn" / "bars.png").exists()


def test_a_run_is_explained_by_its_own_evaluator(surefoot: Callable[..., Any], indexed: Any, here: Path) -> None:
    """Whatever is configured now; a folder that holds no run is refused."""
    rows = [{"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Aldwin"]}]
    (here / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert surefoot("lab", "qa", "asked.jsonl", "--run", "run").code == 0
    (here / "surefoot.toml").write_text('evaluator = "minilm"')
    assert surefoot("lab", "words", "run", "--to", "drawn", "--most", "60").code == 0
    (sample,) = json.loads((here / "drawn" / "words.json").read_text())["samples"]
    assert (sample["id"], sample["action"], sample["grade"]["of"]) == ("1", "correct", "score of lexical")
    assert surefoot("lab", "words", "library", "--to", "drawn").code == 2


def test_of_several_runs_one_is_to_be_named(surefoot: Callable[..., Any], indexed: Any, here: Path) -> None:
    """They were made by several methods."""
    row = {"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Aldwin"]}
    (here / "asked.jsonl").write_text(json.dumps(row) + "\n")
    assert surefoot("lab", "qa", "asked.jsonl", "--run", "run", "--method", "rag", "--method", "crag").code == 0
    done = surefoot("lab", "words", "run", "--to", "drawn")
    assert (done.code, done.err) == (2, "surefoot: run holds several runs; name one: run/crag, run/rag-3\n")
    assert surefoot("lab", "words", "run/crag", "--to", "drawn", "--most", "60").code == 0
