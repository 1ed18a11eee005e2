"""Word documents: paragraphs and tables in their order, headings as sections."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO
from zipfile import BadZipFile, ZipFile

import docx
from docx.document import Document as Word
from docx.opc.exceptions import OpcError
from docx.oxml.ns import nsmap
from docx.table import Table
from docx.text.paragraph import Paragraph
from lxml.etree import LxmlError, XPath

from surefoot.corpus.loaders import MAX_BYTES, Document, DocumentProblem, Unreadable

# Raised by python-docx and zipfile on damaged files, found by flipping and cutting bytes; RuntimeError is a password.
_COMMON = (AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_DAMAGE = (OpcError, LxmlError, BadZipFile, zlib.error, *_COMMON)

_VANISHES = "w:vanish[not(@w:val) or not(contains('|0|false|off|', concat('|', @w:val, '|')))]"
_HIDDEN = XPath(f".//w:r[w:rPr/{_VANISHES}]", namespaces=nsmap)
_HIDING = XPath(f"w:style[w:rPr/{_VANISHES}]/@w:styleId", namespaces=nsmap)


class DocxLoader:
    """Reads Word documents."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document, titled by its properties, else by its first heading."""
        try:
            _refuse_a_bomb(stream)
            word = docx.Document(stream)
            _drop_hidden(word)
            blocks = [block for block in _blocks(word) if block[0].strip()]
            title = word.core_properties.title
        except _DAMAGE as error:
            raise Unreadable(
                f"is a damaged or locked Word document ({type(error).__name__}); save it again without a password"
            ) from error
        if not blocks:
            raise Unreadable("holds no text")
        yield _document(title or "", blocks, PurePath(name).stem)


def _refuse_a_bomb(stream: BinaryIO) -> None:
    with ZipFile(stream) as archive:
        texts = sum(part.file_size for part in archive.infolist() if part.filename.endswith((".xml", ".rels")))
    if texts > MAX_BYTES:
        raise Unreadable("unpacks to more than is safe to hold; split it")
    stream.seek(0)


def _drop_hidden(word: Word) -> None:
    """Remove the runs that Word does not show: hidden themselves, or by their style."""
    for hidden in _HIDDEN(word.element.body):
        hidden.getparent().remove(hidden)
    styles = set(_HIDING(word.styles.element))
    for run in word.element.body.xpath(".//w:r") if styles else ():
        named = run.xpath("w:rPr/w:rStyle/@w:val | ancestor::w:p[1]/w:pPr/w:pStyle/@w:val")
        if styles.intersection(named) and not run.xpath("w:rPr/w:vanish"):
            run.getparent().remove(run)


def _blocks(word: Word) -> Iterator[tuple[str, bool]]:
    """Each paragraph or table as text, and whether it is a heading."""
    for block in word.iter_inner_content():
        if isinstance(block, Table):
            rows = (dict.fromkeys(row.cells) for row in block.rows)  # a merged cell comes once a column that it spans
            yield "\n".join(" | ".join(cell.text.strip() for cell in row) for row in rows), False
        else:
            yield block.text, _is_heading(block)


def _is_heading(paragraph: Paragraph) -> bool:
    style = paragraph.style.name if paragraph.style else None
    return bool(style) and str(style).startswith(("Heading", "Title"))


def _document(title: str, blocks: list[tuple[str, bool]], stem: str) -> Document:
    sections, at = [], 0
    for text, is_heading in blocks:
        if is_heading:
            sections.append((at, text.strip()))
        at += len(text) + 2
    first = sections[0][1] if sections else stem
    return Document("", title.strip() or first, "\n\n".join(text for text, _ in blocks), sections=tuple(sections))
