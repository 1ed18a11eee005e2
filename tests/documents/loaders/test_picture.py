"""What is read out of a picture."""

import io

import pytest

from surefoot.documents.loaders import Block, Document, Unreadable, loader_of, picture, read


@pytest.mark.parametrize("name", ["hut.png", "hut.JPG", "hut.jpeg"])
def test_a_picture_is_read_by_its_suffix(name):
    """As scans and cameras name them."""
    assert loader_of(name) == "picture"


def test_a_pictures_paragraphs_are_blocks(monkeypatch):
    """Under the file's name."""
    monkeypatch.setattr(picture, "picture_text", lambda content: content.decode() + "\n\nIn May.")
    (document,) = read(io.BytesIO(b"Open."), "hut.png")
    assert document == Document("", "hut", (Block("Open."), Block("In May.")))


def test_a_picture_without_text_is_refused(monkeypatch):
    """It is named among what was not read."""
    monkeypatch.setattr(picture, "picture_text", lambda content: " \n")
    with pytest.raises(Unreadable, match="finds no text"):
        list(read(io.BytesIO(b"x"), "hut.png"))
