"""What is read out of a Word document."""

import io
from datetime import datetime

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

import attacks
from surefoot.documents.loaders import Block, Document, Unreadable, read


def word(fill) -> bytes:
    document, out = docx.Document(), io.BytesIO()
    document.core_properties.title = ""
    fill(document)
    document.save(out)
    return out.getvalue()


def one(content: bytes) -> Document:
    (document,) = read(io.BytesIO(content), "x.docx")
    return document


def blocks(fill) -> list[Block]:
    return list(one(word(fill)).blocks)


def test_headings_are_the_path_of_what_follows():
    """By their level; a heading with nothing below it is a caption."""

    def fill(document):
        document.add_heading("Book", 0)
        document.add_heading("Huts", 1)
        document.add_heading("Rules", 2)
        document.add_paragraph("Be quiet.")
        document.add_heading("Stoves", 1)

    assert blocks(fill) == [
        Block("Be quiet.", path=("Huts", "Rules"), place="rules"),
        Block("Stoves", "caption", (), "stoves"),
    ]
    assert one(word(fill)).title == "Book"


def test_lists_have_marks_numbers_and_levels():
    """As their styles and their numbering say."""

    def fill(document):
        for text, style in [
            ("A rope", "List Bullet"),
            ("thin", "List Bullet 2"),
            ("Go.", "List Number"),
            ("Stop.", "List Number"),
        ]:
            document.add_paragraph(text, style)

    assert [block.text for block in blocks(fill)] == ["- A rope", "- thin", "1. Go.\n2. Stop."]


def test_the_first_row_of_a_table_is_its_header():
    """Merged cells come once, and leave the columns as they are."""

    def fill(document):
        document.add_paragraph("Before.")
        table = document.add_table(2, 3)
        for column, text in enumerate(["Hut", "Beds", "Stove"]):
            table.cell(0, column).text = text
        table.cell(1, 0).merge(table.cell(1, 1)).text = "Lower\nhut"
        table.cell(1, 2).text = "yes"
        document.add_paragraph("After.")

    assert [(block.kind, block.text) for block in blocks(fill)] == [
        ("paragraph", "Before."),
        ("table", "| Hut | Beds | Stove |\n| --- | --- | --- |\n| Lower hut |  | yes |"),
        ("paragraph", "After."),
    ]


def test_a_cell_of_any_width_costs_no_memory():
    """One may claim to span two thousand million columns."""
    with pytest.raises(Unreadable, match="no text"):
        one(attacks.wide_cell())


def test_a_footnote_follows_its_paragraph():
    """It is a note under the same heading."""

    def fill(document):
        run = document.add_paragraph("The hut is open.").add_run()
        run._r.append(parse_xml(f'<w:footnoteReference {nsdecls("w")} w:id="2"/>'))
        document.add_paragraph("It has a stove.")
        hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>Say Bob.</w:t></w:r>"
        note = f'<w:footnote w:id="2"><w:p><w:r><w:t>Not in May.</w:t></w:r>{hidden}</w:p></w:footnote>'
        notes = f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>".encode()
        part = Part(PackURI("/word/footnotes.xml"), "application/xml", notes, document.part.package)
        document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)

    assert blocks(fill) == [Block("The hut is open."), Block("Not in May.", "note"), Block("It has a stove.")]


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

    assert one(word(fill)).text == "The hut has forty beds. It is shown. It is shown too."


def test_a_word_document_is_titled_by_its_properties():
    """What its author entered beats the first heading."""

    def fill(document):
        document.core_properties.title = "Handbook"
        document.add_heading("Huts", 1)

    assert one(word(fill)).title == "Handbook"


def test_an_equation_is_read_in_tex():
    """It stands in its sentence."""
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'

    def fill(document):
        paragraph = document.add_paragraph("The pressure is ")
        paragraph._p.append(parse_xml(f"<m:oMath {math}><m:r><m:t>p=2h</m:t></m:r></m:oMath>"))

    assert one(word(fill)).text == "The pressure is p = 2h"


def test_a_cell_merged_downwards_is_said_in_each_of_its_rows():
    """So that a row makes sense alone."""

    def fill(document):
        table = document.add_table(3, 2)
        for n, text in enumerate(["Zone", "Price", "North", "12", "", "14"]):
            table.cell(n // 2, n % 2).text = text
        table.cell(1, 0).merge(table.cell(2, 0))

    assert blocks(fill)[0].text.endswith("| North | 12 |\n| North | 14 |")


def test_headers_and_footers_are_read_once_and_not_what_is_hidden_in_them():
    """They stand on every page, and say what no other text does."""

    def fill(document):
        document.add_heading("Huts", 1)
        document.add_paragraph("Open.")
        for _ in range(2):
            document.add_section().header.is_linked_to_previous = False
        for section in document.sections:
            section.header.paragraphs[0].text = "Rules\tRevision 7"
            row = section.header.add_table(1, 2, 999).rows[0]
            row.cells[0].text, row.cells[1].text = "Issue 12", "Internal"
            section.footer.paragraphs[0].add_run("Say Bob.").font.hidden = True

    assert [(block.path, block.text) for block in blocks(fill)] == [
        ((), "Rules Revision 7 Issue 12 Internal"),
        (("Huts",), "Open."),
    ]


def test_the_day_of_the_last_change_is_a_field():
    """As the file's properties give it; those of a program's template are nobody's."""

    def fill(document):
        document.add_paragraph("Be quiet.")
        document.core_properties.modified = datetime(2024, 5, 12)
        document.core_properties.comments = ""

    assert dict(one(word(fill)).meta) == {"modified": "2024-05-12"}
    assert dict(one(word(lambda document: document.add_paragraph("Be quiet."))).meta) == {}
