"""Markdown for reports: text stays text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from surefoot.explain.explanation import printable


def plain(text: str) -> str:
    """The text on one line, with nothing that Markdown, or HTML within it, would take for a mark."""
    escaped = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", printable(" ".join(text.split())))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def bullets(items: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {plain(item)}" for item in items)


def table(texts: int, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its first `texts` columns hold words, the others figures, which are set to the right."""
    head, *lines = [f"| {' | '.join(map(plain, row))} |" for row in (headings, *rows)]
    sides = [" --- " if n < texts else " ---: " for n in range(len(headings))]
    return "\n".join([head, f"|{'|'.join(sides)}|", *lines])


def fenced(text: str) -> str:
    """The text as it is in a file; its fence is longer than any run of backticks inside."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{printable(text.strip(), lines=True)}\n{fence}"
