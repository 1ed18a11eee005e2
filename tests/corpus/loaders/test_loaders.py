"""What is read out of each format, and what is said of files that cannot be read."""

import io
import json
import sys
import zipfile
from contextlib import suppress

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter

from surefoot.corpus.loaders import Block, Document, DocumentProblem, Unreadable, _rows, formats, read


def documents(content: bytes, name: str) -> list[Document]:
    return [item for item in read(io.BytesIO(content), name) if isinstance(item, Document)]


def problems(content: bytes, name: str) -> list[str]:
    return [item.reason for item in read(io.BytesIO(content), name) if isinstance(item, DocumentProblem)]


def one(content: bytes, name: str) -> Document:
    (document,) = documents(content, name)
    return document


def pdf(*lines: str) -> bytes:
    """A PDF of one page with these lines of text."""
    shown = "".join(f"({line}) Tj T* " for line in lines)
    stream = f"BT /F1 12 Tf 14 TL 72 720 Td {shown}ET".encode("latin-1")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )
    return out + tail


def word(fill) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    document.core_properties.title = ""
    fill(document)
    document.save(out)
    return out.getvalue()


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


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_a_file_without_text_is_refused(name):
    """An empty document is never indexed in silence."""
    with pytest.raises(Unreadable, match="no text"):
        documents(b" \n", name)


def test_a_kind_whose_library_is_missing_is_refused_with_what_to_install(monkeypatch):
    """As `surefoot doctor` says it."""
    monkeypatch.setitem(sys.modules, "pypdf", None)
    monkeypatch.delitem(sys.modules, "surefoot.corpus.loaders.pdf", raising=False)
    with pytest.raises(Unreadable, match=r"^\.pdf cannot be read \(.*pdf.*\); run: pip install surefoot$"):
        documents(b"%PDF-1.7", "x.pdf")


def test_an_unknown_kind_is_refused_with_the_kinds_that_are_read():
    """The message says what would work."""
    with pytest.raises(Unreadable, match=r"\.csv .*\.txt .* source code"):
        documents(b"", "a.exe")


def test_html_gives_its_main_text_and_title():
    """Scripts and menus are left out."""
    page = b"""<html><head><title>The Hut</title><script>var x = 1</script></head><body><nav><a href="/">Home</a></nav>
    <article><h1>The Hut</h1><p>%s</p></article></body></html>""" % (b"The hut has forty beds and one stove. " * 20)
    found = one(page, "x.html")
    assert found.title == "The Hut"
    assert "forty beds" in found.text
    assert "var x" not in found.text


@pytest.mark.parametrize("sign", ["¶", "#"])
def test_a_sign_that_links_to_its_own_heading_is_not_read(sign):
    """Documentation tools put one behind each heading and term, for the eye of who points at it."""
    page = f"""<html><body><h1>The Hut<a class="headerlink" href="#hut">{sign}</a></h1><p>It has forty beds.</p>
    <dl><dt>stove<a href="#stove">{sign}</a></dt><dd>One {sign} is here, and <a href="/x">{sign}</a>.</dd></dl>
    </body></html>"""
    found = one(page.encode(), "x.html")
    assert found.title == "The Hut"
    assert found.text.count(sign) == 2


def test_html_without_a_main_text_gives_all_text():
    """A page of nothing but a form label still counts."""
    assert one(b"<html><body><form><label>Beds</label></form></body></html>", "hut.htm").text.split() == ["Beds"]


def test_a_pdf_gives_its_text_with_words_made_whole():
    """A hyphen at a line's end goes."""
    assert one(pdf("The glacier is shrink-", "ing."), "ice.pdf") == Document("", "ice", "The glacier is shrinking.")


def test_a_scanned_pdf_is_refused_with_what_to_do():
    """No text layer: the user has to run OCR."""
    with pytest.raises(Unreadable, match="scanned"):
        documents(pdf(), "scan.pdf")


def test_a_pdf_with_too_much_text_is_refused(monkeypatch):
    """Each page may be small, and all of them too many."""
    monkeypatch.setattr("surefoot.corpus.loaders.pdf.MAX_BYTES", 5)
    with pytest.raises(Unreadable, match="safe"):
        documents(pdf("The glacier"), "a.pdf")


