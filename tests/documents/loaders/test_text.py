"""Plain text, with and without a suffix, and compressed."""

import bz2
import gzip
import lzma

import pytest

from documents.loaders.opening import one, outline
from surefoot.documents import loaders
from surefoot.documents.loaders import Unreadable


def test_paragraphs_lists_and_indented_code_have_their_lines():
    """What stands four columns to the right of the rest is code."""
    text = "To push:\n\n    $ git push\n      origin\n\nOr:\n\n- one\n- two\n"
    assert outline(text, "x.txt") == [
        ("paragraph", "", "L1", "To push:"),
        ("code", "", "L3", "```\n$ git push\n  origin\n```"),
        ("paragraph", "", "L6", "Or:"),
        ("list", "", "L8", "- one\n- two"),
    ]


def test_a_text_that_is_indented_as_a_whole_is_no_code():
    """As many old ones are."""
    assert {kind for kind, *_ in outline("     One.\n\n     Two.\n", "x.txt")} == {"paragraph"}


@pytest.mark.parametrize("name", ["README", "LICENSE", "Makefile", "README.Debian"])
def test_a_file_without_a_suffix_is_read_if_it_is_text(name):
    """Nearly every project has one."""
    assert one("Forty beds.", name).text == "Forty beds."


@pytest.mark.parametrize("content", [b"\x7fELF\0", b"\xff\xfe\xfa", b"", b" \n"])
def test_a_file_without_a_suffix_that_is_no_text_is_not_read(content):
    """A program, or nothing."""
    with pytest.raises(Unreadable, match="not read"):
        one(content, "ls")


def test_a_character_at_the_cut_does_not_make_a_file_binary():
    """Only its start is looked at."""
    assert one("x" * (loaders.HEAD - 1) + "é", "README").text.endswith("é")


@pytest.mark.parametrize(("suffix", "packed"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
@pytest.mark.parametrize("name", ["policy.txt", "README"])
def test_a_compressed_file_is_what_its_inner_name_says(name, suffix, packed):
    """Documentation of systems comes so."""
    assert one(packed.compress(b"Forty beds."), name + suffix) == one("Forty beds.", name)


def test_a_compressed_bomb_is_refused(monkeypatch):
    """No more is unpacked than a file may have."""
    monkeypatch.setattr(loaders, "MAX_BYTES", 1000)
    with pytest.raises(Unreadable, match="unpacks to more than 0 MB; unpack it"):
        one(gzip.compress(b"a" * 1001, mtime=0), "a.txt.gz")


@pytest.mark.parametrize("content", [b"junk", gzip.compress(b"Forty beds.", mtime=0)[:-6]])
def test_a_damaged_compressed_file_is_refused(content):
    """Cut off, or none at all."""
    with pytest.raises(Unreadable, match="damaged compressed file"):
        one(content, "a.txt.gz")
