"""The lines of a PDF's pages, with where they stand and what they are set in."""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage, PdfTextPage

_LINE = re.compile(r"[^\r\n\ufffe]+")
_FIXED_PITCH = 1
_MONO = re.compile(
    r"mono|courier|typewriter|consol|cursor|menlo|monaco|fixed|code|cm[sv]?tt|[es][cf]tt|nimbusmon|lmtt", re.I
)
_SPACES = re.compile(r"[\x00-\x20\x7f-\xa0\u2000-\u200a\u202f\u205f]+")
_RANGES = ((0xFB00, 0xFB50), (0x2F00, 0x2FE0), (0xF900, 0xFB00), (0xFB50, 0xFE00), (0xFE70, 0xFF00))
# Ligatures and presentation forms are ways to print letters. NFKC of all else would make 2 of ² and 1⁄2 of ½.
_LETTERS: dict[int, str | None] = {
    code: unicodedata.normalize("NFKC", chr(code))
    for start, end in _RANGES
    for code in range(start, end)
    if unicodedata.category(chr(code)) in ("Lo", "Ll", "So")
}
_LETTERS |= dict.fromkeys((0xAD, 0x200B, 0x200C, 0x2060, 0xFEFF))
_NAME_BYTES = 96
WIDE_GAP = 0.9
"""Heights of a line's letters from which a gap in it is wider than a space."""


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
    font: str
    """Of its first letter."""
    mono: bool
    """Whether all of it is in a monospaced font."""
    hyphen: bool = False
    """Whether a hyphen behind its text parts a word, or two."""
    pieces: tuple[Line, ...] = ()
    """Its parts, where gaps wider than a space part it, as those between columns do."""
    cells: tuple[str, ...] = ()
    """Of a row of a table, the text in each column."""


def lines(page: PdfPage) -> list[Line]:
    """The lines of a page in the order in which it draws them, without those outside of what it shows."""
    text_page = page.get_textpage()
    left, bottom, right, top = page.get_bbox()
    try:
        found = _lines(text_page)
        return [line for line in found if line.right > left and line.left < right and bottom - line.size < line.y < top]
    finally:
        text_page.close()


def _lines(page: PdfTextPage) -> Iterator[Line]:
    text, seen, units = page.get_text_range(errors="surrogatepass"), 0, 0
    for match in _LINE.finditer(text):
        units += _units(text[seen : match.start()])
        seen = match.start()
        clean = _cleaned(match[0])
        if clean:
            hyphen = text.startswith("\ufffe", match.end())
            line = _placed(page, clean, match[0], units, hyphen)
            yield line if line.mono else replace(line, pieces=_pieces(page, line, match[0], units))


def _pieces(page: PdfTextPage, line: Line, raw: str, start: int) -> tuple[Line, ...]:
    """The parts of a line between wide gaps; none where there is no such gap."""
    begin, left, found = len(raw) - len(raw.lstrip()), line.left, list[Line]()

    def part(text: str, right: float) -> Line:
        font, mono = _font(page, pdfium.FPDFText_GetCharIndexFromTextIndex(page, start + begin))
        return replace(line, text=_cleaned(text), left=left, right=right, font=font, mono=mono, hyphen=False)

    for gap in _SPACES.finditer(raw, begin, len(raw.rstrip())):
        ends = (pdfium.FPDFText_GetCharIndexFromTextIndex(page, start + at) for at in (gap.start() - 1, gap.end()))
        before, after = (_box(page, end) for end in ends)
        if after.left - before.right > WIDE_GAP * line.size:
            found.append(part(raw[begin : gap.start()], before.right))
            begin, left = gap.end(), after.left
    if not found:
        return ()
    last = replace(part(raw[begin:], line.right), hyphen=line.hyphen)
    return tuple(one for one in (*found, last) if one.text)


def _cleaned(raw: str) -> str:
    return _SPACES.sub(" ", raw.translate(_LETTERS)).strip()


def _units(text: str) -> int:
    """PDFium counts in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _placed(page: PdfTextPage, clean: str, raw: str, start: int, hyphen: bool) -> Line:
    first = len(raw) - len(raw.lstrip())
    last = max(first, len(raw.rstrip()) - 1)
    inner = (at for part in (1, 2, 3) if not raw[at := first + (last - first) * part // 4].isspace())
    places = [pdfium.FPDFText_GetCharIndexFromTextIndex(page, start + place) for place in (first, *inner, last)]
    boxes = [_box(page, place) for place in places]
    fonts = [_font(page, place) for place in places]
    return Line(
        clean,
        boxes[0].left,
        boxes[-1].right,
        median(_baseline(page, place) for place in places),
        median(box.top - box.bottom for box in boxes),
        fonts[0][0],
        all(mono for _, mono in fonts),
        hyphen,
    )


def _box(page: PdfTextPage, index: int) -> pdfium.FS_RECTF:
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(page, index, box)
    return box


def _baseline(page: PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(page, index, x, y)
    return y.value


def _font(page: PdfTextPage, index: int) -> tuple[str, bool]:
    """The font's name, and whether it is monospaced."""
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, _NAME_BYTES, flags)
    words, mono = _named(name.value)
    return words, mono or bool(flags.value & _FIXED_PITCH)


@lru_cache(maxsize=256)
def _named(name: bytes) -> tuple[str, bool]:
    words = name.decode("utf-8", "replace")
    return words, bool(_MONO.search(words))
