"""PDF: the text layer, page after page, and OCR of pages that have none."""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import date
from itertools import islice
from pathlib import PurePath
from time import monotonic
from typing import BinaryIO

import pypdfium2.raw as pdfium
from pypdfium2 import PdfDocument, PdfiumError

from surefoot.documents.loaders import MAX_BYTES, Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders._ocr import picture_text
from surefoot.documents.loaders._pdf_layout import Heading, laid_out
from surefoot.documents.loaders._pdf_lines import Line, lines
from surefoot.documents.loaders._pdf_order import by_place
from surefoot.documents.loaders._pdf_rules import frames
from surefoot.documents.loaders._pdf_tables import ruled
from surefoot.documents.page_picture import drawn
from surefoot.text.blocks import blocks
from surefoot.types.metadata import NO_META, Meta

_HEADINGS = 20_000
"""Entries of an outline that are read, at most."""
OCR_SECONDS = 200
"""After which no further page is read by OCR: `limits.silent_seconds` is 300 or more."""
_NAMED = 8
"""Pages that a problem names."""
_NAMELESS = ("(anonymous)", "untitled", "unknown")
"""Titles that programs give by themselves."""
_FIRST_DAY = date(1993, 6, 15)
"""Before it there was no PDF."""
_Y_OF = {pdfium.PDFDEST_VIEW_XYZ: 1, pdfium.PDFDEST_VIEW_FITH: 0, pdfium.PDFDEST_VIEW_FITBH: 0}
"""By the kind of a link's target, which of its numbers is the height."""


class PdfLoader:
    """Reads the text layer of a PDF, with its outline as paths and the numbers of pages as places."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document; what is damaged, or scanned and not read, is a problem, and the other pages
        are read.

        PDFium is not safe for threads: no two of a process may read at a time.
        """
        content = stream.read()
        try:
            pdf = PdfDocument(content)
        except PdfiumError as error:
            if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
                raise Unreadable("is encrypted; save a copy without a password") from error
            raise Unreadable("is a damaged PDF; print it to a new PDF") from error
        with pdf:
            pdf.init_forms()
            pages: list[list[Line]] = []
            scanned: list[int] = []
            size = 0
            for number in range(len(pdf)):
                try:
                    found, is_picture = _page(pdf, number)
                    scanned += [number + 1] * is_picture
                except PdfiumError:
                    found = []
                    yield DocumentProblem(f"page {number + 1} is damaged; print the file to a new PDF")
                pages.append(found)
                size += sum(len(line.text) for line in found)
                if size > MAX_BYTES:
                    raise Unreadable("unpacks to more than is safe to hold; split it")
            outline = list(_outline(pdf))
            meta = _modified(pdf)
            title = pdf.get_metadata_value("Title").strip().removeprefix("Microsoft Word - ")
        recognized, problems = _recognized(content, scanned)
        if not size and not recognized:
            raise Unreadable(f"has no text layer, it is scanned; {problems[0] if problems else 'run OCR over it'}")
        for problem in problems:
            yield DocumentProblem(problem)
        title = "" if title.lower() in _NAMELESS else title.removesuffix(".docx").removesuffix(".doc")
        whole = sorted(
            [*laid_out(pages, outline), *recognized], key=lambda block: int(block.place.removeprefix("page="))
        )
        yield Document("", title or PurePath(name).stem, tuple(whole), meta=meta)


def _modified(pdf: PdfDocument) -> Meta:
    """The day on which the file was changed, else made, as a field; programs without a clock say 1970 or 1980."""
    texts = (pdf.get_metadata_value(name).removeprefix("D:")[:8] for name in ("ModDate", "CreationDate"))
    with suppress(ValueError):
        if (day := date.fromisoformat(next(filter(None, texts), ""))) >= _FIRST_DAY:
            return Meta({"modified": str(day)})
    return NO_META


def _page(pdf: PdfDocument, number: int) -> tuple[list[Line], bool]:
    """The lines of a page with what its form's fields hold, and whether it is a picture. Raises PdfiumError."""
    if pdf.formenv:
        with closing(pdf[number]) as page:
            page.flatten()
    with closing(pdf[number]) as page:
        between = frames(page)
        found = lines(page, between)
        pictures = () if found else page.get_objects([pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=2)
        return ruled(by_place(found) if pdf.formenv else found, between), any(True for _ in pictures)


def _recognized(content: bytes, pages: Sequence[int]) -> tuple[list[Block], list[str]]:
    """The blocks that OCR finds on scanned pages, and why others are not read."""
    found: list[Block] = []
    ends = monotonic() + OCR_SECONDS
    for n, page in enumerate(pages):
        try:
            if monotonic() > ends:
                raise Unreadable(f"took longer than {OCR_SECONDS} s to read so far; run ocrmypdf over the file")
            found += blocks(picture_text(drawn(content, page)), f"page={page}")
        except Unreadable as error:
            numbers = ", ".join(map(str, pages[n : n + _NAMED])) + (" …" if len(pages) > n + _NAMED else "")
            return found, [f"page {numbers} {error}"]
    return found, []


def _outline(pdf: PdfDocument) -> Iterator[Heading]:
    for entry in islice(pdf.get_toc(), _HEADINGS):
        target = entry.get_dest()
        page = target.get_index() if target else None
        title = " ".join(entry.get_title().split())
        if target and page is not None and title:
            mode, numbers = target.get_view()
            at = _Y_OF.get(mode)
            yield Heading(entry.level, title, page, numbers[at] if at is not None and len(numbers) > at else None)
