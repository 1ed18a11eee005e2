"""`surefoot lab manuals` over two tiny manuals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = [
    ("kettle-doc", "How hot does the kettle boil by default?", ["95"], "kettle boils at 95 degrees"),
    ("kettle-doc", "Where is the lid of the kettle?", ["behind"], "lid sits behind"),
    ("toaster-doc", "How many slots has the toaster?", ["four"], "toaster has four slots"),
    ("toaster-doc", "Does the toaster speak Latin?", [], ""),
]


@pytest.fixture
def bench(surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command, over four questions and a folder with two manuals, and with a configuration that needs no model."""
    rows = [
        {
            "id": str(number),
            "corpus": f"{manual} 1.0-2",
            "file": "page.html" if evidence else None,
            "question": question,
            "class": "number" if evidence else "unanswerable",
            "lang": "en",
            "answerable": bool(evidence),
            "answers": answers,
            "all_of": [],
            "evidence": [evidence] if evidence else [],
            "gold": "",
        }
        for number, (manual, question, answers, evidence) in enumerate(CASES)
    ]
    monkeypatch.setenv("COLUMNS", "120")
    (here / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for manual, text in (
        ("kettle-doc", "The kettle boils at 95 degrees by default.</p><h1>Parts</h1><p>The lid sits behind the spout."),
        ("toaster-doc", "The toaster has four slots and no voice."),
    ):
        folder = here / "manuals" / manual
        folder.mkdir(parents=True)
        (folder / "page.html").write_text(f"<html><body><h1>Manual</h1><p>{text}</p></body></html>")
    return lambda *words: surefoot("lab", "manuals", "q.jsonl", "manuals", "--out", "run", *words)


def selected(here: Path, method: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (here / "run" / method / "traces.jsonl").read_text().splitlines()]


def test_each_manual_is_asked_its_own_questions(bench: Callable[..., Any], here: Path) -> None:
    """Both methods search the index of the question's manual, and every question is counted."""
    done = bench()
    assert done.code == 0, done.err
    assert "right, hedged or not" in done.out
    for method in ("surefoot", "bm25"):
        rows = {row["key"]: row["trace"] for row in selected(here, method)}
        assert sorted(rows) == ["0", "1", "2", "3"]
        assert all("kettle" in found["text"] or "lid" in found["text"] for found in rows["0"]["passages"])
        assert all("toaster" in found["text"] for found in rows["2"]["passages"])


def test_both_reports_are_written(bench: Callable[..., Any], here: Path) -> None:
    """The JSON has what was run and every outcome; the Markdown has the tables."""
    assert bench().code == 0
    report = json.loads((here / "run" / "report.json").read_text())
    assert report["passages"].keys() == {"kettle-doc", "toaster-doc"}
    assert report["config"]["llm"]["use"] == "scripted"
    plain = report["reports"][1]
    assert (plain["method"], [one["id"] for one in plain["outcomes"]]) == ("bm25", ["0", "1", "2", "3"])
    assert report["tables"]["questions"][0]["bm25"]["count"] == 3
    assert "## by manual" in (here / "run" / "report.md").read_text()


def test_a_run_that_was_cut_off_goes_on(bench: Callable[..., Any], here: Path) -> None:
    """Kept traces are not asked again, and nothing is kept twice."""
    assert bench().code == 0
    path = here / "run" / "surefoot" / "traces.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2]))
    assert bench().code == 0
    again = path.read_text().splitlines(keepends=True)
    assert again[:2] == lines[:2]
    assert len(again) == 4
    assert again[2] != lines[2]


def test_a_manual_that_is_not_there_is_named(bench: Callable[..., Any], here: Path) -> None:
    """Before anything is indexed."""
    (here / "manuals" / "toaster-doc").rename(here / "manuals" / "toaster")
    done = bench()
    assert done.code == 2
    assert "toaster-doc" in done.err
    assert "fetch.sh" in done.err
    assert not (here / "run" / "indexes").exists()
