"""`surefoot lab words`: pictures of a few grades of each action, with their values beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.run.store import from_json
from surefoot.types import Attribution


def test_a_run_is_explained_by_its_own_evaluator(surefoot: Callable[..., Any], indexed: Any, here: Path) -> None:
    """Whatever is configured now; a folder that holds no run is refused."""
    rows = [{"id": "1", "question": "Who built the Ruvel Bridge?", "answers": ["Aldwin"]}]
    (here / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert surefoot("lab", "qa", "asked.jsonl", "--run", "run").code == 0
    (here / "surefoot.toml").write_text('evaluator = "minilm"')
    assert surefoot("lab", "words", "run", "--to", "drawn", "--most", "60").code == 0
    results = json.loads((here / "drawn" / "words.json").read_text())
    (sample,) = results["samples"]
    assert from_json(Attribution, sample["grade"]).seed == results["seed"] == 0
    assert ">Bridge<" in (here / "drawn" / "bars.svg").read_text().replace("Bridge?", "Bridge")
    assert (here / "drawn" / "heatmap.svg").is_file()
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
