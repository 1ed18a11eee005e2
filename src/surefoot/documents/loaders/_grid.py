"""The rows of a table whose cells may span several rows and columns."""

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


def in_cell(text: str) -> str:
    """The text of a cell on one line, items of a list parted by semicolons, and rows of a table with their header's
    names."""
    lines = [line.strip() for line in text.split("\n")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if len(cells) > 2 and set(cells[1]) == {"---"}:
        return "; ".join(
            ", ".join(f"{name}: {cell}" for name, cell in zip(cells[0], row, strict=False) if cell) for row in cells[2:]
        )
    between = "; " if all(line.startswith("- ") for line in lines) else " "
    return between.join(line.removeprefix("- ") for line in lines)


def rows(table: Sequence[Sequence[Cell]], heads: int = 0) -> list[list[str]]:
    """The text of each cell in its column; a cell that spans rows is said in each, so that a row makes sense alone, and
    one of the first `heads` rows in each of its columns, if there are others.

    Gives at most a few times as many cells as there are, whatever they claim to span.
    """
    widest = max((len(row) for row in table), default=0)
    spare = 4 * sum(map(len, table)) + widest
    grid: list[dict[int, str]] = [{} for _ in table]  # by column
    for n, row in enumerate(table):
        at = 0
        for cell in row:
            while at in grid[n]:
                at += 1
            wide = min(cell.columns, max(1, widest - at))
            below = min(cell.rows, len(table) - n, 1 + spare // wide)
            spare -= wide * (below - 1)
            for down in range(below):
                words = cell.text if down == 0 or len(cell.text) <= LONGEST_REPEATED else ""
                grid[n + down] |= dict.fromkeys(range(at, at + wide), words if n < heads and wide < widest else "")
                grid[n + down][at] = words
    return [[line.get(column, "") for column in range(max(line, default=-1) + 1)] for line in grid]
