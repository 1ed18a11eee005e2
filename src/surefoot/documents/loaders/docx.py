"""Word documents: paragraphs, lists, tables, code and notes in their order, under their headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath
from typing import BinaryIO

import docx
from docx.document import Document as Word
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml.ns import nsmap, qn
from docx.oxml.parser import parse_xml
from lxml.etree import XPath, _Element

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE, refuse_a_bomb
from surefoot.documents.loaders._headings import OpenHeadings
from surefoot.text.blocks import code, paragraph, table
from surefoot.types import BlockKind

_VANISHES = "w:vanish[not(@w:val) or not(contains('|0|false|off|', concat('|', @w:val, '|')))]"
_HIDDEN = XPath(f".//w:r[w:rPr/{_VANISHES}]", namespaces=nsmap)
_HIDING = XPath(f"w:style[w:rPr/{_VANISHES}]/@w:styleId", namespaces=nsmap)
_RUNS = XPath(".//w:r", namespaces=nsmap)
_STYLED = XPath("w:rPr/w:rStyle/@w:val | ancestor::w:p[1]/w:pPr/w:pStyle/@w:val", namespaces=nsmap)
_SHOWN = XPath("w:rPr/w:vanish", namespaces=nsmap)
_STYLE = XPath("string(w:pPr/w:pStyle/@w:val)", namespaces=nsmap)
_OUTLINE = XPath("string(w:pPr/w:outlineLvl/@w:val)", namespaces=nsmap)
_NUMBERING = XPath("w:pPr/w:numPr", namespaces=nsmap)
_NOTED = XPath(".//w:footnoteReference/@w:id | .//w:endnoteReference/@w:id", namespaces=nsmap)
_FONTS = XPath(".//w:r[w:t]/w:rPr/w:rFonts/@w:ascii", namespaces=nsmap)
_STYLE_FONT = XPath("w:rPr/w:rFonts/@w:ascii", namespaces=nsmap)
_TEXT_RUNS = XPath("count(.//w:r[w:t])", namespaces=nsmap)

_NAMED_HEADING = re.compile(r"heading (\d)")
_CODE = re.compile(r"code|preformatted|source|listing|verbatim|macro text")
_MONO = re.compile(r"mono|courier|consolas|menlo|monaco|inconsolata|code", re.IGNORECASE)
_SKIPPED = frozenset(
    [qn(name) for name in ("w:pPr", "w:rPr", "w:del", "w:moveFrom", "w:txbxContent")]
    + ["{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"]
)
_MARKS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_BODY_TEXT = 9
"""The outline level that Word writes for what is no heading."""
_COLUMNS = 63
"""Columns of a table that a cell may span, at most."""


class DocxLoader:
    """Reads Word documents, with their headings as paths."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its properties, else by its first heading."""
        try:
            refuse_a_bomb(stream)
            word = docx.Document(stream)
            blocks = tuple(_Reading(word).blocks())
            title = word.core_properties.title
        except (OpcError, *DAMAGE) as error:
            raise Unreadable(
                f"is a damaged or locked Word document ({type(error).__name__}); save it again without a password"
            ) from error
        if not blocks:
            raise Unreadable("holds no text")
        named = (
            block.path[0] if block.path else block.text for block in blocks if block.path or block.kind == "caption"
        )
        yield Document("", (title or "").strip() or next(named, "") or PurePath(name).stem, blocks)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A paragraph or table."""

    kind: BlockKind
    text: str
    level: int | None = None
    """Of a heading; None: it is none."""
    noted: tuple[str, ...] = ()
    """The numbers of its footnotes."""


@dataclass(slots=True)
class _Style:
    name: str = ""
    level: int | None = None
    numbered: str | None = None
    """The list that its paragraphs are in; None: none."""
    depth: int = 0
    mono: bool = False


@dataclass(slots=True)
class _Reading:
    """The reading of one document."""

    word: Word
    _styles: dict[str, _Style] = field(default_factory=dict)
    _notes: dict[str, str] = field(default_factory=dict)
    _counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    _ordered: dict[tuple[str, int], bool] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block]:
        """The blocks, each under its headings; a heading with nothing below it is a caption."""
        body = self.word.element.body
        hiding = set(_HIDING(self.word.styles.element))
        _drop_hidden(body, hiding)
        self._know_styles()
        self._know_lists()
        self._know_notes(hiding)
        headings = OpenHeadings()
        pieces = (piece for element in _flowing(body) for piece in self._pieces(element) if piece.text.strip())
        for (kind, level), same in groupby(pieces, lambda piece: (piece.kind, piece.level)):
            if level is None:
                yield from self._written(kind, list(same), headings.path())
            else:
                for piece in same:
                    yield from headings.enter(level, paragraph(piece.text))
        yield from headings.close()

    def _written(self, kind: BlockKind, run: list[_Piece], path: tuple[str, ...]) -> Iterator[Block]:
        """The blocks of pieces of one kind: items make a list, lines make code."""
        for pieces in [run] if kind in ("list", "contents", "code") else [[piece] for piece in run]:
            text = "\n".join(piece.text for piece in pieces)
            yield Block(code(text) if kind == "code" else text, kind, path)
            notes = (self._notes.get(number) for piece in pieces for number in piece.noted)
            yield from (Block(note, "note", path) for note in notes if note)

    def _pieces(self, element: _Element) -> Iterator[_Piece]:
        noted = tuple(f"{reference.getparent().tag}{reference}" for reference in _NOTED(element))
        if element.tag == qn("w:tbl"):
            yield _Piece("table", _table(element), None, noted)
        else:
            yield self._paragraph(element, noted)

    def _paragraph(self, element: _Element, noted: tuple[str, ...]) -> _Piece:
        style = self._styles.get(_STYLE(element)) or self._styles.get("", _Style())
        text = _text(element)
        outline = _OUTLINE(element)
        level = int(outline) if outline.isdigit() and int(outline) < _BODY_TEXT else style.level
        if level is not None and text.strip():
            return _Piece("paragraph", text, level, noted)
        if style.name.startswith("toc ") and style.name != "toc heading":
            return _Piece("contents", f"- {paragraph(text)}" if text.strip() else "", None, noted)
        if _CODE.search(style.name) or style.mono or _is_mono(element):
            return _Piece("code", text, None, noted)
        numbering, depth = self._list_of(element, style)
        if numbering is not None and text.strip():
            return _Piece("list", self._item(text, numbering, depth), None, noted)
        return _Piece("caption" if style.name == "caption" else "paragraph", paragraph(text), None, noted)

    def _list_of(self, element: _Element, style: _Style) -> tuple[str | None, int]:
        """The list that a paragraph is an item of, and how deep; None: none."""
        for numbering in _NUMBERING(element):
            number = numbering.find(qn("w:numId"))
            depth = numbering.find(qn("w:ilvl"))
            named = number.get(qn("w:val")) if number is not None else style.numbered
            level = depth.get(qn("w:val"), "0") if depth is not None else str(style.depth)
            return (None if named == "0" else named), min(int(level) if level.isdigit() else 0, 9)
        return style.numbered, style.depth

    def _item(self, text: str, numbering: str, depth: int) -> str:
        for deeper in range(depth + 1, 10):
            self._counts.pop((numbering, deeper), None)
        self._counts[numbering, depth] += 1
        mark = f"{self._counts[numbering, depth]}." if self._ordered.get((numbering, depth)) else "-"
        indent = "  " * depth
        lines = [line.strip() for line in text.strip().split("\n")]
        return f"{indent}{mark} " + f"\n{indent}  ".join(filter(None, lines))

    def _know_styles(self) -> None:
        for style in self.word.styles.element.findall(qn("w:style")):
            if style.get(qn("w:type")) != "paragraph":
                continue
            based = style.find(qn("w:basedOn"))
            above = self._styles.get(based.get(qn("w:val"), "")) if based is not None else None
            named = style.find(qn("w:name"))
            name = (named.get(qn("w:val")) or "" if named is not None else "").lower()
            known = _Style(name, *((above.level, above.numbered, above.depth, above.mono) if above else ()))
            outline, heading = _OUTLINE(style), _NAMED_HEADING.fullmatch(name)
            if name == "title":
                known.level = 0
            elif heading:
                known.level = int(heading[1])
            elif outline.isdigit():
                known.level = int(outline) + 1 if int(outline) < _BODY_TEXT else None
            known.numbered, known.depth = self._list_of(style, known)
            known.mono = known.mono or any(map(_MONO.search, _STYLE_FONT(style)))
            self._styles[style.get(qn("w:styleId"), "")] = known
            if style.get(qn("w:default")) in ("1", "true"):
                self._styles[""] = known

    def _know_lists(self) -> None:
        try:
            numbering = self.word.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return
        abstract = {each.get(qn("w:abstractNumId")): each for each in numbering.findall(qn("w:abstractNum"))}
        for number in numbering.findall(qn("w:num")):
            kept = number.find(qn("w:abstractNumId"))
            form = abstract.get(kept.get(qn("w:val"))) if kept is not None else None
            for level in form.findall(qn("w:lvl")) if form is not None else ():
                kind, depth = level.find(qn("w:numFmt")), level.get(qn("w:ilvl"), "")
                said = kind.get(qn("w:val")) if kind is not None else "decimal"
                if depth.isdigit():
                    self._ordered[number.get(qn("w:numId"), ""), int(depth)] = said not in ("bullet", "none")

    def _know_notes(self, hiding: set[str]) -> None:
        for kind, name in ((RELATIONSHIP_TYPE.FOOTNOTES, "footnote"), (RELATIONSHIP_TYPE.ENDNOTES, "endnote")):
            related = [each for each in self.word.part.rels.values() if each.reltype == kind and not each.is_external]
            for each in related:
                notes = parse_xml(each.target_part.blob)
                _drop_hidden(notes, hiding)
                for note in notes.findall(qn(f"w:{name}")):
                    text = " ".join(_text(line) for line in note.iter(qn("w:p")))
                    self._notes[f"{qn(f'w:{name}Reference')}{note.get(qn('w:id'))}"] = paragraph(text)


def _drop_hidden(root: _Element, hiding: set[str]) -> None:
    """Remove the runs that Word does not show: hidden themselves, or by their style."""
    for hidden in _HIDDEN(root):
        hidden.getparent().remove(hidden)
    for run in _RUNS(root) if hiding else ():
        if hiding.intersection(_STYLED(run)) and not _SHOWN(run):
            run.getparent().remove(run)


def _flowing(parent: _Element) -> Iterator[_Element]:
    """The paragraphs and tables, in their order, those in controls and text boxes too; not those in tables."""
    for element in parent:
        if element.tag == qn("w:tbl"):
            yield element
        elif element.tag == qn("w:p"):
            yield element
            for box in element.iter(qn("w:txbxContent")):
                if not any(above.tag in _SKIPPED for above in box.iterancestors() if above is not element):
                    yield from _flowing(box)
        elif element.tag not in _SKIPPED:
            yield from _flowing(element)


def _text(element: _Element) -> str:
    return "".join(_letters(element))


def _letters(element: _Element) -> Iterator[str]:
    for child in element:
        if child.tag == qn("w:t"):
            yield child.text or ""
        elif child.tag in _MARKS:
            yield _MARKS[child.tag]
        elif child.tag not in _SKIPPED:
            yield from _letters(child)


def _is_mono(element: _Element) -> bool:
    """Whether each run of a paragraph names a monospaced font."""
    fonts = _FONTS(element)
    return bool(fonts) and len(fonts) == _TEXT_RUNS(element) and all(map(_MONO.search, fonts))


def _table(element: _Element) -> str:
    rows = []
    for row in element.iter(qn("w:tr")):
        if next(row.iterancestors(qn("w:tbl"))) is element:
            cells: list[str] = []
            for cell in row.iter(qn("w:tc")):
                if next(cell.iterancestors(qn("w:tr"))) is row:
                    cells += [_cell(cell), *[""] * (min(_span(cell), _COLUMNS) - 1)]
            rows.append(cells)
    if not rows:
        return ""
    return table(rows[1:], rows[0]) if len(rows) > 1 else table(rows)


def _cell(cell: _Element) -> str:
    return " ".join(filter(None, (_text(line).strip() for line in cell.iter(qn("w:p")))))


def _span(cell: _Element) -> int:
    span = cell.find(f"{qn('w:tcPr')}/{qn('w:gridSpan')}")
    said = span.get(qn("w:val"), "1") if span is not None else "1"
    return int(said) if said.isdigit() and len(said) < 9 else 1
