"""From pandoc's tree of a document to our blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.documents.loaders import Block
from surefoot.documents.loaders._grid import Cell, in_cell, rows
from surefoot.documents.loaders._headings import OpenHeadings
from surefoot.text.blocks import bullets, code, definition, paragraph, table
from surefoot.types import BlockKind

Node = dict[str, Any]
Found = tuple[tuple[str, ...], BlockKind, str]
"""Terms that a block stands under, its kind and its text."""

LONGEST_TERM = 100
"""Characters of a term that may be an element of a path."""
LONGEST_MEANING = 600
"""Characters of a meaning that stays one block with its term."""

_NOTES = frozenset(
    "note warning tip important caution danger attention hint error admonition seealso versionadded versionchanged"
    " deprecated".split()
)
_TERMS = frozenset(
    "function method class data attribute option cmdoption envvar confval directive role exception module describe"
    " property type macro program tab".split()
)
"""Directives of Sphinx whose first paragraph names what the others describe."""
_SKIPPED = frozenset("toctree index title only-latex".split())
_MARKUP = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|(?<!\\)%.*|\\newline|\\[a-zA-Z@]+\*?(?:\[[^\[\]]*\])*|\\.|[{}~&$]")
"""Commands of TeX, without what stands in braces behind them."""
_WORD = re.compile(r"[^\W\d_]{3}")
_SPACES = frozenset(("Space", "SoftBreak", "LineBreak"))
_INNER = {"Cite": 1, "Link": 1, "Quoted": 1, "Span": 1}
"""Where an inline's own inlines stand; of the others they are all of its content."""


def title(tree: Node) -> str:
    """The title that a document gives itself; of a man page with its section, as in "ls(1)"."""
    meta = {name: _Writer().meta(value) for name, value in tree.get("meta", {}).items()}
    section = meta.get("section", "")
    return f"{meta.get('title', '')}({section})" if section else meta.get("title", "")


def blocks(tree: Node) -> Iterator[Block]:
    """The blocks of a document under their headings, with the heading's id, the slide or the cell as their place."""
    # "Slide 7" is the heading that pandoc gives a slide without one.
    return (b for b in _blocks(tree) if b.kind != "caption" or not b.text.removeprefix("Slide ").isdecimal())


def _blocks(tree: Node) -> Iterator[Block]:
    headings, place, cells = OpenHeadings(), "", 0
    for node in _open([*_flow_of(tree.get("meta", {}).get("abstract", {})), *tree["blocks"]]):
        if node["t"] == "Header":
            level, (id, _, _), inlines = node["c"]
            slide = id.removeprefix("slide-")
            if not cells:
                place = f"slide={slide}" if slide != id and slide.isdecimal() else id
            if text := paragraph(_Writer().line(inlines)):
                yield from headings.enter(level, text, place)
            continue
        if node["t"] == "Div" and "cell" in node["c"][0][1]:
            cells += 1
            place = f"cell={cells}"
        writer = _Writer()
        for below, kind, text in writer.flow([node]):
            if text.strip():
                yield Block(text, kind, (*headings.path(), *below), place)
        for text in writer.notes:
            yield Block(text, "note", headings.path(), place)
    yield from headings.close()


def _flow_of(value: Node) -> list[Node]:
    """The blocks of a value of the metadata, where pandoc puts abstracts."""
    match value:
        case {"t": "MetaBlocks", "c": nodes}:
            return list(nodes)
        case {"t": "MetaInlines", "c": inlines}:
            return [{"t": "Para", "c": inlines}]
        case {"t": "MetaList", "c": values}:
            return [node for each in values for node in _flow_of(each)]
    return []


def _open(nodes: Sequence[Node]) -> Iterator[Node]:
    """Nodes with the headings that stand in boxes brought out of them."""
    for node in nodes:
        if node["t"] == "Div" and not _special(node) and any(each["t"] in ("Header", "Div") for each in node["c"][1]):
            yield from _open(node["c"][1])
        elif node["t"] == "Div" and "cell" in node["c"][0][1]:
            yield {"t": "Div", "c": [node["c"][0], []]}
            yield from _open(node["c"][1])
        else:
            yield node


def _special(node: Node) -> bool:
    return not {*_NOTES, *_TERMS, *_SKIPPED, "cell"}.isdisjoint(node["c"][0][1])


