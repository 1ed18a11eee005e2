"""`surefoot testset`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STAFF = """\
| Name | Role | Manager |
| --- | --- | --- |
| Ada Berg | Engineer | Eva Roth |
| Tom Lind | Captain | Eva Roth |
| Eva Roth | Owner | Max Moor |
"""


@pytest.fixture
def office(here: Path) -> Path:
    """A folder with one table, and a configuration that quotes."""
    (here / "office").mkdir()
    (here / "office" / "staff.md").write_text(f"# Staff\n\n{STAFF}")
    (here / "surefoot.toml").write_text('embedder = "hashing"\nretriever = "bm25"\n')
    return here


def test_documents_become_labelled_questions(office: Path, surefoot: Callable[..., Any]) -> None:
    """That `load` reads, with what was dropped and what the documents do not yield."""
    done = surefoot("testset", "office", "--out", "qa.jsonl", "--questions", "10")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in (office / "qa.jsonl").read_text().splitlines()]
    assert {row["prop"] for row in rows} <= {"single", "multi-hop", "unanswerable", "false premise"}
    assert f"{len(rows)} questions in qa.jsonl" in done.out
    assert "dropped: " in done.err
    again = surefoot("testset", "--out", "qa.jsonl", "--questions", "10")
    assert [json.loads(line) for line in (office / "qa.jsonl").read_text().splitlines()] == rows, again.err


def test_too_few_are_said(office: Path, surefoot: Callable[..., Any]) -> None:
    done = surefoot("testset", "office", "--out", "qa.jsonl", "--questions", "500", "--kind", "unanswerable")
    assert "unanswerable of 500: the documents yield no more" in done.out


def test_an_unknown_kind_is_refused(office: Path, surefoot: Callable[..., Any]) -> None:
    done = surefoot("testset", "office", "--kind", "hard")
    assert done.code == 2
    assert "there are: single, multi-hop, unanswerable, false premise" in done.err


def test_prose_alone_yields_nothing_without_a_model_and_says_so(surefoot: Callable[..., Any], here: Path) -> None:
    """With what would make questions of it."""
    (here / "prose").mkdir()
    (here / "prose" / "a.txt").write_text("The ferry leaves the island in the morning and comes back late.\n")
    done = surefoot(
        "testset",
        "prose",
        "--out",
        "none.jsonl",
        "--set",
        "generator.use=extractive",
        "--set",
        "llm.use=local",
        "--questions",
        "4",
    )
    assert (done.code, (here / "none.jsonl").read_text()) == (0, "")
    assert "--model NAME" in " ".join(done.out.split())
    assert "dropped" not in done.out + done.err
