"""`surefoot lab tune`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

LAX = ("--evaluator", "lexical", "--target", "0.3", "--discard-target", "0.3", "--confidence", "0.8")


def row(number: int, relevant: bool) -> dict[str, Any]:
    """A question about a bridge, and a passage about it or about a hut."""
    there = f"Aldwin built the Bridge{number} bridge." if relevant else "A hut stands alone."
    passages = [{"id": f"p{number}", "text": there, "label": int(relevant)}]
    return {"id": str(number), "question": f"Who built the Bridge{number} bridge?", "passages": passages}


@pytest.fixture
def data(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eighty questions of which half have evidence, and words tell which."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = [json.dumps(row(number, number % 2 == 0)) for number in range(80)]
    (here / "bridges.jsonl").write_text("\n".join(lines))
    return Path("bridges.jsonl")


def test_thresholds_are_fitted_shown_and_written(surefoot: Any, data: Path, here: Path) -> None:
    """A table, a curve, a preset, a report and a picture."""
    files = ("--out", "tuned.toml", "--json", "report.json", "--figure", "curve.svg")
    done = surefoot("lab", "tune", data, *LAX, *files)
    assert done.code == 0
    report = json.loads((here / "report.json").read_text())
    preset = tomllib.loads((here / "tuned.toml").read_text())
    assert preset == report["thresholds"]
    assert preset["strip"] <= preset["lower"] <= preset["upper"] <= 1
    assert (preset["evaluator"], report["limit"], report["config"]["evaluator"]["use"]) == ("lexical", None, "lexical")
    assert f"CORRECT ≥ {preset['upper']:.4g}" in done.out
    assert "0 lack evidence" in done.out
    assert "to decide by them: --set thresholds.file=tuned.toml" in done.err
    assert ElementTree.fromstring((here / "curve.svg").read_text()).tag.endswith("svg")
    assert all(cell_len(line.rstrip()) <= 100 for line in done.out.splitlines())


def test_what_was_written_decides(surefoot: Any, indexed: Any, data: Path, here: Path) -> None:
    """And is refused for another evaluator."""
    assert surefoot("lab", "tune", data, *LAX, "--out", "tuned.toml").code == 0
    preset = tomllib.loads((here / "tuned.toml").read_text())
    words = ("ask", "Who built the Ruvel Bridge?", "--set", "thresholds.file=tuned.toml", "--json")
    done = indexed(*words, "--set", "evaluator.use=lexical")
    assert done.code == 0
    assert json.loads(done.out)["decision"]["upper"] == preset["upper"]
    other = indexed(*words, "--set", "evaluator.use=cosine", "--set", "embedder.use=static")
    assert other.code == 2


def test_thresholds_that_cannot_be_shown_are_not_written(surefoot: Any, data: Path, here: Path) -> None:
    """Code 1, with what is missing; the report is there all the same."""
    files = ("--out", "tuned.toml", "--json", "report.json", "--figure", "curve.svg")
    done = surefoot("lab", "tune", data, "--evaluator", "lexical", *files)
    assert done.code == 1
    assert "no τ+: there are " in done.out
    assert "CORRECT decisions, and it takes 59 without an error to show 5 %" in done.out
    assert not (here / "tuned.toml").exists()
    assert json.loads((here / "report.json").read_text())["thresholds"] is None
    assert "no τ+ keeps the target" in (here / "curve.svg").read_text()


def test_questions_that_all_have_evidence_can_be_thinned(surefoot: Any, here: Path, data: Path) -> None:
    """Without it none of them could show τ−; the preset says what was done to them."""
    rows = [row(n, True) for n in range(150)]
    for one in rows:
        one["passages"].append({"id": "hut", "text": "A hut stands alone.", "label": 0})
    (here / "answered.jsonl").write_text("\n".join(map(json.dumps, rows)))
    whole = surefoot("lab", "tune", "answered.jsonl", *LAX)
    assert whole.code == 1
    assert "no τ−: every question has a relevant passage, so that no INCORRECT decision can be right" in whole.out
    assert "was asked without" not in whole.out
    thin = surefoot("lab", "tune", "answered.jsonl", *LAX, "--thin", "--out", "tuned.toml", "--json", "report.json")
    assert thin.code == 0
    assert "One question in 4 was asked without its relevant passages.\n" in thin.out
    assert ", one in 4 without its relevant passages: " in (here / "tuned.toml").read_text()
    assert json.loads((here / "report.json").read_text())["files"][0]["thinned"]
