"""Pieces of a picture that is drawn by hand as SVG: it needs no library and asks nothing of the network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from surefoot.errors import MissingExtra, UsageError
from surefoot.store import write_bytes, write_text


def picture(width: float, height: float, style: str, label: str, described: str, body: Sequence[str]) -> str:
    """An SVG file's text; `label` and `described` are what a reader who does not see it is told."""
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
            import surefoot.draw.png  # noqa: F401
        except ImportError as error:
            raise MissingExtra("a PNG file", "png") from error


def write_picture(path: Path, svg: str) -> None:
    """Write an SVG file's text as what the file's name says: .svg, or .png, as it looks on white paper.

    Raises what `drawable` does.
    """
    drawable(path)
    if path.suffix.lower() == ".svg":
        write_text(path, svg)
    else:
        from surefoot.draw.png import rendered

        write_bytes(path, rendered(svg))


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line of this class."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def box(x: float, y: float, width: float, height: float, kind: str, opacity: float | None = None) -> str:
    """A rectangle of this class."""
    shade = "" if opacity is None else f' fill-opacity="{opacity:.3f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{shade}/>'


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words on a line, which may hold anything."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(words)}</text>'


def safe(words: str) -> str:
    """Names of files and of types may hold what XML cannot."""
    return escape("".join(character if character.isprintable() else "\ufffd" for character in words))
