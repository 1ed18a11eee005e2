"""The strongest words of a grade as a picture.

Nothing is told by colour alone: bars go right or left, and each value has its sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.explain.explanation import number, strongest
from surefoot.explain.svg import box, cut, line, sheet, style, text
from surefoot.types import Attribution

WORDS = 8
"""Half as many as are drawn of one grade."""
ROW, MARGIN = 22, 24
WIDE = 760

# Vermilion and blue of Okabe and Ito, whom colour-blind readers tell apart.
STYLE = style(
    13,
    """
  .name { font-weight: 600 } .whisker { stroke: #24292f; stroke-width: 1.2 }
  .up { fill: #d55e00 } .down { fill: #0072b2 } .edge { fill: none; stroke: #d8dee4 }""",
    """
    .whisker { stroke: #e6edf3 } .up { fill: #ff8c42 } .down { fill: #4ba3d9 } .edge { stroke: #30363d }""",
)


def of_one(found: Attribution) -> str:
    """The strongest words of a grade as bars with their standard errors: an SVG file's text."""
    label = f"What the {found.of} owes to its words"
    about = f"“{cut_line(found.question, 66)}” · {headline(found)}"
    shown = strongest(found, 2 * WORDS)
    height = 84 + ROW * len(shown) + 44
    sums = f"without words {found.base:.3g}; all words {number(sum(found.values))}; whiskers: one standard error"
    body = [*bars(found, shown, MARGIN, 76, WIDE - 2 * MARGIN, 24), text(MARGIN, height - 18, sums, "dim small")]
    return sheet(WIDE, height, STYLE, label, about, f"{about}. {listed(found, shown)}", body)


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
