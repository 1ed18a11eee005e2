"""Problems in files of questions: named, counted, and with the first places where they were seen."""

from dataclasses import dataclass
from typing import Any

PLACES = 5
"""Places kept of each problem."""

Row = dict[str, Any]
"""A question in the shared format, as `surefoot.evaluate.ask.questions` describes it."""


@dataclass(frozen=True, slots=True)
class DataProblem:
    """A fault in the data, or a repair."""

    what: str
    count: int
    where: tuple[str, ...]
    """The first places, in the order of the file."""


class Problems:
    """Collects faults while files are read."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, tuple[str, ...]]] = {}

    def add(self, what: str, where: str, count: int = 1) -> None:
        """Count one more such problem, or `count`, at this place."""
        before, places = self._found.get(what, (0, ()))
        self._found[what] = (before + count, (*places, where)[:PLACES])

    def all(self) -> tuple[DataProblem, ...]:
        """In the order in which the kinds were first seen."""
        return tuple(DataProblem(what, count, where) for what, (count, where) in self._found.items())
