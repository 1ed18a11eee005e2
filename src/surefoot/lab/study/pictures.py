"""The study's pictures: effects with their intervals, and what is lost as words are taken out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from surefoot.draw.svg import box, line, picture, text
from surefoot.stats.figures import Figure

WIDTH = 880
LEFT, RIGHT = 270, 850
"""Between which effects are drawn."""
TOP, ROW = 104, 44
LONGEST = 34
"""Letters of a row's name that fit."""
_PANEL, _HIGH = 350, 190

# Blue, orange and purple of Okabe and Ito, whom colour-blind readers tell apart; the marks differ in shape as well.
_STYLE = """
  svg { font: 14px system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif }
  .paper { fill: #ffffff } text { fill: #24292f } .dim { fill: #59636e } .small { font-size: 12px }
  .title { font-size: 16px; font-weight: 600 } .grid { stroke: #d8dee4 } .zero { stroke: #59636e }
  .s0 { fill: #0072b2; stroke: #0072b2 } .s1 { fill: #b36b00; stroke: #b36b00 } .s2 { fill: #a5527f; stroke: #a5527f }
  .s3 { fill: #59636e; stroke: #59636e } .path { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  .whisker { stroke-width: 1.8 } .band { stroke: none; fill-opacity: .13 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9198a1 } .grid { stroke: #30363d }
    .zero { stroke: #9198a1 } .s0 { fill: #4ba3d9; stroke: #4ba3d9 } .s1 { fill: #e69f00; stroke: #e69f00 }
    .s2 { fill: #d98fb8; stroke: #d98fb8 } .s3 { fill: #9198a1; stroke: #9198a1 } .path { fill: none }
    .band { stroke: none }
  }"""


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A name with a figure for each series; None where there is none."""

    name: str
    figures: tuple[Figure | None, ...]


def forest(title: str, subtitle: str, series: Sequence[str], rows: Sequence[ForestRow]) -> str:
    """Effects as marks with whiskers, a row each, about a line at 0: an SVG file's text."""
    ends = [
        end for row in rows for one in row.figures if one for end in (one.value, one.low, one.high) if end is not None
    ]
    low, high = _padded(min([0.0, *ends]), max([0.0, *ends]))
    height = TOP + ROW * len(rows) + 40
    body = [box(0, 0, WIDTH, height, "paper"), text(24, 32, title, "title"), text(24, 54, subtitle, "dim")]
    body += [*_legend(series if len(series) > 1 else ()), *_across(low, high, height)]
    for number, row in enumerate(rows):
        y = TOP + ROW * (number + 0.5)
        body.append(
            text(LEFT - 14, y + 5, row.name if len(row.name) <= LONGEST else row.name[: LONGEST - 1] + "…", "", "end")
        )
        for place, one in enumerate(row.figures):
            body += _mark(one, place, y + (place - (len(series) - 1) / 2) * 11, low, high)
    return picture(WIDTH, height, _STYLE, title, f"{subtitle}. {' '.join(_told(series, rows))}", body)


def curves(
    title: str,
    subtitle: str,
    shares: Sequence[float],
    panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[Figure]]]]],
) -> str:
    """Panels side by side, each with a curve and its band for each order over the shares: an SVG file's text."""
    ends = [
        end
        for _, lines in panels
        for _, each in lines
        for one in each
        for end in (one.low, one.high, one.value)
        if end is not None
    ]
    low, high = _padded(min([0.0, *ends]), max([0.0, *ends]))
    height = TOP + _HIGH + 76
    body = [box(0, 0, WIDTH, height, "paper"), text(24, 32, title, "title"), text(24, 54, subtitle, "dim")]
    body += _legend([name for name, _ in panels[0][1]] if panels else [])
    for number, (name, lines) in enumerate(panels):
        body += _panel(76 + number * (_PANEL + 70), name, shares, lines, low, high)
    told = [f"{name}, {order}: {', '.join(map(_said, each))}." for name, lines in panels for order, each in lines]
    return picture(WIDTH, height, _STYLE, title, f"{subtitle}. {' '.join(told)}", body)


