"""A report as a list of blocks, written as Markdown or as one HTML page; its words stay words, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


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
    """Columns with headings; those of `figures` are set to the right."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    figures: frozenset[int] = frozenset()


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
    start = f'<!doctype html>\n<html lang="en">\n<head>{head}\n<title>{_safe(title)}</title>'
    return f"{start}\n<style>{_STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"


def _marked(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_plain(block.text)}"
    if isinstance(block, Paragraph):
        return _plain(block.text)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_plain(item)}" for item in block.items)
    if isinstance(block, Picture):
        return f"![{_plain(block.shows)}]({block.file})"
    if isinstance(block, Preformatted):
        # A fence longer than any run of backticks inside cannot be closed from within.
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", block.text)), default=0))
        return f"{fence}\n{_lines(block.text)}\n{fence}"
    lines = [" --- " if n not in block.figures else " ---: " for n in range(len(block.headings))]
    rows = [f"| {' | '.join(map(_plain, row))} |" for row in (block.headings, *block.rows)]
    return "\n".join([rows[0], f"|{'|'.join(lines)}|", *rows[1:]])


def _tagged(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_safe(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_safe(block.text)}</p>"
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{_safe(item)}</li>' for item in block.items)}</ul>"
    if isinstance(block, Picture):
        return f"<figure>{block.svg}</figure>"
    if isinstance(block, Preformatted):
        return f"<pre>{escape(_lines(block.text))}</pre>"
    head = "".join(f"<th{_side(n, block)}>{_safe(cell)}</th>" for n, cell in enumerate(block.headings))
    rows = ["".join(f"<td{_side(n, block)}>{_safe(cell)}</td>" for n, cell in enumerate(row)) for row in block.rows]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _side(number: int, table: Table) -> str:
    return ' class="figure"' if number in table.figures else ""


def _plain(text: str) -> str:
    """On one line, with nothing that Markdown, or HTML within it, would take for a mark."""
    return re.sub(r"([\\`*_\[\]|#~!])", r"\\\1", _printable(text)).replace("&", "&amp;").replace("<", "&lt;")


def _safe(text: str) -> str:
    return escape(_printable(text))


def _lines(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text.strip())


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(text.split()))
