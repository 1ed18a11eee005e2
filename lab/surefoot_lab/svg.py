"""Pieces of a picture that is drawn by hand as SVG: it needs no library and asks nothing of the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer import Option

from surefoot.explain.explanation import safe
from surefoot.run.store import write_bytes, write_text
from surefoot.types.errors import MissingExtra, UsageError

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` as places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of this value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def style(size: int, light: str, dark: str) -> str:
    """A style sheet for light and dark pages: letters of `size` pixels on paper, `dim` and `small` ones, a `title`,
    `grid` and `axis`; and the rules that a picture has of its own."""
    return f"""
  svg {{ font: {size}px system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif }}
  .paper {{ fill: #ffffff }} text {{ fill: #24292f }} .dim {{ fill: #59636e }} .small {{ font-size: {size - 2}px }}
  .title {{ font-size: 16px; font-weight: 600 }} .grid {{ stroke: #d8dee4 }} .axis {{ stroke: #59636e }}{light}
  @media (prefers-color-scheme: dark) {{
    .paper {{ fill: #0d1117 }} text {{ fill: #e6edf3 }} .dim {{ fill: #9198a1 }} .grid {{ stroke: #30363d }}
    .axis {{ stroke: #9198a1 }}{dark}
  }}"""


def sheet(
    width: float, height: float, style: str, title: str, subtitle: str, described: str, body: Iterable[str]
) -> str:
    """A `picture` on paper under its title, which is its label too, and subtitle."""
    head = [box(0, 0, width, height, "paper"), text(24, 32, title, "title"), text(24, 54, subtitle, "dim")]
    return picture(width, height, style, title, described, [*head, *body])


def picture(width: float, height: float, style: str, label: str, described: str, body: Sequence[str]) -> str:
    """An SVG file's text; screen readers say `label` and `described`."""
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{safe(label)}">'
    words = [f"<title>{safe(label)}</title>", f"<desc>{safe(described)}</desc>", f"<style>{style}\n</style>"]
    return "\n".join([head, *words, *body, "</svg>", ""])


def drawable(path: Path) -> None:
    """Raises UsageError for a name that ends in neither .svg nor .png, MissingExtra where PNG cannot be drawn."""
    ending = path.suffix.lower()
    if ending not in (".svg", ".png"):
        raise UsageError(f"a picture is written as .svg or .png, and {path.name} is neither")
    if ending == ".png":
        try:
            import surefoot_lab.png  # noqa: F401
        except ImportError as error:
            raise MissingExtra("a PNG file", "png") from error


def write_picture(path: Path, svg: str) -> None:
    """Write an SVG file's text as the file's name says: .svg, or .png as it looks on white paper. Raises as `drawable`
    does."""
    drawable(path)
    if path.suffix.lower() == ".svg":
        write_text(path, svg)
    else:
        from surefoot_lab.png import rendered

        write_bytes(path, rendered(svg))


def drawing(what: str) -> Any:
    """The option of a picture; a name that cannot be drawn is refused before anything is computed."""
    words = f"Draw {what} here; .svg, or .png with the extra png."
    return Option("--figure", metavar="FILE", help=words, callback=_drawn)


def _drawn(path: Path | None) -> Path | None:
    if path:
        drawable(path)
    return path


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line of this class."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def whisker(start: float, end: float, y: float, kind: str) -> Iterator[str]:
    """An interval: a line across with a short stroke at each end."""
    yield line(start, y, end, y, kind)
    yield from (line(x, y - 4, x, y + 4, kind) for x in (start, end))


def path(shape: str, kind: str, points: Iterable[Point], more: str = "") -> str:
    """A `polyline`, or a `polygon`, of this class through these points; `more`: other attributes."""
    return f'<{shape} class="{kind}"{more} points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def dot(x: float, y: float, kind: str, radius: float = 4.5) -> str:
    """A disc."""
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def mark(x: float, y: float, kind: str, corners: Sequence[Point]) -> str:
    """A disc where there are no corners, else the polygon of these, around the place."""
    return path("polygon", kind, ((x + dx, y + dy) for dx, dy in corners)) if corners else dot(x, y, kind)


def box(x: float, y: float, width: float, height: float, kind: str, opacity: float | None = None) -> str:
    """A rectangle of this class."""
    shade = "" if opacity is None else f' fill-opacity="{opacity:.3f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{shade}/>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words on a line, which may hold anything."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(words)}</text>'


def cut(words: str, letters: int) -> str:
    """The words cut to so many letters, the last one "…" where some are left out."""
    return words if len(words) <= letters else words[: letters - 1] + "…"
