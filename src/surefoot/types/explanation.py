"""The values of an explanation: what is credited, and how much."""

from dataclasses import dataclass
from typing import Literal

from surefoot.types.trace import Passage


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that an explanation credits: words of a question, a title or a text, or a passage of a trace."""

    side: Literal["question", "title", "text", "passage"]
    start: int
    """Offset in characters in the question, the title or the text; of a passage, 0."""
    end: int
    words: str
    """The words there; of a passage, its id."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Shapley values: how much each unit adds to a number, and how far these shares can be trusted."""

    of: str
    """The explained number in words, and whose it is."""
    question: str
    passage: Passage | None
    """None: the units are passages."""
    units: tuple[Unit, ...]
    values: tuple[float, ...]
    """One for each unit, on the scale of the number itself."""
    errors: tuple[float, ...]
    """The standard error of each value; 0: every coalition was counted."""
    base: float
    """The number without any of the units."""
    full: float
    """The number as it is."""
    gap: float
    """`full - base - sum(values)`: 0 but for rounding, or something is wrong."""
    method: Literal["exact", "regression"]
    baseline: Literal["", "delete", "filler", "pad"]
    """The stand-in for removed words; empty: the units are passages."""
    evaluations: int
    """Distinct coalitions evaluated."""
    seed: int
    tolerance: float
    """The largest standard error allowed, as a share of the largest value."""
    reached: bool
    """True: the tolerance was met. False: the allowed evaluations ran out first."""
    ties: tuple[tuple[int, ...], ...] = ()
    """Groups of units with equal values, by number: their order means nothing."""
    notes: tuple[str, ...] = ()
    """Caveats for the reader, such as the score assumed for a text without words."""
