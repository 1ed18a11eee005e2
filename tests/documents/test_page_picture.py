"""A page of a PDF as a picture."""

from __future__ import annotations

import zlib
from pathlib import Path
from struct import unpack

import pytest

from surefoot.documents.loaders import Unreadable
from surefoot.documents.page_picture import LONGEST, drawn
from surefoot.documents.reading import Request
from surefoot.index.readers import READERS


def blank(width: int = 300, height: int = 200, pages: int = 2) -> bytes:
    """A PDF of empty pages, with a black square in the corner of each."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(pages))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>"]
    for n in range(pages):
        box = f"/MediaBox [0 0 {width} {height}] /Contents {4 + 2 * n} 0 R"
        objects += [f"<< /Type /Page /Parent 2 0 R {box} >>", "<< /Length 14 >>\nstream\n0 0 50 50 re f\nendstream"]
    out, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n{tail}".encode()


def test_a_page_is_drawn_as_a_png() -> None:
    """Twice as many pixels as points, black below on the left and white elsewhere."""
    picture = drawn(blank(), 1)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = unpack(">II", picture[16:24])
    assert (width, height) == (600, 400)
    start = picture.index(b"IDAT")
    rows = zlib.decompress(picture[start + 4 : start + 4 + unpack(">I", picture[start - 4 : start])[0]])
    line = 1 + 3 * width
    assert rows[line * 399 : line * 399 + 4] == b"\0\0\0\0"
    assert rows[1:4] == b"\xff\xff\xff"


def test_a_huge_page_is_no_huge_picture() -> None:
    """The longer side has so many pixels at most."""
    assert max(unpack(">II", drawn(blank(14_000, 100), 1)[16:24])) <= LONGEST


@pytest.mark.parametrize("page", [0, 3, 10**9])
def test_a_page_that_is_not_there_is_no_picture(page: int) -> None:
    """The error says how many there are."""
    with pytest.raises(Unreadable, match="has 2 pages"):
        drawn(blank(), page)


def test_it_is_drawn_in_a_process_of_its_own() -> None:
    """What is no PDF is an error there, and this process goes on."""
    content = blank()
    asked = Request("x.pdf", "", len(content), body=content, picture=2)
    assert READERS.picture(asked, 60).startswith(b"\x89PNG")
    with pytest.raises(Unreadable):
        READERS.picture(Request("x.pdf", "", 4, body=b"nope", picture=1), 60)


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture is bytes in memory."""
    monkeypatch.chdir(tmp_path)
    drawn(blank(), 1)
    assert list(tmp_path.iterdir()) == []
