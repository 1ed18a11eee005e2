"""`surefoot lab evaluator --probe`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot.types import Grade, Passage, Thresholds
from surefoot_lab.probes import PROBES

ROWS = [
    {
        "id": name,
        "question": f"Who built the {name} Bridge?",
        "answers": ["Aldwin"],
        "passages": [
            {"id": "a", "title": f"{name} Bridge", "text": f"Aldwin built the {name} Bridge.", "label": 1},
            {"id": "b", "title": "Hut", "text": "The hut stands alone.", "label": 0},
        ],
    }
    for name in ("Ruvel", "Hohrin", "Larrow")
]


class Shy:
    """Gives logits far from one, and cannot grade what is asked politely."""

    name = "shy"
    thresholds = Thresholds(6.0, -6.0, 0.0, "shy")

    def grade(self, pairs: Sequence[tuple[str, Passage]]) -> tuple[Grade, ...]:
        return tuple(
            Grade(passage.id, None, reason="too \x1b[31mkind")
            if question.startswith("Please")
            else Grade(passage.id, 12.5 if "Aldwin" in passage.text and "?" in question else -12.5, 0.5)
            for question, passage in pairs
        )


SHY = f"{__name__}:Shy"


@pytest.fixture
def files(here: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Two files of labelled pairs; the second has one question."""
    monkeypatch.setenv("COLUMNS", "100")
    for name, rows in (("bridges", ROWS), ("one", ROWS[:1])):
        (here / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [Path("bridges.jsonl"), Path("one.jsonl")]


def rows(text: str, start: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip().startswith(start)]


def test_the_findings_of_each_file_are_shown(surefoot: Any, files: list[Path]) -> None:
    """Every probe with pairs, change, flips and what was expected; what was left out says why."""
    done = surefoot("lab", "evaluator", *files, "--probe", "--evaluator", "lexical")
    assert done.code == 0
    assert "bridges · lexical · 3 relevant and 3 irrelevant pairs" in done.out
    injected = "injected question low 3 +1.00 [+1.00, +1.00] – ↓0 ↑3 ↓0 ↑3 0 % of 3".split()
    assert rows(done.out, "injected question")[0] == injected
    both = "entity in both holds 3 .000 [.000, .000] – ↓0 ↑0 ↓0 ↑0 100 % of 3".split()
    assert rows(done.out, "entity in both")[0] == both
    assert rows(done.out, "entity in question")[1] == "entity in question falls 0 – – ↓0 ↑0 ↓0 ↑0 –".split()
    assert all(len(rows(done.out, probe.name)) >= 2 for probe in PROBES)
    assert "left out, the title holds an answer" not in done.out
    reason = "one: left out, the file names nothing else that the pair does not"
    assert f"{reason}: entity in question 1, entity in passage 1, entity in both 1" in done.out


def test_a_pair_is_not_both_probed_and_blanked(surefoot: Any, files: list[Path]) -> None:
    """Each is an experiment of its own."""
    done = surefoot("lab", "evaluator", files[0], "--probe", "--blank", "question")
    assert done.code != 0
    assert "--probe changes one thing about a pair and --blank hides one" in done.err
