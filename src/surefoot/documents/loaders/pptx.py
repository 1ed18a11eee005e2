"""PowerPoint presentations: what stands on each slide, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import BinaryIO

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn
from pptx.shapes.base import BaseShape
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.table import Table
from pptx.text.text import TextFrame, _Paragraph

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._archives import DAMAGE, refuse_a_bomb
from surefoot.text.blocks import paragraph, table
from surefoot.types import BlockKind

_OUTLINED = (PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT, PP_PLACEHOLDER.VERTICAL_BODY, PP_PLACEHOLDER.VERTICAL_OBJECT)
"""Places on a slide whose paragraphs have bullets unless they say otherwise."""
_NAMELESS = ("", "PowerPoint Presentation")
"""Titles that PowerPoint gives by itself."""


class PptxLoader:
    """Reads PowerPoint presentations, with the titles of slides as paths and their numbers as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; a hidden slide is a problem, and is not read."""
        try:
            refuse_a_bomb(stream)
            show = Presentation(stream)
            hidden = [n for n, slide in enumerate(show.slides, start=1) if slide.element.get("show") in ("0", "false")]
            blocks: list[Block] = []
            for number, slide in enumerate(show.slides, start=1):
                if number not in hidden:
                    blocks += _blocks(slide, number)
            title = (show.core_properties.title or "").strip()
        except (PythonPptxError, *DAMAGE) as error:
            raise Unreadable(
                f"is a damaged or locked PowerPoint file ({type(error).__name__}); save it again without a password"
            ) from error
        if hidden:
            yield DocumentProblem(f"slide {', '.join(map(str, hidden))} is hidden, and was not read")
        if not blocks:
            raise Unreadable("holds no text; export its pictures as a PDF, and run OCR over that")
        yield Document("", PurePath(name).stem if title in _NAMELESS else title, tuple(blocks))


def _blocks(slide: Slide, number: int) -> Iterator[Block]:
    title = slide.shapes.title
    heading = paragraph(title.text_frame.text) if title is not None else ""
    path, place = (heading or f"Slide {number}",), f"slide={number}"
    found = [
        block
        for shape in _shapes(slide.shapes)
        if shape.element is not getattr(title, "element", None)
        for block in _shown(shape)
    ]
    if heading and not found:
        yield Block(heading, "caption", (), place)
    for kind, text in found:
        if text.strip():
            yield Block(text, kind, path, place)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        for line in frame.paragraphs:
            if text := paragraph(line.text):
                yield Block(text, "note", path, place)


def _shapes(shapes: Iterable[BaseShape]) -> Iterator[BaseShape]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shown(shape: BaseShape) -> Iterator[tuple[BlockKind, str]]:
    """The kind and text of each block in a shape."""
    if shape.has_text_frame:
        yield from _written(shape.text_frame, shape.is_placeholder and shape.placeholder_format.type in _OUTLINED)
    elif shape.has_table:
        yield "table", _table(shape.table)
    else:
        for text in _diagram(shape):
            yield "paragraph", text


def _written(frame: TextFrame, outlined: bool) -> Iterator[tuple[BlockKind, str]]:
    items: list[str] = []
    for line in frame.paragraphs:
        text = paragraph(line.text)
        if text and _has_bullet(line, outlined):
            items.append(f"{'  ' * line.level}- {text}")
        elif text:
            if items:
                yield "list", "\n".join(items)
                items = []
            yield "paragraph", text
    if items:
        yield "list", "\n".join(items)


def _has_bullet(line: _Paragraph, outlined: bool) -> bool:
    own = line._p.pPr
    marks = {qn(f"a:{name}"): name != "buNone" for name in ("buChar", "buAutoNum", "buBlip", "buNone")}
    said = [marks[child.tag] for child in own if child.tag in marks] if own is not None else []
    return said[0] if said else outlined or line.level > 0


def _table(shown: Table) -> str:
    rows = [["" if cell.is_spanned else cell.text for cell in row.cells] for row in shown.rows]
    return table(rows[1:], rows[0]) if shown.first_row and len(rows) > 1 else table(rows)


def _diagram(shape: BaseShape) -> Iterator[str]:
    """The paragraphs of a SmartArt drawing, which stand in a part of their own."""
    for drawing in shape.element.iter("{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"):
        data = shape.part.rels.get(drawing.get(qn("r:dm"), ""))
        if data is not None and not data.is_external and data.reltype == RELATIONSHIP_TYPE.DIAGRAM_DATA:
            for line in parse_xml(data.target_part.blob).iter(qn("a:p")):
                yield paragraph("".join(text.text or "" for text in line.iter(qn("a:t"))))
