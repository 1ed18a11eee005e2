"""`surefoot lab drift`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from surefoot.run.store import Run
from surefoot.types import Action, Decision, Grade, Passage, Trace

TRACE = Trace("1", "Who?", passages=(Passage("a", "x"),), decision=Decision(Action.CORRECT, "threshold", 1, 0, "best"))


def selected(folder: Path, shift: float, month: int) -> None:
    run = Run(folder, {"what": "qa"})
    for n in range(60):
        grades = (Grade("a", n / 60 + shift),)
        run.append(f"{month}-{n}", replace(TRACE, grades=grades, created=f"2026-{month:02}-01T12:00:00+00:00"))


def test_scores_that_stayed_are_code_0_and_those_that_moved_code_1(surefoot: Callable[..., Any], here: Path) -> None:
    """With the figures, and what to do."""
    for name, shift, month in (("old", 0.0, 1), ("same", 0.005, 6), ("moved", 0.5, 6)):
        selected(here / name, shift, month)
    same = surefoot("lab", "drift", "old", "same")
    assert (same.code, "have not moved" in same.out) == (0, True)
    moved = surefoot("lab", "drift", "moved", "--before", "old")
    assert (moved.code, "surefoot lab tune" in moved.out, "2026-01-01" in moved.out) == (1, True, True)
    figures = json.loads(surefoot("lab", "drift", "moved", "--before", "old", "--json").out)
    assert (figures["moved"], figures["recent"]["questions"]) == (True, 60)
    assert figures["index"] > 0.25


def test_too_few_questions_are_a_mistake_that_can_be_mended(surefoot: Callable[..., Any], here: Path) -> None:
    """Code 2, and the ways out."""
    selected(here / "old", 0.0, 1)
    done = surefoot("lab", "drift", "old")
    assert (done.code, "60 recent and 0 earlier questions are too few" in done.err) == (2, True)
