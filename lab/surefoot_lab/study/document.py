"""A report as a list of blocks, written as Markdown or as one HTML page; its words stay words, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from surefoot.explain.explanation import clean, printable


@dataclass(frozen=True, slots=True)
class Heading:
    """Opens a section."""

    level: int
    """1: the report's own."""
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Points of a list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns with headings: first so many of words, then figures, which are set to the right."""

    words: int
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing: an SVG file's text, and what it shows for who does not see it."""

    file: str
    svg: str
    shows: str


@dataclass(frozen=True, slots=True)
class Preformatted:
    """Text as it is in a file."""

    text: str


Block = Heading | Paragraph | Bullets | Table | Picture | Preformatted

_STYLE = """
  :root { color-scheme: light dark; --ink: #24292f; --dim: #59636e; --paper: #ffffff; --line: #d8dee4 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --dim: #9198a1; --paper: #0d1117; --line: #30363d } }
  body { font: 16px/1.55 system-ui, 'DejaVu Sans', 'Segoe UI', sans-serif; color: var(--ink); background: var(--paper);
    max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
  h1, h2 { line-height: 1.25 } h2 { margin-top: 2.4rem }
  .wide { overflow-x: auto } table { border-collapse: collapse; font-size: .87rem; margin: 1rem 0 }
  th { text-align: left; font-weight: 600; color: var(--dim); vertical-align: bottom }
  th, td { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
  .figure { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
  figure { margin: 1.4rem 0 } svg { max-width: 100%; height: auto }
  pre { overflow-x: auto; font-size: .8rem; border: 1px solid var(--line); padding: .8rem }"""
# Nothing is loaded and nothing is run, whatever a name in the data might say.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def markdown(blocks: Sequence[Block]) -> str:
    """The report as Markdown; pictures are links to their files, which lie beside it."""
    return "\n\n".join(map(_marked, blocks)) + "\n"


def page(blocks: Sequence[Block]) -> str:
    """The report as one HTML file that needs no other: pictures are inside, light and dark are the reader's choice."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "")
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    head += '<meta name="viewport" content="width=device-width, initial-scale=1">'
    body = "\n".join(map(_tagged, blocks))
    start = f'<!doctype html>\n<html lang="en">\n<head>{head}\n<title>{clean(title)}</title>'
    return f"{start}\n<style>{_STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"


def _marked(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"{'#' * level} {_plain(text)}"
        case Paragraph(text):
            return _plain(text)
        case Bullets(items):
            return "\n".join(f"- {_plain(item)}" for item in items)
        case Picture(file, _, shows):
            return f"![{_plain(shows)}]({file})"
        case Preformatted(text):
            # A fence longer than any run of backticks inside cannot be closed from within.
            fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
            return f"{fence}\n{printable(text.strip(), lines=True)}\n{fence}"
        case Table(words, headings, rows):
            head, *lines = [f"| {' | '.join(map(_plain, row))} |" for row in (headings, *rows)]
            sides = [" --- " if n < words else " ---: " for n in range(len(headings))]
            return "\n".join([head, f"|{'|'.join(sides)}|", *lines])


def _tagged(block: Block) -> str:
    match block:
        case Heading(level, text):
            return f"<h{level}>{clean(text)}</h{level}>"
        case Paragraph(text):
            return f"<p>{clean(text)}</p>"
        case Bullets(items):
            return f"<ul>{''.join(f'<li>{clean(item)}</li>' for item in items)}</ul>"
        case Picture(_, svg, _):
            return f"<figure>{svg}</figure>"
        case Preformatted(text):
            return f"<pre>{escape(printable(text.strip(), lines=True))}</pre>"
        case Table(words, headings, rows):
            head, body = _row("th", headings, words), "".join(_row("td", row, words) for row in rows)
            return f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _row(tag: str, cells: Sequence[str], words: int) -> str:
    sides = ["" if n < words else ' class="figure"' for n in range(len(cells))]
    return f"<tr>{''.join(f'<{tag}{side}>{clean(cell)}</{tag}>' for side, cell in zip(sides, cells, strict=True))}</tr>"


def _plain(text: str) -> str:
    """On one line, with nothing that Markdown, or HTML within it, would take for a mark."""
    escaped = re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", printable(" ".join(text.split())))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")