def _legend(series: Sequence[str]) -> Iterator[str]:
    x = 30.0
    for place, name in enumerate(series):
        yield _shape(x, 77, place)
        yield text(x + 14, 82, name, "small")
        x += 44 + 7 * len(name)


def _across(low: float, high: float, height: float) -> Iterator[str]:
    for tick in _ticks(low, high):
        x = _x(tick, low, high)
        yield line(x, TOP, x, height - 40, "grid" if tick else "zero")
        yield text(x, height - 20, _number(tick), "dim small", "middle")


def _mark(one: Figure | None, place: int, y: float, low: float, high: float) -> Iterator[str]:
    if one and one.value is not None:
        if one.low is not None and one.high is not None:
            yield line(_x(one.low, low, high), y, _x(one.high, low, high), y, f"whisker s{place}")
        yield _shape(_x(one.value, low, high), y, place)


def _panel(
    left: float,
    name: str,
    shares: Sequence[float],
    lines: Sequence[tuple[str, Sequence[Figure]]],
    low: float,
    high: float,
) -> Iterator[str]:
    bottom = TOP + 20 + _HIGH
    step = _PANEL / (len(shares) - 1)

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * _HIGH

    yield text(left, TOP + 4, name, "small")
    for tick in _ticks(low, high):
        yield line(left, y(tick), left + _PANEL, y(tick), "grid" if tick else "zero")
        yield text(left - 8, y(tick) + 4, _number(tick), "dim small", "end")
    for number, share in enumerate(shares):
        yield text(left + number * step, bottom + 20, f"{share * 100:g} %", "dim small", "middle")
    yield text(left + _PANEL / 2, bottom + 42, "of the words", "dim small", "middle")
    for place, (_, each) in enumerate(lines):
        there = [(left + n * step, one) for n, one in enumerate(each) if one.value is not None]
        known = [(x, one.low, one.high) for x, one in there if one.low is not None and one.high is not None]
        edge = [(x, high) for x, _, high in known] + [(x, low) for x, low, _ in reversed(known)]
        yield f'<polygon class="band s{place}" points="{_path((x, y(end)) for x, end in edge)}"/>'
        yield f'<polyline class="path s{place}" points="{_path((x, y(one.value or 0.0)) for x, one in there)}"/>'
        yield from (_shape(x, y(one.value or 0.0), place) for x, one in there)


def _path(points: Iterator[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _shape(x: float, y: float, place: int) -> str:
    """A disc, a square, a triangle, a diamond."""
    if place == 0:
        return f'<circle class="s0" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
    around = {1: [(-4, -4), (4, -4), (4, 4), (-4, 4)], 2: [(0, -5), (5, 4), (-5, 4)]}
    points = around.get(place, [(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)])
    return f'<polygon class="s{place}" points="{_path((x + dx, y + dy) for dx, dy in points)}"/>'


def _told(series: Sequence[str], rows: Sequence[ForestRow]) -> Iterator[str]:
    for row in rows:
        each = [f"{name} {_said(one)}" for name, one in zip(series, row.figures, strict=True) if one]
        yield f"{row.name}: {', '.join(each)}."


def _said(one: Figure) -> str:
    if one.value is None:
        return "none"
    interval = f" ({_number(one.low)} to {_number(one.high)})" if one.low is not None and one.high is not None else ""
    return f"{one.value:+.2f}{interval}".replace("-", "−")


def _padded(low: float, high: float) -> tuple[float, float]:
    room = (high - low) * 0.06 or 1.0
    return (low - room if low else -room / 2), (high + room if high else room / 2)


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within, 0 among them."""
    unit = next(
        unit
        for unit in (size * 10.0**power for power in range(-4, 9) for size in (1, 2, 5))
        if (high - low) / unit <= 8
    )
    return [number * unit + 0.0 for number in range(int(low / unit), int(high / unit) + 1)]


def _x(value: float, low: float, high: float) -> float:
    return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
