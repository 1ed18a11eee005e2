"""The rows of a table whose cells may span several rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.documents.loaders import Block

LONGEST_REPEATED = 200
"""Characters of a cell that is said again in each row that it spans; a longer one is said once."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table."""

    text: str
    blocks: Sequence[Block]
    is_head: bool = False
    columns: int = 1
    rows: int = 1
    """How many of each it spans."""


def rows(table: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The text of each cell in its column; a cell that spans rows is said in each, so that a row makes sense alone.

    Gives at most a few times as many cells as there are, whatever they claim to span.
    """
    widest = max((len(row) for row in table), default=0)
    spare = 4 * sum(map(len, table)) + widest
    hanging: dict[int, tuple[int, str]] = {}  # by column: in how many rows more, and what
    found = []
    for row in table:
        line: list[str] = []
        following: dict[int, tuple[int, str]] = {}
        for cell in row:
            spare -= _hang(line, hanging, following)
            for extra in range(min(cell.columns, max(1, widest - len(line)))):
                words = cell.text if extra == 0 else ""
                if cell.rows > 1 and spare > 0:
                    following[len(line)] = (cell.rows - 1, words if len(words) <= LONGEST_REPEATED else "")
                line.append(words)
        spare -= _hang(line, hanging, following)
        hanging = following if spare > 0 else {}
        found.append(line)
    return found


def _hang(line: list[str], hanging: dict[int, tuple[int, str]], following: dict[int, tuple[int, str]]) -> int:
    """Put what hangs down from above at the end of a row; how many cells that makes."""
    count = 0
    while at := hanging.pop(len(line), None):
        left, words = at
        if left > 1:
            following[len(line)] = (left - 1, words)
        line.append(words)
        count += 1
    return count
