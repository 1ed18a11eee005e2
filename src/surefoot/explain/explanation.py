"""A whole explanation, and the sentences that terminal and pictures share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from surefoot.explain.action import ActionExplanation
from surefoot.explain.answer import Needs
from surefoot.run.store import to_json
from surefoot.stats import text
from surefoot.types import Attribution, Trace

DEGREES = (0.15, 0.4, 0.7)
"""From these shares of the largest value on a word has one, two and three signs."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanations of one trace or grade; None: not made."""

    action: ActionExplanation | None = None
    trace: Trace | None = None
    """The one whose action it is."""
    grade: Attribution | None = None
    answer: Needs | None = None

    def as_json(self) -> dict[str, Any]:
        """Every part that was made, except the trace, which is on disk."""
        parts = {"action": self.action, "grade": self.grade, "answer": self.answer}
        return {name: to_json(part) for name, part in parts.items() if part is not None}


def degree(value: float, most: float) -> int:
    """Strength of a value beside the largest one, from 0 to 3."""
    return sum(abs(value) >= least * most for least in DEGREES) if most else 0


def signs(value: float, most: float) -> str:
    """As many signs as the value is strong, for readers without colour."""
    return ("+" if value > 0 else "−") * degree(value, most)


def number(value: float) -> str:
    """With its sign, to three digits; rounding errors are 0."""
    return text.number(known, "+.3g") if (known := round(value, 9)) else "0"


def strongest(found: Attribution, count: int) -> list[int]:
    """The numbers of the units with the largest values, the largest first."""
    return sorted(range(len(found.units)), key=lambda n: -abs(found.values[n]))[:count]


def trust(found: Attribution) -> Iterator[str]:
    """Limits of trust in the values, a sentence each."""
    yield (
        f"from {found.base:.3g} without words to {found.full:.3g}; {found.method}, baseline {found.baseline}, "
        f"{found.evaluations:,} texts graded, seed {found.seed}, gap {found.gap:.1g}"
    )
    if not found.reached:
        yield f"! not known to the tolerance of {found.tolerance:.0%} after {found.evaluations:,} texts"
    tied = sum(map(len, found.ties))
    if tied:
        yield f"{tied} words share their value with others; their order says nothing"
    yield from found.notes


def margins(found: ActionExplanation) -> Iterator[str]:
    """The best score's distance from each threshold; nothing where nothing was graded."""
    if (best := found.decision.best) is not None:
        upper, lower = (number(best - limit) for limit in (found.decision.upper, found.decision.lower))
        yield f"best score less upper: {upper}; less lower: {lower}"


def flips_action(found: ActionExplanation) -> list[str]:
    """Sentences on what would have made the action another."""
    drops = [f"Without {', '.join(drop.passage_ids)} it would be {drop.action.value}." for drop in found.drops]
    shifts = [
        f"With {shift.threshold} at {shift.to:.4g} ({number(shift.by)}) it would be {shift.action.value}."
        for shift in found.shifts
    ]
    return [*drops, *shifts] or ["Nothing that was tried flips it: no passage dropped, and no threshold moved alone."]


def printable(words: str, lines: bool = False) -> str:
    """The words with a sign for every character that cannot be printed; with `lines`, their ends stay."""
    return "".join(letter if letter.isprintable() or (lines and letter == "\n") else "\ufffd" for letter in words)
