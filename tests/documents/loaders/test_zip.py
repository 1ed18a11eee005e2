"""Archives as their owners see them."""

import io
from zipfile import ZipFile

import pytest

from surefoot.documents.loaders import Document, DocumentProblem, Unreadable, loader_of, read, zip as archives


def packed(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_the_files_in_an_archive_are_documents_with_their_names_as_places():
    """Rows of two files may have one id."""
    row = '{"id": "a", "text": "Forty beds."}\n'
    content = packed(**{"docs/hut.md": "# Hut\n\nA rope.", "a.jsonl": row, "b.jsonl": row, "__MACOSX/._a": "x"})
    found = [item for item in read(io.BytesIO(content), "x.zip") if isinstance(item, Document)]
    assert [(one.title, one.id, one.blocks[0].place, one.text) for one in found] == [
        ("Hut", None, "docs/hut.md", "A rope."),
        ("", None, "a.jsonl", "Forty beds."),
        ("", None, "b.jsonl", "Forty beds."),
    ]
    assert len({one.key for one in found}) == 3


def test_what_is_not_read_of_an_archive_is_named():
    """An archive within it too; the other files are read."""
    content = packed(**{"in.zip": packed(a="x"), "bad.pdf": b"no pdf", "~$plan.md": "x", "a.txt": "Open."})
    bad, found, others = read(io.BytesIO(content), "x.zip")
    assert bad == DocumentProblem("bad.pdf is a damaged PDF")
    assert isinstance(found, Document)
    assert others == DocumentProblem("1 of its files are of no kind that is read, such as in.zip")


@pytest.mark.parametrize(("limit", "most"), [("MAX_BYTES", 5), ("_MOST", 1)])
def test_an_archive_of_too_much_is_refused(monkeypatch, limit, most):
    """Before any of it is unpacked."""
    monkeypatch.setattr(archives, limit, most)
    with pytest.raises(Unreadable, match="holds more than"):
        list(read(io.BytesIO(packed(**{"a.txt": "Open.", "b.txt": "Open."})), "x.zip"))


def test_a_lock_of_office_is_never_read():
    """Its name ends as that of the file beside it."""
    assert loader_of("~$plan.docx") is None
    assert loader_of("docs/~$plan.docx") is None
