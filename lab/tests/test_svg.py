"""A picture is written as what its name says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from surefoot.types.errors import MissingExtra, UsageError
from surefoot_lab.svg import box, picture, write_picture

SVG = picture(20, 10, ".a { fill: #d55e00 }", "A box", "An orange box.", [box(0, 0, 20, 10, "a")])


def test_svg_is_written_as_it_is(tmp_path: Path) -> None:
    """Whatever the case of the name's ending."""
    write_picture(tmp_path / "box.SVG", SVG)
    assert (tmp_path / "box.SVG").read_text() == SVG


def test_png_is_drawn_at_twice_the_size(tmp_path: Path) -> None:
    """By the numbers in the file's head."""
    pytest.importorskip("resvg_py", reason="needs the extra png")
    write_picture(tmp_path / "box.png", SVG)
    data = (tmp_path / "box.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert [int.from_bytes(data[at : at + 4]) for at in (16, 20)] == [40, 20]


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no file is begun."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.delitem(sys.modules, "surefoot_lab.png", raising=False)
    with pytest.raises(MissingExtra, match=r"surefoot\[png\]"):
        write_picture(tmp_path / "box.png", SVG)
    assert list(tmp_path.iterdir()) == []


def test_another_name_is_refused(tmp_path: Path) -> None:
    """With the names that can be."""
    with pytest.raises(UsageError, match=r"\.svg or \.png, and box.jpg"):
        write_picture(tmp_path / "box.jpg", SVG)
