"""The study's pictures: effects with their intervals, and what is lost as words are taken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.stats.figures import Figure
from surefoot.stats.text import interval, number
from surefoot_lab.svg import Point, Scale, cut, line, mark, path, sheet, style, text

WIDTH = 880
LEFT, RIGHT = 270, 850
"""Between which effects are drawn."""
TOP, ROW = 104, 44
LONGEST = 34
"""Letters of a row's name that fit."""
_PANEL, _HIGH = 350, 190

# Blue, orange and purple of Okabe and Ito, whom colour-blind readers tell apart; the marks differ in shape as well.
_STYLE = style(
    14,
    """
  .zero { stroke: #59636e }
  .s0 { fill: #0072b2; stroke: #0072b2 } .s1 { fill: #b36b00; stroke: #b36b00 } .s2 { fill: #a5527f; stroke: #a5527f }
  .s3 { fill: #59636e; stroke: #59636e } .path { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  .whisker { stroke-width: 1.8 } .band { stroke: none; fill-opacity: .13 }""",
    """
    .zero { stroke: #9198a1 } .s0 { fill: #4ba3d9; stroke: #4ba3d9 } .s1 { fill: #e69f00; stroke: #e69f00 }
    .s2 { fill: #d98fb8; stroke: #d98fb8 } .s3 { fill: #9198a1; stroke: #9198a1 } .path { fill: none }
    .band { stroke: none }""",
)
CORNERS: tuple[tuple[Point, ...], ...] = (
    (),
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5), (5, 4), (-5, 4)),
    ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
)
"""A disc, a square, a triangle and a diamond."""

Line = tuple[str, Sequence[Figure]]
"""A name, and a figure for each share."""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A name with a figure for each series; None where there is none."""

    name: str
    figures: tuple[Figure | None, ...]


def forest(title: str, subtitle: str, series: Sequence[str], rows: Sequence[ForestRow]) -> str:
    """Effects as marks with whiskers, a row each, about a line at 0: an SVG file's text."""
    x = _scale([one for row in rows for one in row.figures if one], LEFT, RIGHT)
    height = TOP + ROW * len(rows) + 40
    body = [*_legend(series if len(series) > 1 else ())]
    for tick in _ticks(x):
        body += [line(x(tick), TOP, x(tick), height - 40, "grid" if tick else "zero")]
        body += [text(x(tick), height - 20, number(tick, ".3g"), "dim small", "middle")]
    for place, row in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        body += [text(LEFT - 14, y + 5, cut(row.name, LONGEST), "", "end")]
        for shape, one in enumerate(row.figures):
            body += _effect(one, shape, y + (shape - (len(series) - 1) / 2) * 11, x)
    return sheet(WIDTH, height, _STYLE, title, subtitle, f"{subtitle}. {' '.join(_told(series, rows))}", body)


def curves(title: str, subtitle: str, shares: Sequence[float], panels: Sequence[tuple[str, Sequence[Line]]]) -> str:
    """Panels side by side, each with a curve and its band for each order over the shares: an SVG file's text."""
    bottom = TOP + 20 + _HIGH
    y = _scale([one for _, lines in panels for _, each in lines for one in each], bottom, bottom - _HIGH)
    body = [*_legend([name for name, _ in panels[0][1]] if panels else [])]
    for place, (name, lines) in enumerate(panels):
        body += _panel(76 + place * (_PANEL + 70), name, shares, lines, y)
    told = [f"{name}, {order}: {', '.join(map(_said, each))}." for name, lines in panels for order, each in lines]
    return sheet(WIDTH, TOP + _HIGH + 76, _STYLE, title, subtitle, f"{subtitle}. {' '.join(told)}", body)


def _legend(series: Sequence[str]) -> Iterator[str]:
    x = 30.0
    for shape, name in enumerate(series):
        yield _mark(x, 77, shape)
        yield text(x + 14, 82, name, "small")
        x += 44 + 7 * len(name)


def _effect(one: Figure | None, shape: int, y: float, x: Scale) -> Iterator[str]:
    if one and one.value is not None:
        if one.low is not None and one.high is not None:
            yield line(x(one.low), y, x(one.high), y, f"whisker s{shape}")
        yield _mark(x(one.value), y, shape)


def _panel(left: float, name: str, shares: Sequence[float], lines: Sequence[Line], y: Scale) -> Iterator[str]:
    x = Scale(0, len(shares) - 1, left, left + _PANEL)
    yield text(left, TOP + 4, name, "small")
    for tick in _ticks(y):
        yield line(left, y(tick), left + _PANEL, y(tick), "grid" if tick else "zero")
        yield text(left - 8, y(tick) + 4, number(tick, ".3g"), "dim small", "end")
    for place, share in enumerate(shares):
        yield text(x(place), y.start + 20, f"{share * 100:g} %", "dim small", "middle")
    yield text(left + _PANEL / 2, y.start + 42, "of the words", "dim small", "middle")
    for shape, (_, each) in enumerate(lines):
        points = [(x(n), y(one.value)) for n, one in enumerate(each) if one.value is not None]
        lows, highs = (
            [(x(n), y(end)) for n, one in enumerate(each) if (end := getattr(one, side)) is not None]
            for side in ("low", "high")
        )
        yield path("polygon", f"band s{shape}", [*highs, *reversed(lows)])
        yield path("polyline", f"path s{shape}", points)
        yield from (_mark(*point, shape) for point in points)


def _mark(x: float, y: float, shape: int) -> str:
    return mark(x, y, f"s{shape}", CORNERS[min(shape, 3)])


def _told(series: Sequence[str], rows: Sequence[ForestRow]) -> Iterator[str]:
    for row in rows:
        each = [f"{name} {_said(one)}" for name, one in zip(series, row.figures, strict=True) if one]
        yield f"{row.name}: {', '.join(each)}."


def _said(one: Figure) -> str:
    if one.value is None:
        return "none"
    within = interval(one.low, one.high, ".3g", "")
    return f"{number(one.value, '+.2f')} ({within})" if within else number(one.value, "+.2f")


def _scale(figures: Iterable[Figure], start: float, end: float) -> Scale:
    """Holds 0, all values and their intervals, with a little room."""
    ends = [0.0, *(end for one in figures for end in (one.low, one.high, one.value) if end is not None)]
    low, high = min(ends), max(ends)
    room = (high - low) * 0.06 or 1.0
    return Scale(low - room if low else -room / 2, high + room if high else room / 2, start, end)


def _ticks(scale: Scale) -> list[float]:
    """Round numbers within, 0 among them."""
    units = (size * 10.0**power for power in range(-4, 9) for size in (1, 2, 5))
    unit = next(unit for unit in units if (scale.high - scale.low) / unit <= 8)
    return [times * unit + 0.0 for times in range(int(scale.low / unit), int(scale.high / unit) + 1)]
