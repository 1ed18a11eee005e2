"""The strongest words of several grades side by side, as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.explain.explanation import number, strongest
from surefoot.explain.picture import MARGIN, ROW, STYLE, WORDS, bars, cut_line, headline, listed
from surefoot.explain.svg import box, line, picture, sheet, text
from surefoot.types import Action, Attribution
from surefoot_lab.samples import ActionSample

PANEL, HEAD = 372, 58
"""Width of a panel, and height of its heading."""
CELL, CELL_HIGH, NAMED = 98, 44, 270
"""Of the heatmap: width and height of a cell, and where the cells begin."""

Explained = Sequence[tuple[ActionSample, Attribution]]


def of_several(explained: Explained) -> str:
    """The strongest words of each sample as bars, a row an action: an SVG file's text."""
    rows = _by_action(explained)
    columns = max(len(row) for _, row in rows)
    high = HEAD + ROW * WORDS + 26
    width, height = 2 * MARGIN + PANEL * columns, 70 + (high + 30) * len(rows)
    label = f"The words that weigh most in {explained[0][1].of}, by action"
    body = [box(0, 0, width, height, "paper"), text(MARGIN, 32, label, "title")]
    for place, (action, row) in enumerate(rows):
        y = 70 + (high + 30) * place
        body += [text(MARGIN, y, action.value.upper(), "name"), line(MARGIN, y + 8, width - MARGIN, y + 8, "axis")]
        for column, found in enumerate(row):
            body += _panel(found, MARGIN + PANEL * column, y + 14)
    return picture(width, height, STYLE, label, _told(explained, WORDS), body)


def heatmap(explained: Explained) -> str:
    """The strongest words of each sample in reading order, shaded by their share of its largest value: an SVG file's
    text. Each row has its own words; those of a column have nothing in common."""
    count = max(min(len(found.units), WORDS) for _, found in explained)
    width, height = NAMED + CELL * count + MARGIN, 84 + (CELL_HIGH + 6) * len(explained) + 16
    label = f"Each sample's own strongest words in {explained[0][1].of}"
    about = "In reading order; the stronger the colour, the nearer to the sample's largest value. + raises, − lowers."
    body = [part for place, one in enumerate(explained) for part in _row(*one, 76 + (CELL_HIGH + 6) * place)]
    return sheet(width, height, STYLE, label, about, f"{about} {_told(explained, WORDS)}", body)


def _by_action(explained: Explained) -> list[tuple[Action, list[Attribution]]]:
    rows: dict[Action, list[Attribution]] = {}
    for sample, found in explained:
        rows.setdefault(sample.action, []).append(found)
    return list(rows.items())


def _panel(found: Attribution, x: float, y: float) -> Iterator[str]:
    yield text(x, y + 18, f"“{cut_line(found.question, 46)}”", "small")
    yield text(x, y + 36, cut_line(headline(found), 52), "dim small")
    yield from bars(found, strongest(found, WORDS), x, y + HEAD - 12, PANEL - 20, 14)


def _row(sample: ActionSample, found: Attribution, y: float) -> Iterator[str]:
    yield text(MARGIN, y + 18, f"{sample.action.value.upper()} {number(found.full)}", "name small")
    yield text(MARGIN, y + 35, f"“{cut_line(found.question, 36)}”", "dim small")
    most = max(map(abs, found.values)) or 1.0
    for column, n in enumerate(sorted(strongest(found, WORDS))):
        x, value = NAMED + CELL * column, found.values[n]
        # Light enough for the words on it to be read, on white paper or black.
        yield box(x, y, CELL - 4, CELL_HIGH, "up" if value > 0 else "down", 0.04 + 0.46 * abs(value) / most)
        yield box(x, y, CELL - 4, CELL_HIGH, "edge")
        yield text(x + CELL / 2 - 2, y + 18, cut_line(found.units[n].words, 13), "small", "middle")
        yield text(x + CELL / 2 - 2, y + 35, number(value), "small", "middle")


def _told(explained: Explained, count: int) -> str:
    return " ".join(
        f"{sample.action.value.upper()}, “{one.question}”, {headline(one)}: {listed(one, strongest(one, count))}"
        for sample, one in explained
    )
