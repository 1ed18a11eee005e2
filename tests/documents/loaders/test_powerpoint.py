"""What is read out of a PowerPoint presentation."""

import io

import pytest

from surefoot.documents.loaders import Block, Document, DocumentProblem, read

pptx = pytest.importorskip("pptx")
from pptx.chart.data import CategoryChartData  # noqa: E402
from pptx.enum.chart import XL_CHART_TYPE  # noqa: E402
from pptx.opc.constants import RELATIONSHIP_TYPE  # noqa: E402
from pptx.opc.package import Part  # noqa: E402
from pptx.opc.packuri import PackURI  # noqa: E402
from pptx.oxml import parse_xml  # noqa: E402
from pptx.util import Inches  # noqa: E402

PLACE = [Inches(1), Inches(1), Inches(4), Inches(2)]


def show(*slides) -> bytes:
    """A presentation; of each slide a title, the paragraphs of its body with their levels, and what else to do."""
    made, out = pptx.Presentation(), io.BytesIO()
    for title, body, *more in slides:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        frame = slide.placeholders[1].text_frame
        for n, (text, level) in enumerate(body):
            line = frame.paragraphs[0] if not n else frame.add_paragraph()
            line.text, line.level = text, level
        for do in more:
            do(slide)
    made.save(out)
    return out.getvalue()


def items(content: bytes) -> list[Document | DocumentProblem]:
    return list(read(io.BytesIO(content), "talk.pptx"))


def blocks(*slides) -> list[Block]:
    (document,) = items(show(*slides))
    return list(document.blocks)


def test_a_slide_stands_under_its_title():
    """With the slide's number; the lines of its body are a list, whose marks stand in its layout."""
    assert blocks(("Huts", [("Open", 0), ("In summer", 1)]), ("Ice", [("Long", 0)])) == [
        Block("- Open", "list", ("Huts",), "slide=1"),
        Block("- In summer", "list", ("Huts",), "slide=1"),
        Block("Long", path=("Ice",), place="slide=2"),
    ]


def test_a_title_alone_is_a_caption_and_a_slide_without_one_has_its_number():
    """No text goes, and every path says something."""
    found = blocks(("Huts", []), ("", [("Open", 0)]))
    assert [(block.kind, block.text, block.path) for block in found] == [
        ("caption", "Huts", ()),
        ("paragraph", "Open", ("Slide 2",)),
    ]


def test_text_boxes_are_paragraphs_in_groups_too():
    """Only what has a bullet is an item."""

    def boxes(slide):
        slide.shapes.add_textbox(*PLACE).text_frame.text = "Alone."
        slide.shapes.add_group_shape().shapes.add_textbox(*PLACE).text_frame.text = "In a group."

    assert [(block.kind, block.text) for block in blocks(("Huts", [], boxes))] == [
        ("paragraph", "Alone."),
        ("paragraph", "In a group."),
    ]


def test_a_table_has_its_header():
    """Merged cells come once."""

    def table(slide):
        made = slide.shapes.add_table(2, 2, *PLACE).table
        for n, text in enumerate(["Hut", "Beds", "Lower"]):
            made.cell(n // 2, n % 2).text = text
        made.cell(1, 0).merge(made.cell(1, 1))

    assert [(block.kind, block.text) for block in blocks(("Huts", [], table))] == [
        ("table", "| Hut | Beds |\n| --- | --- |\n| Lower |  |")
    ]


def test_notes_of_the_speaker_are_read():
    """They often say more than the slide."""

    def note(slide):
        slide.notes_slide.notes_text_frame.text = "Mention the stove."

    assert blocks(("Huts", [("Open", 0)], note))[1] == Block("Mention the stove.", path=("Huts",), place="slide=1")


def test_a_drawing_is_read():
    """SmartArt keeps its words in another part."""
    space = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    runs = "<a:r><a:t>First rope, </a:t></a:r><a:r><a:t>then ice.</a:t></a:r>"
    words = f'<d:m xmlns:d="urn:d" {space}><a:p>{runs}</a:p></d:m>'

    def drawing(slide):
        part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, words.encode())
        related = slide.part.relate_to(part, RELATIONSHIP_TYPE.DIAGRAM_DATA)
        frame = slide.shapes.add_table(1, 1, *PLACE)._element
        data = frame.find(".//{*}graphicData")
        data.set("uri", "http://schemas.openxmlformats.org/drawingml/2006/diagram")
        data.remove(data[0])
        data.append(
            parse_xml(
                '<dgm:relIds xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
                f'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:dm="{related}"/>'
            )
        )

    assert [block.text for block in blocks(("Huts", [], drawing))] == ["First rope, then ice."]


def test_a_hidden_slide_is_named_and_not_read():
    """A viewer would not see it."""
    hide = lambda slide: slide.element.set("show", "0")  # noqa: E731
    problem, document = items(show(("Huts", [("Open", 0)]), ("Bob", [("Say Bob", 0)], hide)))
    assert problem == DocumentProblem("slide 2 is hidden, and was not read")
    assert "Bob" not in document.text


def test_a_chart_is_a_table_of_its_series():
    """Percentages as they are shown; a value that is missing is an empty cell."""
    data = CategoryChartData(number_format="0%")
    data.categories = ["North", "South", "West"]
    data.add_series("Full", (0.5, None, 0.25))
    data.add_series("Shut", (0.1, 0.2, 0.3))

    def add(slide):
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *PLACE, data)

    (block,) = blocks(("Huts", [], add))
    rows = "| North | 50% | 10% |\n| South |  | 20% |\n| West | 25% | 30% |"
    assert (block.kind, block.text) == ("table", f"|  | Full | Shut |\n| --- | --- | --- |\n{rows}")


def test_the_days_of_a_template_are_nobodys():
    """Those that a program left in the file that it began with."""
    assert dict(items(show(("Huts", [("Forty beds.", 0)])))[0].meta) == {}
