"""Files that are damaged: an archive, or a mail, with other bytes in place of some of its own."""

import io
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from documents.loaders import test_eml, test_epub, test_pdf, test_powerpoint, test_word, test_xlsx
from surefoot.documents.loaders import Unreadable, read

WHOLE = {
    "x.docx": test_word.word(lambda document: document.add_paragraph("The glacier")),
    "x.pptx": test_powerpoint.show(("Huts", [("Open", 0)])),
    "x.xlsx": test_xlsx.book(Huts=[["Hut", "Beds"], ["Lower", 40]]),
    "x.epub": test_epub.book({"ice.xhtml": test_epub.ICE}),
    "x.pdf": test_pdf.pdf(test_pdf.typed("The glacier"), outline=[("Ice", 0, 700)]),
    "x.eml": test_eml.mail("Forty beds.", "<p>Other.</p>"),
}
NO_BOOK = test_epub.book({"ice.xhtml": test_epub.ICE}, **{"META-INF/container.xml": "<container/>"})


CUT_OFF = [(name, WHOLE[name][:-400]) for name in ("x.docx", "x.pptx", "x.xlsx", "x.epub")]


@pytest.mark.parametrize(
    ("name", "content"),
    [*CUT_OFF, *((name, b"junk") for name, _ in CUT_OFF), ("x.epub", NO_BOOK), ("x.pdf", b"%PDF-1.7 and")],
)
def test_a_damaged_archive_is_refused_with_what_to_do(name, content):
    """Cut off, no archive at all, or one without a book."""
    with pytest.raises(Unreadable, match=r"damaged.*(?:save it again|convert it|print it)"):
        list(read(io.BytesIO(content), name))


LARGE = "0" * 100_000_001
TOO_LARGE = [
    ("x.docx", "word/document.xml"),
    ("x.xlsx", "xl/worksheets/sheet1.xml"),
    ("x.epub", "OEBPS/ice.xhtml"),
    ("x.epub", "META-INF/container.xml"),
]


@pytest.mark.parametrize(("name", "part"), TOO_LARGE)
def test_an_archive_that_unpacks_to_too_much_is_refused(name, part):
    """The sizes that it declares are enough to say so."""
    with pytest.raises(Unreadable, match="safe"):
        list(read(io.BytesIO(test_xlsx.changed(WHOLE[name], part, LARGE)), name))


WITHOUT_TEXT = {
    **dict.fromkeys(("x.txt", "x.md", "x.html", "x.rst", "x.adoc", "x.tex", "x.org"), (b" \n", "no text")),
    "x.docx": (test_word.word(lambda document: None), "no text.*OCR"),
    "x.pptx": (test_powerpoint.show(), "no text.*OCR"),
    "x.xlsx": (test_xlsx.book(Huts=[["=1+1"]]), "no text.*formulas"),
    "x.epub": (test_epub.book({"x.xhtml": test_epub.page("Cover", "")}, title="Cover"), "no text.*OCR"),
}


@pytest.mark.parametrize("name", WITHOUT_TEXT)
def test_a_file_without_text_is_refused_with_what_to_do(name):
    """An empty document is never indexed in silence."""
    content, reason = WITHOUT_TEXT[name]
    with pytest.raises(Unreadable, match=reason):
        list(read(io.BytesIO(content), name))


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=100, deadline=None)
@given(place=st.integers(0, 10_000), junk=st.binary(min_size=1, max_size=8), cut=st.booleans())
def test_a_damaged_file_is_read_or_refused(name, place, junk, cut):
    """Nothing that it holds gets out as another error."""
    whole = WHOLE[name]
    place %= len(whole)
    with suppress(Unreadable):
        list(read(io.BytesIO(whole[:place] + junk + (b"" if cut else whole[place + len(junk) :])), name))
