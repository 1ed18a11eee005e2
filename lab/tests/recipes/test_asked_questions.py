"""Labelled pairs of questions that people ask of manuals."""

import json
from pathlib import Path

from asked_questions import labelled
from surefoot.types import Passage, Trace
from surefoot_lab.datasets import pairs
from surefoot_lab.datasets.manuals import ManualQuestion


def test_what_was_retrieved_is_labelled_by_the_evidence(tmp_path: Path) -> None:
    """Relevant is the passage that holds its words, however they are set; the rows read as any labelled pairs do."""
    queries = (
        "kettle-1",
        "kettle-doc 1",
        "a.html",
        "How hot?",
        "number",
        "en",
        True,
        ("95",),
        (),
        ("95 degrees",),
        "95.",
    )
    found = (Passage("a", "It is heated to\n95 degrees.", "Heat"), Passage("b", "It is blue."))
    row = labelled(ManualQuestion(*queries), Trace("t", "How hot?", passages=found))
    (tmp_path / "asked.jsonl").write_text(json.dumps(row), encoding="utf-8")
    read = pairs.read(tmp_path / "asked.jsonl").pairs
    assert [(one.question_id, one.passage.title, one.label) for one in read] == [
        ("kettle-1", "Heat", 1),
        ("kettle-1", "", 0),
    ]
