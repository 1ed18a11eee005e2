"""Accuracy as retrieval gets worse, as one SVG picture: a panel for each thing that is done to the passages.

A method is told by its colour, by the shape of its marks and by its name at the end of its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import PurePath

from surefoot.draw.svg import box, line, picture, text
from surefoot.lab.degradation import DegradationReport, DegradationStep

PANEL, HEIGHT = 420, 300
"""Of one panel, with all that belongs to it; two stand side by side."""
LEFT, RIGHT, TOP, BOTTOM = 60, 296, 40, 240
"""Where the axes of a panel stand in it."""
HEAD, FOOT = 76, 16
APART = 15
"""Between two names at the ends of lines, at least."""
TITLES = {
    "fewer": "Passages taken away",
    "lost": "Passages with an answer taken away",
    "shuffled": "Passages in another order",
    "swapped": "Passages about another entity",
}

# Blue, vermilion, green, purple and black or white: Okabe and Ito, whom colour-blind readers tell apart.
_STYLE = """
  svg { font: 13px system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif }
  .paper { fill: #ffffff } text { fill: #24292f } .dim { fill: #59636e } .title { font-size: 16px; font-weight: 600 }
  .panel { font-weight: 600 } .grid { stroke: #d8dee4 } .axis { stroke: #59636e }
  .m0 { color: #0072b2 } .m1 { color: #d55e00 } .m2 { color: #009e73 } .m3 { color: #a3548a } .m4 { color: #24292f }
  .mark { fill: currentColor; stroke: currentColor } .way { fill: none; stroke: currentColor; stroke-width: 2 }
  .reach { stroke: currentColor; stroke-width: 1.3 } .name { fill: currentColor; font-size: 12px }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117 } text { fill: #e6edf3 } .dim { fill: #9198a1 } .grid { stroke: #30363d }
    .axis { stroke: #9198a1 } .m0 { color: #4ba3d9 } .m1 { color: #f0883e } .m2 { color: #2fbf96 }
    .m3 { color: #d68ac0 } .m4 { color: #e6edf3 } .name { fill: currentColor }
  }"""


def robustness(report: DegradationReport, data: str) -> str:
    """The share of questions right, by the share of passages that something was done to: an SVG file's text."""
    kinds = list(dict.fromkeys(step.kind for step in report.steps))
    width, height = PANEL * min(2, len(kinds)), HEAD + HEIGHT * ceil(len(kinds) / 2) + FOOT
    top = _top(report)
    label = f"Accuracy of {', '.join(report.methods)} as retrieval gets worse"
    asked = f"{report.questions:,} questions of {PurePath(data).name}, right by {report.rule}; bars: 95 % intervals"
    body = [box(0, 0, width, height, "paper"), text(16, 30, _short(label, width), "title")]
    body += [text(16, 52, _short(asked, width), "dim")]
    for number, kind in enumerate(kinds):
        steps = [step for step in report.steps if step.kind == kind]
        at = f"translate({PANEL * (number % 2)} {HEAD + HEIGHT * (number // 2)})"
        body += [f'<g transform="{at}">', *_panel(kind, steps, report.methods, top), "</g>"]
    return picture(width, height, _STYLE, label, f"{asked}. {' '.join(_told(report))}", body)


def _panel(kind: str, steps: Sequence[DegradationStep], methods: Sequence[str], top: float) -> Iterator[str]:
    yield text(LEFT, TOP - 16, TITLES.get(kind, kind), "panel")
    for part in range(5):
        share = top * part / 4
        yield line(LEFT, _y(share, top), RIGHT, _y(share, top), "grid")
        yield text(LEFT - 8, _y(share, top) + 4, f"{share * 100:.0f} %", "dim", "end")
    yield line(LEFT, BOTTOM, RIGHT, BOTTOM, "axis")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield text(_x(share), BOTTOM + 20, f"{share * 100:.0f}", "dim", "middle")
    yield text((LEFT + RIGHT) / 2, BOTTOM + 40, "% of the passages", "dim", "middle")
    ends = []
    for number, method in enumerate(methods):
        mine = [step for step in steps if step.method == method and step.right.share is not None]
        shift = 3.0 * (number - (len(methods) - 1) / 2)
        yield f'<g class="m{number % 5}">{"".join(_way(mine, number, shift, top))}</g>'
        ends += [(_y(mine[-1].right.share or 0.0, top), number, method)] if mine else []
    below = float("-inf")
    for y, number, method in sorted(ends):
        below = max(y, below + APART)
        yield f'<g class="m{number % 5}">{text(RIGHT + 14, below + 4, method[:16], "name")}</g>'


def _way(steps: Sequence[DegradationStep], number: int, shift: float, top: float) -> Iterator[str]:
    """The line with a mark and its interval at each step; lines stand a little apart, so that no bar hides another."""
    points = [(_x(step.share) + shift, _y(step.right.share or 0.0, top)) for step in steps]
    yield f'<polyline class="way" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
    for step, (x, y) in zip(steps, points, strict=True):
        yield line(x, _y(step.right.low or 0.0, top), x, _y(min(step.right.high or 0.0, top), top), "reach")
        yield _mark(x, y, number % 5)


def _mark(x: float, y: float, number: int) -> str:
    """A disc, a square, a triangle, a diamond or a small disc."""
    if number in (0, 4):
        return f'<circle class="mark" cx="{x:.1f}" cy="{y:.1f}" r="{4.5 if number == 0 else 3:g}"/>'
    corners = {
        1: ((-4, -4), (4, -4), (4, 4), (-4, 4)),
        2: ((0, -5.5), (5, 4), (-5, 4)),
        3: ((0, -6), (5, 0), (0, 6), (-5, 0)),
    }[number]
    return f'<polygon class="mark" points="{" ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)}"/>'


def _top(report: DegradationReport) -> float:
    """A round share that no interval rises above."""
    highest = max((step.right.high or 0.0 for step in report.steps), default=1.0)
    return min(1.0, max(0.2, ceil(highest * 5 + 1e-9) / 5))


def _told(report: DegradationReport) -> Iterator[str]:
    """The figures, a sentence a step."""
    for step in report.steps:
        share = "nothing" if step.right.share is None else f"{step.right.share * 100:.1f} %"
        yield f"{step.method}, {step.kind} {step.share * 100:.0f} %: {share} right."


def _short(words: str, width: float) -> str:
    """As much as stands on one line."""
    fits = int(width / 7.6)
    return words if len(words) <= fits else words[: fits - 1] + "…"


def _x(share: float) -> float:
    return LEFT + 12 + share * (RIGHT - LEFT - 24)


def _y(share: float, top: float) -> float:
    return BOTTOM - share / top * (BOTTOM - TOP)
