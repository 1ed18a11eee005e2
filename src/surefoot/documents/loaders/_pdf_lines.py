"""The lines of a PDF's pages, with where they stand and what they are set in."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

from surefoot.documents.loaders._pdf_rules import Frame

_LINE = re.compile(r"[^\r\n\ufffe]+")
_FIXED_PITCH = 1
_MONO = re.compile(
    rb"mono|courier|typewriter|consol|cursor|menlo|monaco|fixed|code|cm[sv]?tt|[es][cf]tt|nimbusmon|lmtt", re.I
)
_WORD = re.compile(r"[^\x00-\x20\x7f-\xa0\u2000-\u200a\u202f\u205f]+")
# Ligatures and presentation forms are ways to print letters. NFKC of all else would make 2 of ² and 1⁄2 of ½.
_LETTERS: dict[int, str | None] = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in (*range(0x2F00, 0x2FE0), *range(0xF900, 0xFE00), *range(0xFE70, 0xFF00))
    if unicodedata.category(chr(code)) in ("Lo", "Ll", "So")
}
_LETTERS |= dict.fromkeys((0xAD, 0x200B, 0x200C, 0x2060, 0xFEFF))
_NAMELESS = {0: 0x200B, 2: 0xFFFE, 3: 0x200B}
"""What PDFium calls a character without a name, and a hyphen that parts a word."""
_NAME_BYTES = 96
WIDE_GAP = 0.9
"""Heights of a line's letters from which a gap in it is wider than a space."""

_SPACE = 0.18
"""Heights of a line's letters by which a gap between two is wider than others where it is a space."""
_BELOW = 0.8
"""Heights of a line's letters from which a lower letter is in another line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text on a page; lengths are in points, and grow to the right and up."""

    text: str
    left: float
    right: float
    y: float
    """Its baseline."""
    size: float
    """Height of its letters with their ascent and descent."""
    font: bytes
    """Of its first letter."""
    mono: bool
    """Whether all of it is in a monospaced font."""
    hyphen: bool = False
    """Whether a hyphen behind its text parts a word, or two."""
    order: int = 0
    """How many pieces of its page are drawn before it."""
    parted: bool = False
    """Whether a gap wider than a space is in it, as between a label and what a form's field holds."""
    table: str = ""
    """Of all lines of a table as one, its rows as they are written."""


def joined(pieces: Sequence[Line]) -> Line:
    """Pieces side by side as one line."""
    text, size = " ".join(piece.text for piece in pieces), max(piece.size for piece in pieces)
    mono, last = all(piece.mono for piece in pieces), pieces[-1]
    parted = any(piece.left - before.right > WIDE_GAP * piece.size for before, piece in pairwise(pieces))
    return replace(pieces[0], text=text, right=last.right, size=size, mono=mono, hyphen=last.hyphen, parted=parted)


def lines(page: PdfPage, frames: Sequence[Frame]) -> list[Line]:
    """The text of a page in the order in which it is drawn, parted where a gap is wider than a space or columns of a
    frame end, without what stands outside of what the page shows."""
    left, bottom, right, top = page.get_bbox()
    with closing(page.get_textpage()) as text_page:
        found = [piece for piece in _lines(text_page, frames) if piece.right > left and piece.left < right]
    shown = (piece for piece in found if bottom - piece.size < piece.y < top)
    return [replace(piece, order=order) for order, piece in enumerate(shown)]


def _lines(page: PdfTextPage, frames: Sequence[Frame]) -> Iterator[Line]:
    codes = (pdfium.FPDFText_GetUnicode(page, index) for index in range(page.count_chars()))
    text = "".join(chr(_NAMELESS.get(code, code)) for code in codes)
    for match in _LINE.finditer(text):
        words = [part for word in _WORD.finditer(text, *match.span()) for part in _whole_words(page, *word.span())]
        pieces = [*_pieces(page, text, words, frames)]
        if pieces and text.startswith("\ufffe", match.end()):
            pieces[-1] = replace(pieces[-1], hyphen=True)
        yield from pieces


def _pieces(page: PdfTextPage, text: str, words: Sequence[tuple[int, int]], frames: Sequence[Frame]) -> Iterator[Line]:
    """The parts of a line between wide gaps and in columns of frames, and where PDFium takes two lines for one."""
    begin, size, right, low = 0, 0.0, 0.0, 0.0
    box, letter_box = pdfium.FS_RECTF(), pdfium.FPDFText_GetLooseCharBox
    for n, (start, end) in enumerate(words):
        letter_box(page, start, box)
        wide = low - box.bottom > _BELOW * size or not -size < box.left - right < WIDE_GAP * size
        if n and (wide or any(it.parts(right, box.left, (box.bottom + box.top) / 2, size) for it in frames)):
            yield from _piece(page, text, words[begin:n])
            begin = n
        size = size or box.top - box.bottom
        letter_box(page, end - 1, box)
        right, low = box.right, box.bottom
    yield from _piece(page, text, words[begin:])


def _whole_words(page: PdfTextPage, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What PDFium takes for a word, parted where a gap is a space wider than another between its letters, and where a
    line ends: it misses some spaces, and takes 50 above 5 for 505."""
    box, right, low = pdfium.FS_RECTF(), 0.0, 0.0
    gaps: list[tuple[float, float, float]] = []
    for index in range(start, end):
        pdfium.FPDFText_GetLooseCharBox(page, index, box)
        gaps.append((box.left - right, low - box.bottom, box.top - box.bottom))
        right, low = box.right, box.bottom
    least = max(0, min((gap for gap, _, _ in gaps[1:]), default=0))
    for index, (gap, below, size) in enumerate(gaps[1:], start=start + 1):
        if gap - least > _SPACE * size or below > _BELOW * size:
            yield start, index
            start = index
    yield start, end


def _piece(page: PdfTextPage, text: str, words: Sequence[tuple[int, int]]) -> Iterator[Line]:
    raw = " ".join(text[slice(*word)] for word in words).translate(_LETTERS)
    if clean := raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip():
        places = (words[0][0], words[len(words) // 2][0], words[-1][1] - 1)
        (left, *_), _, (_, right, *_) = boxes = [_box(page, place) for place in places]
        y, size = median(box[2] for box in boxes), max(1.0, median(box[3] for box in boxes))
        fonts = [_font(page, place) for place in places]
        yield Line(clean, left, right, y, size, fonts[0][0], all(mono for _, mono in fonts))


def _box(page: PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Of a letter, its left and right end, baseline and height."""
    box, x, y = pdfium.FS_RECTF(), ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetLooseCharBox(page, index, box)
    pdfium.FPDFText_GetCharOrigin(page, index, x, y)
    return box.left, box.right, y.value, box.top - box.bottom


def _font(page: PdfTextPage, index: int) -> tuple[bytes, bool]:
    """The font's name, and whether it is monospaced."""
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, _NAME_BYTES, flags)
    return name.value, bool(flags.value & _FIXED_PITCH or _MONO.search(name.value))
