"""Accuracy as retrieval gets worse, as one SVG picture: a panel for each kind of change.

Each method has its colour, its shape of marks, and its name at the end of its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import PurePath

from surefoot.stats.text import percent
from surefoot_lab.degradation import DegradationReport, DegradationStep
from surefoot_lab.svg import Point, Scale, box, cut, dot, line, mark, path, picture, style, text

PANEL, HEIGHT = 420, 300
"""Of one panel with its labels; two stand side by side."""
LEFT, RIGHT, TOP, BOTTOM = 60, 296, 40, 240
"""Places of the axes in a panel."""
HEAD, FOOT = 76, 16
APART = 15
"""Between two names at the ends of lines, at least."""
TITLES = {
    "fewer": "Passages taken away",
    "lost": "Passages with an answer taken away",
    "shuffled": "Passages in another order",
    "swapped": "Passages about another entity",
}

CORNERS: tuple[tuple[Point, ...], ...] = (
    (),
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5.5), (5, 4), (-5, 4)),
    ((0, -6), (5, 0), (0, 6), (-5, 0)),
)
"""A disc, a square, a triangle and a diamond; the fifth mark is a small disc."""

# Blue, vermilion, green, purple and black or white: Okabe and Ito, whom colour-blind readers tell apart.
_STYLE = style(
    13,
    """
  .m0 { color: #0072b2 } .m1 { color: #d55e00 } .m2 { color: #009e73 } .m3 { color: #a3548a } .m4 { color: #24292f }
  .panel { font-weight: 600 } .mark { fill: currentColor; stroke: currentColor }
  .way { fill: none; stroke: currentColor; stroke-width: 2 }
  .reach { stroke: currentColor; stroke-width: 1.3 } .name { fill: currentColor; font-size: 12px }""",
    """
    .m0 { color: #4ba3d9 } .m1 { color: #f0883e } .m2 { color: #2fbf96 } .m3 { color: #d68ac0 }
    .m4 { color: #e6edf3 }""",
)
_X = Scale(0, 1, LEFT + 12, RIGHT - 12)


def robustness(report: DegradationReport, data: str) -> str:
    """The share of right answers over the share of changed passages: an SVG file's text."""
    kinds = list(dict.fromkeys(step.kind for step in report.steps))
    width, height = PANEL * min(2, len(kinds)), HEAD + HEIGHT * ceil(len(kinds) / 2) + FOOT
    y, fits = Scale(0, _top(report), BOTTOM, TOP), int(width / 7.6)
    label = f"Accuracy of {', '.join(report.methods)} as retrieval gets worse"
    asked = f"{report.questions:,} questions of {PurePath(data).name}, right by {report.rule}; bars: 95 % intervals"
    body = [box(0, 0, width, height, "paper"), text(16, 30, cut(label, fits), "title")]
    body += [text(16, 52, cut(asked, fits), "dim")]
    for number, kind in enumerate(kinds):
        steps = [step for step in report.steps if step.kind == kind]
        at = f"translate({PANEL * (number % 2)} {HEAD + HEIGHT * (number // 2)})"
        body += [f'<g transform="{at}">', *_panel(kind, steps, report.methods, y), "</g>"]
    return picture(width, height, _STYLE, label, f"{asked}. {' '.join(_told(report))}", body)


def _panel(kind: str, steps: Sequence[DegradationStep], methods: Sequence[str], y: Scale) -> Iterator[str]:
    yield text(LEFT, TOP - 16, TITLES.get(kind, kind), "panel")
    for share in (y.high * part / 4 for part in range(5)):
        yield line(LEFT, y(share), RIGHT, y(share), "grid")
        yield text(LEFT - 8, y(share) + 4, percent(share, 0), "dim", "end")
    yield line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield text(_X(share), BOTTOM + 20, f"{share * 100:.0f}", "dim", "middle")
    yield text((LEFT + RIGHT) / 2, BOTTOM + 40, "% of the passages", "dim", "middle")
    ends = []
    for number, method in enumerate(methods):
        mine = [step for step in steps if step.method == method and step.right.share is not None]
        shift = 3.0 * (number - (len(methods) - 1) / 2)
        yield f'<g class="m{number % 5}">{"".join(_way(mine, number % 5, shift, y))}</g>'
        ends += [(y(mine[-1].right.share or 0.0), number, method)] if mine else []
    below = float("-inf")
    for place, number, method in sorted(ends):
        below = max(place, below + APART)
        yield f'<g class="m{number % 5}">{text(RIGHT + 14, below + 4, method[:16], "name")}</g>'


def _way(steps: Sequence[DegradationStep], number: int, shift: float, y: Scale) -> Iterator[str]:
    """The line, with a mark and its interval at each step, shifted a little so that no bar hides another."""
    points = [(_X(step.share) + shift, y(step.right.share or 0.0)) for step in steps]
    yield path("polyline", "way", points)
    for step, point in zip(steps, points, strict=True):
        yield line(point[0], y(step.right.low or 0.0), point[0], y(min(step.right.high or 0.0, y.high)), "reach")
        yield dot(*point, "mark", 3) if number == 4 else mark(*point, "mark", CORNERS[number])


def _top(report: DegradationReport) -> float:
    """A round share that no interval rises above."""
    highest = max((step.right.high or 0.0 for step in report.steps), default=1.0)
    return min(1.0, max(0.2, ceil(highest * 5 + 1e-9) / 5))


def _told(report: DegradationReport) -> Iterator[str]:
    """The figures, a sentence a step."""
    for step in report.steps:
        share = "nothing" if step.right.share is None else percent(step.right.share, 1)
        yield f"{step.method}, {step.kind} {percent(step.share, 0)}: {share} right."
