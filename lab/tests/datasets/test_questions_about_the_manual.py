"""The questions about Surefoot's own manual, in examples/manual."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

HOME = Path(__file__).parents[3]
ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in (HOME / "examples/manual/questions.jsonl").read_text(encoding="utf-8").splitlines()
]
PAGES = " ".join(
    " ".join(page.read_text(encoding="utf-8").split())
    for page in (HOME / "README.md", *sorted((HOME / "docs").rglob("*.md")))
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_gold_answer_stands_in_the_pages_and_none_where_none_is_there(row: dict[str, Any]) -> None:
    """A page that changes a figure changes the gold answer with it; otherwise the right answer would count as wrong."""
    assert bool(row["answers"]) == (row["prop"] != "not there")
    assert not row["answers"] or any(answer in PAGES for answer in row["answers"])