@dataclass(slots=True)
class _Writer:
    """Writes nodes as the text of blocks, and collects the footnotes that they have."""

    notes: list[str] = field(default_factory=list)

    def flow(self, nodes: Sequence[Node]) -> Iterator[Found]:
        """The blocks of nodes, in order."""
        for node in nodes:
            content: Any = node.get("c")
            match node["t"]:
                case "Para" | "Plain":
                    yield self._paragraph(content)
                case "Header":
                    yield (), "caption", paragraph(self.line(content[2]))
                case "LineBlock":
                    yield (), "paragraph", " ".join(paragraph(self.line(line)) for line in content)
                case "CodeBlock":
                    yield (), "code", code(content[1], next(iter(content[0][1]), ""))
                case "BulletList":
                    yield (), "list", bullets(map(self.text, content))
                case "OrderedList":
                    yield (), "list", bullets(map(self.text, content[1]), ordered=True)
                case "DefinitionList":
                    yield from self._definitions(content)
                case "Table":
                    yield (), "caption", self.text(content[1][1])
                    yield (), "table", self._table(content)
                case "Figure":
                    yield from self.flow(content[2])
                    yield (), "caption", self.text(content[1][1])
                case "BlockQuote":
                    yield from self.flow(content)
                case "RawBlock":
                    for part in _of_tex(*content).split("\n\n"):
                        yield (), "paragraph", paragraph(part)
                case "Div":
                    yield from self._box({*content[0][1]}, content[1])

    def text(self, nodes: Sequence[Node], between: str = "\n") -> str:
        """The text of nodes inside an item, a meaning or a cell."""
        return between.join(text for _, _, text in self.flow(nodes) if text.strip())

    def line(self, inlines: Sequence[Node]) -> str:
        """The text of inlines; footnotes are put aside."""
        return "".join(map(self._inline, inlines))

    def meta(self, value: Node) -> str:
        """The text of a value of a document's metadata."""
        content = value.get("c", "")
        match value["t"]:
            case "MetaInlines":
                return paragraph(self.line(content))
            case "MetaBlocks":
                return paragraph(self.text(content))
            case "MetaString":
                return str(content)
        return ""

    def _paragraph(self, inlines: Sequence[Node]) -> Found:
        if len(inlines) == 1 and inlines[0]["t"] == "Math":
            return (), "code", code(_spaced(inlines[0]["c"][1]), "latex")
        return (), "paragraph", paragraph(self.line(inlines))

    def _inline(self, node: Node) -> str:
        kind: str = node["t"]
        content: Any = node.get("c")
        if kind in _SPACES:
            return " "
        match kind:
            case "Str":
                return str(content)
            case "Code":
                role = any(name == "role" for name, _ in content[0][2])
                text = str(content[1])
                shown = text.rpartition("<")[0] if role and text.rstrip().endswith(">") else text
                return shown.rstrip().lstrip("~!") if role else text
            case "Math":
                return _spaced(content[1])
            case "Note":
                self.notes.append(paragraph(self.text(content)))
                return ""
            case "RawInline":
                return _of_tex(*content)
            case "Image":
                return ""
            case "Quoted":
                mark = '"' if content[0]["t"] == "DoubleQuote" else "'"
                return f"{mark}{self.line(content[1])}{mark}"
            case "Link":
                text, (address, _) = self.line(content[1]), content[2]
                leads_out = address.startswith(("http://", "https://")) and paragraph(text) != address
                return f"[{text}]({address})" if leads_out and text.strip() else text or address
        return self.line(content[_INNER[kind]] if kind in _INNER else content or [])

    def _definitions(self, entries: Sequence[Any]) -> Iterator[Found]:
        terms: list[str] = []
        for inlines, meanings in entries:
            terms.append(paragraph(self.line(inlines)))
            nodes = [node for meaning in meanings for node in meaning]
            if nodes:  # a term without a meaning shares that of the next one
                yield from self._defined(", ".join(filter(None, terms)), nodes)
                terms = []
        if terms:
            yield (), "list", bullets(terms)

    def _defined(self, term: str, nodes: Sequence[Node]) -> Iterator[Found]:
        meaning = self.text(nodes, "\n\n")
        if len(meaning) <= LONGEST_MEANING or not term:
            yield (), "definition", definition(term, meaning) if term else meaning
            return
        for below, kind, text in self.flow(nodes):
            yield (term[:LONGEST_TERM], *below), kind, text

    def _box(self, classes: set[str], nodes: Sequence[Node]) -> Iterator[Found]:
        if classes & _SKIPPED:
            return
        if named := classes & _NOTES:
            titles = [each for each in nodes if each["t"] == "Div" and "title" in each["c"][0][1]]
            heading = paragraph(" ".join(self.text(each["c"][1]) for each in titles)) or min(named)
            body = self.text([each for each in nodes if each not in titles])
            yield (), "note", f"{heading[:1].upper()}{heading[1:]}: {body}"
        elif classes & _TERMS and nodes and nodes[0]["t"] in ("Para", "Plain"):
            yield from self._defined(paragraph(self.line(nodes[0]["c"])), nodes[1:])
        else:
            yield from self.flow(nodes)

    def _table(self, content: Sequence[Any]) -> str:
        _, _, _, (_, head), bodies, (_, foot) = content
        first = [self._row(row) for row in head]
        others = [self._row(row) for _, _, inner, body in bodies for row in (*inner, *body)]
        lines = rows([*first, *others, *map(self._row, foot)])
        if not first and len(lines) > 1:
            first = [[]]  # a table without a header still begins with one more often than not
        return table(lines[1:], lines[0]) if first and len(lines) > 1 else table(lines)

    def _row(self, row: Any) -> list[Cell]:
        return [
            Cell(in_cell(self.text(cell)), (), columns=min(columns, 63), rows=min(spanned, 1000))
            for _, _, spanned, columns, cell in row[1]
        ]


def _spaced(formula: str) -> str:
    return re.sub(r"(?:\\ |[^\S\n])+", " ", formula)


def _of_tex(source: str, text: str) -> str:
    """The words of TeX whose commands pandoc does not know; empty for numbers and lengths, and for other sources."""
    words = _MARKUP.sub(" ", text) if source in ("latex", "tex") else ""
    return words if _WORD.search(words) else ""
