"""A page of a PDF as a picture."""

import zlib
from struct import unpack

import pytest

from documents.loaders.test_pdf import pdf
from surefoot.documents.loaders import Unreadable
from surefoot.documents.page_picture import LONGEST, drawn
from surefoot.documents.reading import Request
from surefoot.index.readers import READERS


@pytest.mark.parametrize("page", [0, 3, 10**9])
def test_a_page_that_is_not_there_is_no_picture(page: int) -> None:
    """The error says how many there are."""
    with pytest.raises(Unreadable, match="has 2 pages"):
        drawn(PDF, page)


PDF = pdf([(50, 100, "Huts")], [])
"""Two pages of 600 by 800 points, with letters in the lower half of the first."""


def test_a_page_is_drawn_as_a_png() -> None:
    """Twice as many pixels as points, dark where there are letters and white elsewhere."""
    picture = drawn(PDF, 1)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert unpack(">II", picture[16:24]) == (1200, 1600)
    start = picture.index(b"IDAT")
    rows = zlib.decompress(picture[start + 4 : start + 4 + unpack(">I", picture[start - 4 : start])[0]])
    upper, lower = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    assert {*upper} == {0, 255}  # each row begins with the number of its filter
    assert upper.count(0) == 800
    assert lower.count(0) > 800


def test_a_huge_page_is_no_huge_picture() -> None:
    """The longer side has so many pixels at most."""
    assert max(unpack(">II", drawn(PDF.replace(b"[0 0 600 800]", b"[0 0 9999 99]"), 1)[16:24])) <= LONGEST


def test_it_is_drawn_in_a_process_of_its_own() -> None:
    """What is no PDF is an error there, and this process goes on."""
    asked = Request("x.pdf", "", len(PDF), body=PDF, picture=2)
    assert READERS.picture(asked, 60).startswith(b"\x89PNG")
    with pytest.raises(Unreadable):
        READERS.picture(Request("x.pdf", "", 4, body=b"nope", picture=1), 60)
