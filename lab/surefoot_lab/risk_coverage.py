"""The risk–coverage curve as an SVG picture."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log10
from pathlib import PurePath

from surefoot.stats.text import percent
from surefoot_lab.svg import Point, Scale, box, cut, dot, line, path, picture, style, text
from surefoot_lab.tuning import TuningReport

WIDTH, HEIGHT = 800, 468
LEFT, RIGHT, TOP, BOTTOM = 84, 704, 106, 396
"""Places of the axes."""
FOCUS = 6
"""The picture is at most so many targets high, and the curve may leave it."""

_STYLE = style(
    14,
    """
  .band { fill: #0969da; fill-opacity: .16 }
  .risk { fill: none; stroke: #0969da; stroke-width: 2.2; stroke-linejoin: round }
  .target { stroke: #bc4c00; stroke-width: 1.6; stroke-dasharray: 6 4 } .target-name { fill: #bc4c00 }
  .reach { stroke: #0969da; stroke-width: 1.6 } .chosen { fill: #0969da; stroke: #ffffff; stroke-width: 2 }
  .refused { fill: #ffffff; stroke: #bc4c00; stroke-width: 2 }""",
    """
    .band { fill: #4493f8; fill-opacity: .22 } .risk, .reach { stroke: #4493f8 }
    .target { stroke: #f0883e } .target-name { fill: #f0883e } .chosen { fill: #4493f8; stroke: #0d1117 }
    .refused { fill: #0d1117; stroke: #f0883e }""",
)
_X = Scale(0, 1, LEFT, RIGHT)


def risk_coverage(report: TuningReport) -> str:
    """The share of CORRECT decisions without evidence, over the share of questions decided so, with both bounds, the
    target, and the chosen threshold or else the surest candidate: an SVG file's text."""
    y = Scale(0, height(report), BOTTOM, TOP)
    names = cut(", ".join(PurePath(file.file).name for file in report.files), 50)
    title, subtitle = f"Risk and coverage of {report.evaluator}", f"{report.fit.testing:,} test questions of {names}"
    shading = f"shaded: {percent(report.fit.confidence)} bounds, each for itself"
    body = [
        box(0, 0, WIDTH, HEIGHT, "paper"),
        text(LEFT, 32, title, "title"),
        text(LEFT, 54, f"{subtitle}; {shading}", "dim"),
        *_axes(y),
        f'<clipPath id="plot"><rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/></clipPath>',
        *_curve(report, y),
        *_chosen(report, y),
    ]
    return picture(WIDTH, HEIGHT, _STYLE, f"{title} on {subtitle}", shading, body)


def height(report: TuningReport) -> float:
    """The risk at the picture's upper edge, so that the target and the chosen point are well seen."""
    target, shown = report.aim.target, report.fit.upper.shown
    risks = [point.risk for point in report.curve if point.risk is not None]
    curve = min(FOCUS * target, 1.15 * max(risks, default=0.0))
    return min(1.0, max(2 * target, curve, 1.15 * (shown.risk or 0.0) if shown else 0.0))


def _axes(y: Scale) -> Iterator[str]:
    for tick in _ticks(y.high):
        yield line(LEFT, y(tick), RIGHT, y(tick), "grid")
        yield text(LEFT - 10, y(tick) + 5, percent(tick), "dim", "end")
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        yield line(_X(tick), BOTTOM, _X(tick), BOTTOM + 5, "axis")
        yield text(_X(tick), BOTTOM + 23, percent(tick), "dim", "middle")
    yield line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    yield text((LEFT + RIGHT) / 2, BOTTOM + 50, "Coverage: share of questions decided CORRECT", "", "middle")
    middle = (TOP + BOTTOM) / 2
    across = text(24, middle, "Risk: share of these without evidence", "", "middle")
    yield f'<g transform="rotate(-90 24 {middle})">{across}</g>'


def _curve(report: TuningReport, y: Scale) -> Iterator[str]:
    points, clip = [point for point in report.curve if point.of], ' clip-path="url(#plot)"'

    def through(of: int, risk: float) -> Point:
        return _X(of / report.fit.testing), y(risk)

    edge = [through(p.of, p.high) for p in points] + [through(p.of, p.low) for p in reversed(points)]
    yield path("polygon", "band", edge, clip)
    yield path("polyline", "risk", [through(p.of, p.risk or 0.0) for p in points], clip)
    target = report.aim.target
    yield line(LEFT, y(target), RIGHT, y(target), "target")
    yield text(RIGHT + 8, y(target) + 5, f"target {percent(target)}", "target-name")


def _chosen(report: TuningReport, y: Scale) -> Iterator[str]:
    """The point with its bound above and its coverage below it, and its figures in words."""
    choice = report.fit.upper
    shown = choice.shown
    if shown is None or shown.risk is None:
        yield text(LEFT, 82, "There is no CORRECT decision to count.")
        return
    coverage, kind = shown.of / report.fit.testing, "refused" if choice.threshold is None else "chosen"
    x, high = _X(coverage), y(min(shown.high, y.high))
    named = f"τ+ {shown.threshold:.4g}" if choice.threshold is not None else "no τ+ keeps the target; surest"
    covered, risk, bound = (percent(share) for share in (coverage, shown.risk, shown.high))
    yield line(x, high, x, BOTTOM, "reach")
    yield line(x - 6, high, x + 6, high, "reach")
    yield dot(x, y(shown.risk), kind, 6)
    yield dot(LEFT + 6, 77, kind, 6)
    yield text(LEFT + 20, 82, f"{named}: {covered} covered, {risk} risk, bound {bound}")


def _ticks(top: float) -> list[float]:
    """Round shares from 0 to `top`, four to ten of them."""
    rough = top / 5
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * times for times in (1, 2, 5, 10) if unit * times >= rough * 0.7)
    return [i * step for i in range(int(top / step + 1e-9) + 1)]
