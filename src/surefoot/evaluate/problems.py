"""Problems in files of questions: named, counted, and with the first places where they were seen."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.types.errors import UsageError

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


def lines(path: Path, problems: Problems) -> list[str]:
    """The lines of a text file, without their ends. Only a line feed, or the pair of Windows, ends a line.

    A line that is not UTF-8 is read as Windows-1252, and counted.
    """
    try:
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if 2 * data.count(b"\r\n") > data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    found = []
    for number, part in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], start=1):
        try:
            found.append(part.decode())
        except UnicodeDecodeError:
            problems.add("lines that are not UTF-8; read as Windows-1252", f"{path.name}, line {number}")
            found.append(part.decode("cp1252", errors="replace"))
    return found
