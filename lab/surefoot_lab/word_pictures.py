"""The strongest words of several grades side by side, as pictures.

Colour never stands alone: bars go right or left, and each value has its sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.explain.explanation import number, strongest
from surefoot.types import Action, Attribution
from surefoot_lab.samples import ActionSample
from surefoot_lab.svg import box, cut, line, picture, sheet, style, text

WORDS = 8
"""Words of a grade that are drawn."""
ROW, MARGIN = 22, 24
PANEL, HEAD = 372, 58
"""Width of a panel, and height of its heading."""
CELL, CELL_HIGH, NAMED = 98, 44, 270
"""Of the heatmap: width and height of a cell, and where the cells begin."""

# Vermilion and blue of Okabe and Ito, whom colour-blind readers tell apart.
STYLE = style(
    13,
    """
  .name { font-weight: 600 } .whisker { stroke: #24292f; stroke-width: 1.2 }
  .up { fill: #d55e00 } .down { fill: #0072b2 } .edge { fill: none; stroke: #d8dee4 }""",
    """
    .whisker { stroke: #e6edf3 } .up { fill: #ff8c42 } .down { fill: #4ba3d9 } .edge { stroke: #30363d }""",
)

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


def bars(found: Attribution, shown: Sequence[int], x: float, y: float, width: float, letters: int) -> Iterator[str]:
    """A row a word: the word, its bar from the middle, and its value."""
    names, figures = x + 8.2 * letters, x + width
    middle, reach = (names + figures - 52) / 2 + 6, (figures - 52 - names) / 2 - 8
    most = max((abs(found.values[n]) + found.errors[n] for n in shown), default=0.0) or 1.0
    yield line(middle, y, middle, y + ROW * len(shown) + 4, "axis")
    for place, n in enumerate(shown):
        value, error, line_y = found.values[n], found.errors[n], y + ROW * (place + 0.5) + 2
        ends = [middle + reach * part / most for part in (value, value - error, value + error)]
        yield text(names, line_y + 4, cut_line(found.units[n].words, letters), "", "end")
        yield box(min(middle, ends[0]), line_y - 7, abs(ends[0] - middle), 14, "up" if value > 0 else "down")
        yield line(ends[1], line_y, ends[2], line_y, "whisker")
        yield text(figures, line_y + 4, number(value), "small", "end")


def headline(found: Attribution) -> str:
    """The score, and the passage's title if it has one."""
    named = f" of “{cut_line(found.passage.title, 30)}”" if found.passage and found.passage.title else ""
    return f"score {number(found.full)}{named}"


def listed(found: Attribution, shown: Sequence[int]) -> str:
    """These words with their values, as a sentence."""
    return ", ".join(f"{found.units[n].words} {number(found.values[n])}" for n in shown) + "."


def cut_line(words: str, letters: int) -> str:
    """The words on one line, cut to so many letters."""
    return cut(" ".join(words.split()), letters)
