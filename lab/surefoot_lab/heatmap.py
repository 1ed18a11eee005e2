"""Accuracy by type of question, and by type and action, as one SVG picture.

Nothing is told by colour alone: each bar has the name of its action, each cell its share and its n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from surefoot.stats.figures import Share
from surefoot.stats.text import percent
from surefoot_lab.error_analysis import UNDECIDED, ActionRow, Cell, ErrorReport, TypeRow
from surefoot_lab.svg import Scale, box, cut, line, sheet, style, text, whisker

LEFT, RIGHT = 150, 390
"""The start of the bars, and the end of one of 100 %."""
TOP, ROW = 112, 38
CELLS, CELL = 576, 92
"""The start of the cells, and the width of one."""
LONGEST = 19
"""Letters of a type's name that fit."""

# Blue, orange, purple and grey of Okabe and Ito, whom colour-blind readers tell apart; by the actions' order.
_STYLE = style(
    14,
    """
  .whisker { stroke: #24292f; stroke-width: 1.4 } .all { stroke: #24292f; stroke-dasharray: 5 4 }
  .correct { fill: #0072b2 } .ambiguous { fill: #e69f00 } .incorrect { fill: #cc79a7 } .undecided { fill: #8c959f }
  .cell { fill: #0072b2; stroke: #d8dee4 }""",
    """
    .whisker, .all { stroke: #e6edf3 } .correct { fill: #4ba3d9 } .cell { fill: #4ba3d9; stroke: #30363d }""",
)
_X = Scale(0, 1, LEFT, RIGHT)


def by_type_and_action(report: ErrorReport) -> str:
    """Accuracy, commonest action and accuracy by action of each type of question, and in the last row of all questions:
    an SVG file's text."""
    height, width = TOP + ROW * (len(report.types) + 1) + 34, CELLS + CELL * len(report.actions) + 24
    label = f"Accuracy of {report.method or 'a run'} by type of question and action"
    asked = f"{report.right.of:,} questions of {PurePath(report.data).name or 'a run'}, right by the rule {report.rule}"
    body = [*_headings(report, height)]
    for number, row in enumerate(report.types):
        cells = [cell for cell in report.cells if cell.type == row.type]
        body += [*_bar(row, TOP + ROW * number), *_cells(cells, TOP + ROW * number)]
    told = f"{asked}. {' '.join(_told(report))}"
    return sheet(
        width, height, _STYLE, label, f"{asked}; whiskers: 95 % intervals (Wilson)", told, [*body, *_all(report)]
    )


def _headings(report: ErrorReport, height: float) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield line(_X(share), TOP - 8, _X(share), height - 30, "grid")
        yield text(_X(share), TOP - 14, percent(share, 0), "dim small", "middle")
    yield text(RIGHT + 28, TOP - 14, "n, commonest action", "dim small")
    for number, row in enumerate(report.actions):
        yield text(CELLS + CELL * (number + 0.5), TOP - 14, _name(row.action), "small", "middle")
    if report.right.share is not None:
        yield line(_X(report.right.share), TOP - 8, _X(report.right.share), height - 30, "all")


def _bar(row: TypeRow, y: float) -> Iterator[str]:
    yield text(LEFT - 10, y + 21, cut(row.type, LONGEST), "", "end")
    yield from _shared(row.right, y, _class(row.dominant))
    part = f"{percent(row.dominance.share, 0)} {_name(row.dominant)}"
    yield text(RIGHT + 28, y + 21, f"{row.questions.count:,} · {part}", "small")


def _shared(share: Share, y: float, kind: str) -> Iterator[str]:
    """A bar with its interval."""
    if share.share is not None and share.low is not None and share.high is not None:
        yield box(LEFT, y + 8, _X(share.share) - LEFT, ROW - 20, kind, 0.75)
        yield from whisker(_X(share.low), _X(share.high), y + ROW / 2 - 2, "whisker")


def _cells(cells: Sequence[Cell | ActionRow], y: float) -> Iterator[str]:
    for number, cell in enumerate(cells):
        x = CELLS + CELL * number
        # Light enough for the words on it to be read, on white paper or black.
        yield box(x, y, CELL - 4, ROW - 4, "cell", 0.04 + 0.46 * (cell.right.share or 0.0))
        words = f"{percent(cell.right.share, 0)} of {cell.right.of:,}" if cell.right.of else "none"
        yield text(x + CELL / 2 - 2, y + 22, words, "small" if cell.right.of else "small dim", "middle")


def _all(report: ErrorReport) -> Iterator[str]:
    y = TOP + ROW * len(report.types) + 6
    yield line(24, y - 4, CELLS + CELL * len(report.actions) - 4, y - 4, "axis")
    yield text(LEFT - 10, y + 21, "all", "", "end")
    yield from _shared(report.right, y, "undecided")
    yield text(RIGHT + 28, y + 21, f"{report.right.of:,} · {percent(report.right.share, 0)} right", "small")
    yield from _cells(report.actions, y)


def _told(report: ErrorReport) -> Iterator[str]:
    """The figures, a sentence a type."""
    for row in report.types:
        right = f"{percent(row.right.share, 0)} of {row.questions.count:,} right"
        yield f"{row.type}: {right}, mostly {_name(row.dominant)}."
    for action in report.actions:
        yield f"{_name(action.action)}: {percent(action.right.share, 0)} of {action.questions.count:,} right."


def _name(action: str) -> str:
    return action if action == UNDECIDED else action.upper()


def _class(action: str) -> str:
    return "undecided" if action == UNDECIDED else action
