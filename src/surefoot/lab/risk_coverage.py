"""The risk–coverage curve as an SVG picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from pathlib import PurePath

from surefoot.draw.svg import box, line, picture, text
from surefoot.lab.tuning import TuningReport, percent

WIDTH, HEIGHT = 800, 468
LEFT, RIGHT, TOP, BOTTOM = 84, 704, 106, 396
"""Where the axes stand."""
FOCUS = 6
"""The picture is at most so many targets high: what matters is seen, and the curve may leave it."""

_STYLE = """
  svg { font: 14px system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif }
  .paper { fill: #ffffff } text { fill: #24292f } .dim { fill: #59636e } .title { font-size: 16px; font-weight: 600 }
  .grid { stroke: #d8dee4 } .axis { stroke: #59636e } .band { fill: #0969da; fill-opacity: .16 }
  .risk { fill: none; stroke: #0969da; stroke-width: 2.2; stroke-linejoin: round }
  .target { stroke: #bc4c00; stroke-width: 1.6; stroke-dasharray: 6 4 } .target-name { fill: #bc4c00 }
  .reach { stroke: #0969da; stroke-width: 1.6 } .chosen { fill: #0969da; stroke: #ffffff; stroke-width: 2 }
  .refused { fill: #ffffff; stroke: #bc4c00; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9198a1 } .grid { stroke: #30363d }
    .axis { stroke: #9198a1 } .band { fill: #4493f8; fill-opacity: .22 } .risk, .reach { stroke: #4493f8 }
    .target { stroke: #f0883e } .target-name { fill: #f0883e } .chosen { fill: #4493f8; stroke: #0d1117 }
    .refused { fill: #0d1117; stroke: #f0883e }
  }"""


def risk_coverage(report: TuningReport) -> str:
    """How many of the CORRECT decisions lack evidence, as ever more questions are decided so: an SVG file's text.

    With the band between both bounds, the target, and the threshold that was chosen or the one that seemed surest.
    """
    top = height(report)
    names = ", ".join(PurePath(file.file).name for file in report.files)
    subtitle = f"{report.fit.testing:,} test questions of {names if len(names) <= 50 else names[:49] + '…'}"
    shading = f"shaded: {percent(report.fit.confidence)} bounds, each for itself"
    body = [
        box(0, 0, WIDTH, HEIGHT, "paper"),
        text(LEFT, 32, f"Risk and coverage of {report.evaluator}", "title"),
        text(LEFT, 54, f"{subtitle}; {shading}", "dim"),
        *_axes(top),
        f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/></clipPath>',
        *_curve(report, top),
        *_chosen(report, top),
    ]
    label = f"Risk and coverage of {report.evaluator} on {subtitle}"
    return picture(WIDTH, HEIGHT, _STYLE, label, shading, body)


def height(report: TuningReport) -> float:
    """The risk at the upper edge of a picture in which the target and the point in question are well seen."""
    target, shown = report.aim.target, report.fit.upper.shown
    risks = [point.risk for point in report.curve if point.risk is not None]
    curve = min(FOCUS * target, 1.15 * max(risks, default=0.0))
    return min(1.0, max(2 * target, curve, 1.15 * (shown.risk or 0.0) if shown else 0.0))


def _axes(top: float) -> list[str]:
    lines = []
    for tick in _ticks(top):
        y = _y(tick, top)
        lines += [line(LEFT, y, RIGHT, y, "grid"), text(LEFT - 10, y + 5, percent(tick), "dim", "end")]
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = _x(tick)
        lines += [line(x, BOTTOM, x, BOTTOM + 5, "axis"), text(x, BOTTOM + 23, percent(tick), "dim", "middle")]
    middle = (TOP + BOTTOM) / 2
    across = text(24, middle, "Risk: share of these without evidence", "", "middle")
    return [
        *lines,
        line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis"),
        text((LEFT + RIGHT) / 2, BOTTOM + 50, "Coverage: share of questions decided CORRECT", "", "middle"),
        f'<g transform="rotate(-90 24 {middle})">{across}</g>',
    ]


def _curve(report: TuningReport, top: float) -> list[str]:
    points, testing = [point for point in report.curve if point.of], report.fit.testing
    edge = [(point.of, point.high) for point in points] + [(point.of, point.low) for point in reversed(points)]
    risks = [(point.of, point.risk or 0.0) for point in points]
    y = _y(report.aim.target, top)
    return [
        f'<polygon class="band" clip-path="url(#plot)" points="{_path(edge, testing, top)}"/>',
        f'<polyline class="risk" clip-path="url(#plot)" points="{_path(risks, testing, top)}"/>',
        line(LEFT, y, RIGHT, y, "target"),
        text(RIGHT + 8, y + 5, f"target {percent(report.aim.target)}", "target-name"),
    ]


def _chosen(report: TuningReport, top: float) -> list[str]:
    """The point with its bound above and its coverage below it, and what it is."""
    choice = report.fit.upper
    shown = choice.shown
    if shown is None or shown.risk is None:
        return [text(LEFT, 82, "There is no CORRECT decision to count.")]
    coverage, kind = shown.of / report.fit.testing, "refused" if choice.threshold is None else "chosen"
    x, y, high = _x(coverage), _y(shown.risk, top), _y(min(shown.high, top), top)
    what = f"τ+ {shown.threshold:.4g}" if choice.threshold is not None else "no τ+ keeps the target; surest"
    figures = f"{percent(coverage)} covered, {percent(shown.risk)} risk, bound {percent(shown.high)}"
    return [
        line(x, high, x, BOTTOM, "reach"),
        line(x - 6, high, x + 6, high, "reach"),
        _dot(x, y, kind),
        _dot(LEFT + 6, 77, kind),
        text(LEFT + 20, 82, f"{what}: {figures}"),
    ]


def _path(points: Sequence[tuple[int, float]], testing: int, top: float) -> str:
    return " ".join(f"{_x(of / testing):.1f},{_y(risk, top):.1f}" for of, risk in points)


def _ticks(top: float) -> list[float]:
    """Round shares from 0 to `top`, four to ten of them."""
    rough = top / 5
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough * 0.7)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]


def _x(coverage: float) -> float:
    return LEFT + coverage * (RIGHT - LEFT)


def _y(risk: float, top: float) -> float:
    return BOTTOM - risk / top * (BOTTOM - TOP)


def _dot(x: float, y: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
