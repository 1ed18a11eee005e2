"""An SVG picture as a PNG file, by resvg, which comes with the extra png and needs no library of the system."""

from __future__ import annotations

from resvg_py import svg_to_bytes


def rendered(svg: str) -> bytes:
    """The PNG file's content, twice as large as the SVG says; colours are those for light pages."""
    return bytes(svg_to_bytes(svg_string=svg, zoom=2))
