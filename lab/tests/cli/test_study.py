"""`surefoot lab study`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROWS = [
    {
        "id": name,
        "question": f"Who built the {name} Bridge?",
        "answers": ["Aldwin"],
        "passages": [
            {
                "id": "a",
                "title": f"{name} Bridge",
                "text": f"Aldwin built the {name} Bridge of iron in spring, and it stands to this day.",
                "label": 1,
            },
            {
                "id": "b",
                "title": "Hut",
                "text": "The hut stands alone on a hill, and has a stove, a table and nine beds.",
                "label": None,
            },
        ],
    }
    for name in ("Ruvel", "Hohrin", "Larrow")
]
STUDY = "lab study pairs.jsonl --run run --per-action 2 --checked 1 --most 1 --hypotheses few.toml".split()


@pytest.fixture
def arguments(surefoot: Callable[..., Any], here: Path) -> Callable[..., Any]:
    """`surefoot` beside data and a file with one claim."""
    (here / "pairs.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    few = 'alpha = 0.05\nquestions = 2\nresamples = 99\nseed = 0\n[[claim]]\nid = "named"\nsays = "Names count."\n'
    (here / "few.toml").write_text(few + 'measure = "value: entity"\nsmallest = 0.01\nrefuted_by = "Nothing."\n')
    return surefoot


def test_a_study_is_reported_in_words_and_values(arguments: Callable[..., Any], here: Path) -> None:
    """A table of verdicts here, and the report in the folder with what was run; again, it is the same."""
    done = arguments(*STUDY)
    assert (done.code, "named" in done.out) == (0, True)
    assert "4 pairs of 3 questions" in done.out
    made = {name: (here / "run" / name).read_text() for name in ("report.md", "report.json")}
    assert "named: Names count." in made["report.md"]
    assert json.loads((here / "run" / "run.json").read_text())["config"]["evaluator"]["use"] == "lexical"
    assert arguments(*STUDY).out == done.out
    assert {name: (here / "run" / name).read_text() for name in made} == made


def test_claims_that_change_under_way_are_refused(arguments: Callable[..., Any], here: Path) -> None:
    """In one line, with the way out."""
    assert arguments(*STUDY).code == 0
    (here / "few.toml").write_text((here / "few.toml").read_text().replace("0.01", "0.5"))
    done = arguments(*STUDY)
    assert (done.code, done.out) == (2, "")
    assert "begun with other hypotheses" in done.err
    assert "give a new folder" in done.err