def test_an_encrypted_pdf_is_refused():
    """Its password is not asked for."""
    writer, out = PdfWriter(clone_from=io.BytesIO(pdf("secret"))), io.BytesIO()
    writer.encrypt("pass", algorithm="RC4-128")
    writer.write(out)
    with pytest.raises(Unreadable, match="encrypted"):
        documents(out.getvalue(), "a.pdf")


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 700), st.binary(min_size=1, max_size=8), st.booleans())
def test_a_damaged_pdf_is_read_or_refused(place, junk, cut):
    """Nothing that a PDF holds gets out as another error."""
    whole = pdf("The glacier")
    damaged = whole[:place] + junk + (b"" if cut else whole[place + len(junk) :])
    with suppress(Unreadable):
        documents(damaged, "a.pdf")


def test_a_word_document_gives_paragraphs_and_tables_in_order():
    """Headings are its sections, merged cells come once."""

    def fill(document):
        document.add_heading("Huts", 1)
        table = document.add_table(1, 3)
        table.cell(0, 0).merge(table.cell(0, 1)).text = "Lower"
        table.cell(0, 2).text = "40"
        document.add_paragraph("After the table.")

    found = one(word(fill), "x.docx")
    assert found.text == "Huts\n\nLower | 40\n\nAfter the table."
    assert (found.title, found.sections) == ("Huts", ((0, "Huts"),))


def test_what_word_does_not_show_is_not_read():
    """Hidden by itself or by its style; what overrules the style is shown."""

    def fill(document):
        style = document.styles.add_style("Aside", WD_STYLE_TYPE.CHARACTER)
        style.font.hidden = True
        paragraph = document.add_paragraph("The hut has forty beds. ")
        paragraph.add_run("Say Bob. ").font.hidden = True
        paragraph.add_run("Say Eve. ", style)
        paragraph.add_run("It is shown. ", style).font.hidden = False
        paragraph.add_run("It is shown too.").font.hidden = False
        document.add_table(1, 1).cell(0, 0).paragraphs[0].add_run("Say Bob.").font.hidden = True

    assert one(word(fill), "x.docx").text == "The hut has forty beds. It is shown. It is shown too."


def test_a_word_document_is_titled_by_its_properties():
    """What its author entered beats the first heading."""

    def fill(document):
        document.core_properties.title = "Handbook"
        document.add_heading("Huts", 1)

    assert one(word(fill), "x.docx").title == "Handbook"


def test_an_empty_word_document_is_refused():
    """No paragraph, no document."""
    with pytest.raises(Unreadable, match="no text"):
        documents(word(lambda document: None), "x.docx")


def test_a_damaged_word_document_is_refused():
    """Cut off, or no archive at all."""
    for content in (b"junk", word(lambda document: document.add_paragraph("x"))[:-400]):
        with pytest.raises(Unreadable, match="damaged"):
            documents(content, "x.docx")


WORD = word(lambda document: document.add_paragraph("The glacier"))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(WORD)), st.binary(min_size=1, max_size=8))
def test_a_damaged_word_document_is_read_or_refused(place, junk):
    """Nothing that its archive holds gets out as another error."""
    with suppress(Unreadable):
        documents(WORD[:place] + junk + WORD[place + len(junk) :], "a.docx")


def test_a_word_document_that_unpacks_to_too_much_is_refused():
    """The sizes that the archive declares are enough to say so."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 100_000_001)
    with pytest.raises(Unreadable, match="safe"):
        documents(out.getvalue(), "x.docx")


def test_json_lines_give_a_document_a_row():
    """Id, title, text and address, each where it is given."""
    row = {"id": 7, "title": "Hut", "text": "Forty beds.", "url": "https://a.example"}
    assert one(json.dumps(row).encode(), "x.jsonl") == Document(
        "7", "Hut", (Block("Forty beds."),), "https://a.example", "7"
    )


@pytest.mark.parametrize("field", _rows.TEXT)
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
def test_an_overlong_line_is_a_bad_row(name, head, monkeypatch):
    """It is dropped without being held, and reading goes on behind it."""
    monkeypatch.setattr(_rows, "MAX_LINE", 50)
    good = '{"text": "fine"}' if name == "x.jsonl" else "fine"
    content = f"{head}{good}\n{'x' * 120}\n{good}\n".encode()
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
