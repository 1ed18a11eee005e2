"""What is read out of each format, and what is said of files that cannot be read."""

import io
import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given, settings, strategies as st

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable, formats, read
from surefoot.documents.loaders._rows import MAX_LINE, TEXT


def documents(content: bytes, name: str) -> list[Document]:
    return [item for item in read(io.BytesIO(content), name) if isinstance(item, Document)]


def problems(content: bytes, name: str) -> list[str]:
    return [item.reason for item in read(io.BytesIO(content), name) if isinstance(item, DocumentProblem)]


def one(content: bytes, name: str) -> Document:
    (document,) = documents(content, name)
    return document


def test_a_text_file_is_one_document_titled_by_its_name():
    """The simplest case."""
    block = Block("Mind the gap.\nAll of it.", place="L1")
    assert one(b"Mind the gap.\r\nAll of it.", "gaps.txt") == Document("", "gaps", (block,))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", "Bäckerei in Zürich"),
        ("utf-8-sig", "Bäckerei in Zürich"),
        ("utf-16", "Bäckerei in Zürich"),
        ("utf-32", "Bäckerei in Zürich"),
        ("cp1252", "Der naïve Bäcker sagte: “Café”"),
        ("cp1251", "Привет, мир. Это проверка кодировки текста, длинного."),
        ("shift_jis", "日本語のテキストです。これは文字コードの検査です。"),
    ],
)
def test_encodings_that_are_in_use_are_read(encoding, text):
    """By their mark, by being UTF-8, or by what their bytes look like."""
    assert one(text.encode(encoding), "a.txt").text == text


def test_a_guessed_encoding_is_reported_as_a_note():
    """The user learns that the text may be wrong; nothing counts as skipped."""
    (problem, _) = read(io.BytesIO("Der Bäcker und das Brot".encode("cp1252")), "a.txt")
    assert problem == DocumentProblem("is not UTF-8; it was read as cp1252", skipped=False)


def test_a_late_misfit_is_still_found():
    """An encoding is judged by the whole file, not by its head."""
    assert one(b"plain words " * 200_000 + b"caf\xe9", "a.txt").text.endswith("café")


def test_bytes_that_fit_no_encoding_are_replaced_and_reported():
    """Half of a UTF-16 character is lost, the rest is read."""
    content = "Hello".encode("utf-16") + b"\x00"
    assert one(content, "a.txt").text == "Hello\ufffd"
    assert "replaced" in problems(content, "a.txt")[0]


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.jsonl"])
def test_a_binary_file_is_refused(name):
    """A picture that is called .txt is no text."""
    with pytest.raises(Unreadable, match="binary"):
        documents(b"\x89PNG\r\n\x00\x00\x01", name)


def test_a_kind_whose_library_is_missing_is_refused_with_what_to_install(monkeypatch):
    """As `surefoot doctor` says it."""
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    monkeypatch.delitem(sys.modules, "surefoot.documents.loaders.pdf", raising=False)
    with pytest.raises(Unreadable, match=r"^\.pdf cannot be read \(.*pdf.*\); run: pip install surefoot$"):
        documents(b"%PDF-1.7", "x.pdf")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a.exe", "is of a kind that is not read; surefoot doctor lists those that are"),
        ("a.msg", "is in a binary format that is not read; save it as .eml"),
        ("~$a.docx", "is a lock file of Office, which holds no text"),
    ],
)
def test_an_unknown_kind_is_refused_with_a_way_out(name: str, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        documents(b"", name)
    assert str(refused.value) == why


def test_json_lines_give_a_document_a_row():
    """Id, title, text and address, each where it is given."""
    row = {"id": 7, "title": "Hut", "text": "Forty beds.", "url": "https://a.example"}
    assert one(json.dumps(row).encode(), "x.jsonl") == Document(
        "7", "Hut", (Block("Forty beds."),), "https://a.example", "7"
    )


@pytest.mark.parametrize("field", TEXT)
def test_the_text_may_be_called_otherwise(field):
    """Corpora that others publish use these names."""
    assert one(json.dumps({field: "Forty beds."}).encode(), "x.jsonl").text == "Forty beds."


@pytest.mark.parametrize(
    "row", ["{", "[1]", '{"title": "x"}', '{"text": 3}', '{"text": "x", "id": [1]}', "[" * 100_000]
)
def test_a_bad_row_is_named_by_its_line_and_the_rest_goes_on(row):
    """One broken line does not cost the others."""
    content = f'{{"text": "a"}}\n\n{row}\n{{"text": "b"}}\n'.encode()
    assert [found.text for found in documents(content, "x.jsonl")] == ["a", "b"]
    (reason,) = problems(content, "x.jsonl")
    assert reason.startswith("line 3 ")


def test_a_row_of_json_that_is_not_read_says_why():
    """Nested too deep, and a number that Python takes minutes for, are JSON."""
    content = f'{{"text": "a", "x": {"[" * 101}{"]" * 101}}}\n{{"text": "a", "x": {"9" * 5_000}}}\n{{'.encode()
    deep, long, torn = problems(content, "x.jsonl")
    assert deep == "line 1 is not JSON that can be read: it is nested more than 100 deep"
    assert long.startswith("line 2 is not JSON that can be read: Exceeds the limit")
    assert torn.startswith("line 3 is not JSON that can be read: Expecting property name")


@pytest.mark.parametrize(("name", "head"), [("x.jsonl", ""), ("x.csv", "text\n")])
def test_an_overlong_line_is_a_bad_row(name, head):
    """It is dropped without being held, and reading goes on behind it."""
    good = '{"text": "fine"}' if name == "x.jsonl" else "fine"
    content = f"{head}{good}\n{'x' * (2 * MAX_LINE + 20)}\n{good}\n".encode()
    assert [found.text for found in documents(content, name)] == ["fine", "fine"]
    assert len(problems(content, name)) == 1


def test_rows_without_an_id_keep_their_key_when_others_come_before():
    """A row is known by what it says, not by its place."""
    key = one(b'{"text": "a"}', "x.jsonl").key
    assert [found.key for found in documents(b'{"text": "b"}\n{"text": "a"}', "x.jsonl")][1] == key
    assert one(b'{"text": "a"}', "x.jsonl").id is None


def test_a_table_without_a_header_is_refused():
    """There is nothing to tell its columns by."""
    with pytest.raises(Unreadable, match="header"):
        documents(b"", "x.csv")


def test_a_cell_longer_than_the_csv_modules_own_limit_is_read():
    """128 KiB is less than a long article."""
    assert len(one(b"text\n" + b"x" * 200_000, "x.csv").text) == 200_000


@pytest.mark.parametrize("suffix", {loader: suffix for suffix, loader in formats().items()}.values())
@settings(max_examples=25, deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(suffix, content):
    """No file, whatever it holds, raises anything but Unreadable."""
    with suppress(Unreadable):
        documents(content, "x" + suffix)
