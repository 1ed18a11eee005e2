"""An explanation as a whole, and what a terminal, a page and a picture say of it in the same words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from surefoot.explain.action import Why
from surefoot.explain.answer import Needs
from surefoot.explain.flip import Flip
from surefoot.stats import text
from surefoot.store import to_json
from surefoot.types import Attribution, Trace

DEGREES = (0.15, 0.4, 0.7)
"""Shares of the largest value from which a word has one, two and three signs."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """What was asked for and found; None: it was not asked for."""

    action: Why | None = None
    trace: Trace | None = None
    """The one whose action it is."""
    grade: Attribution | None = None
    flip: Flip | None = None
    flipped: bool = False
    """It was looked for words that flip the label; where there are none, `flip` is None."""
    answer: Needs | None = None

    def as_json(self) -> dict[str, Any]:
        """All of it but the trace, which is on disk; what was not asked for is left out."""
        parts = {"action": self.action, "grade": self.grade, "flip": self.flip, "answer": self.answer}
        asked = {name for name, part in parts.items() if part is not None} | ({"flip"} if self.flipped else set())
        return {name: to_json(part) for name, part in parts.items() if name in asked}


def degree(value: float, most: float) -> int:
    """How strong a value is beside the largest one, from 0 to 3."""
    return sum(abs(value) >= least * most for least in DEGREES) if most else 0


def signs(value: float, most: float) -> str:
    """As many signs as the value is strong, so that it reads without colour."""
    return ("+" if value > 0 else "−") * degree(value, most)


def number(value: float) -> str:
    """With its sign, to three digits; what is nothing but rounding is 0."""
    return text.number(known, "+.3g") if (known := round(value, 9)) else "0"


def strongest(found: Attribution, count: int) -> list[int]:
    """The numbers of so many units of the largest values, the largest first."""
    return sorted(range(len(found.units)), key=lambda n: -abs(found.values[n]))[:count]


def trust(found: Attribution) -> Iterator[str]:
    """How far the values can be trusted, a sentence each."""
    yield (
        f"from {found.base:.3g} without words to {found.full:.3g}; {found.method}, baseline {found.baseline}, "
        f"{found.evaluations:,} texts graded, seed {found.seed}, gap {found.gap:.1g}"
    )
    if not found.reached:
        yield f"! not known to the tolerance of {found.tolerance:.0%} that was asked for; allow more with --most"
    tied = sum(map(len, found.ties))
    if tied:
        yield f"{tied} words share their value with others; their order says nothing"
    yield from found.notes


def flips_label(found: Flip | None) -> str:
    """The words whose loss flips the label, or that there are none."""
    if found is None:
        return "No few words of the passage flip its label."
    lost = ", ".join(f"“{unit.words}”" for unit in found.units)
    return f"Without {lost} it would be {found.after.value}, not {found.before.value} ({found.score:.3g})."


def margins(found: Why) -> Iterator[str]:
    """How far the best score is from each threshold; nothing where nothing was graded."""
    if found.above_upper is not None and found.above_lower is not None:
        yield f"best score less τ+: {number(found.above_upper)}; less τ−: {number(found.above_lower)}"


def flips_action(found: Why) -> list[str]:
    """What would have made the action another, or that nothing would."""
    drops = [f"Without {', '.join(drop.passage_ids)} it would be {drop.action.value}." for drop in found.drops]
    names = {"upper": "τ+", "lower": "τ−"}
    moves = [
        f"With {names[move.threshold]} at {move.to:.4g} ({number(move.by)}) it would be {move.action.value}."
        for move in found.moves
    ]
    return [*drops, *moves] or ["Nothing that was tried flips it: no passage dropped, and no threshold moved alone."]
