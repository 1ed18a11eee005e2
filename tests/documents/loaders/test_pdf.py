"""What is read out of a PDF: blocks under its headings, page by page."""

import io
import shutil

import pytest

from surefoot.documents.loaders import Block, Document, Unreadable, _ocr, read
from surefoot.documents.page_picture import drawn
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.text.places import located

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold", "C": "Courier"}


def pdf(*pages, outline=(), title="", extra="") -> bytes:
    """A PDF with these pages: of each line its place in points from the left and the bottom, and its text.

    A line may name its font, of FONTS, and its size too; one that is text is drawn as it is. Of the outline each entry
    is a title, a page and a height.
    """
    first = 4 + len(FONTS)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 3 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{first + 2 * n} 0 R' for n in range(len(pages)))}] /Count {len(pages)} >>",
    ]
    entry = first + 2 * len(pages)
    objects.append(f"<< /Type /Outlines /First {entry} 0 R /Last {entry + len(outline) - 1} 0 R >>")
    objects += [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>" for name in FONTS.values()
    ]
    fonts = " ".join(f"/{name} {4 + n} 0 R" for n, name in enumerate(FONTS))
    for n, lines in enumerate(pages):
        shown = _PICTURE if lines == SCAN else "".join(map(_shown, lines))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {first + 2 * n + 1} 0 R "
            f"/Resources << /Font << {fonts} >> >> >>"
        )
        objects.append(f"<< /Length {len(shown.encode('cp1252'))} >>\nstream\n{shown}\nendstream")
    for n, (name, page, y) in enumerate(outline):
        following = f"/Next {entry + n + 1} 0 R" if n + 1 < len(outline) else ""
        where = f"[{first + 2 * page} 0 R /XYZ 0 {y} 0]"
        objects.append(f"<< /Title ({name}) /Parent 3 0 R /Dest {where} {following} >>")
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    tail = f"<< /Size {size} /Root 1 0 R /Info {size - 1} 0 R {extra} >>\nstartxref\n{len(out)}\n%%EOF"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n{tail}".encode("latin-1")


_PICTURE = "q 600 0 0 800 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID 0 EI Q"


def _shown(line) -> str:
    if isinstance(line, str):
        return line
    x, y, text, font, size = (*line, "F", 10)[:5] if len(line) != 4 else (*line, 10)
    escaped = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf 1 0 0 1 {x} {y} Tm ({escaped}) Tj ET\n"


SCAN = "scan"
"""A page that is a picture."""


def typed(*texts, x=50, y=700, font="F") -> list:
    """Lines one below the other."""
    return [(x, y - 12 * n, text, font) for n, text in enumerate(texts)]


def blocks(*pages, **more) -> list[Block]:
    return list(one(pdf(*pages, **more)).blocks)


def one(content: bytes) -> Document:
    (document,) = read(io.BytesIO(content), "ice.pdf")
    return document


LONG = "A line of a paragraph that goes on in the next and is as long as the page is wide, or"


def test_the_lines_of_a_paragraph_are_joined():
    """A gap, and an indentation, begin another; each block has its page."""
    page = [
        *typed(LONG, "nearly so."),
        *typed(LONG, "the second.", y=660),
        (65, 636, f"I. {LONG[:-9]}"),
        (50, 624, "ends."),
    ]
    assert blocks(page) == [
        Block(f"{LONG} nearly so.", place="page=1"),
        Block(f"{LONG} the second.", place="page=1"),
        Block(f"I. {LONG[:-9]} ends.", place="page=1"),
    ]


def test_a_line_that_its_author_ended_is_no_part_of_the_next():
    """The next word would have had room on it."""
    texts = [block.text for block in blocks(typed("To the hut.", LONG))]
    assert texts == ["To the hut.", LONG]


def test_short_lines_in_a_row_stay_apart():
    """As names in a column."""
    assert [block.text for block in blocks(typed("Anna", "Bo", "Bernhard Gruber"))] == ["Anna", "Bo", "Bernhard Gruber"]


def test_a_line_that_goes_on_in_small_letters_or_digits_was_not_ended():
    """Even though the next word would have had room: programs that break lines by letters leave such room."""
    (found,) = blocks(typed("The mill was rebuilt after the flood of", "1907, and its axle is of", f"larch. {LONG}"))
    assert found.text == f"The mill was rebuilt after the flood of 1907, and its axle is of larch. {LONG}"


def test_a_word_that_a_lines_end_cuts_is_made_whole():
    """The hyphen of a compound stays: the document spells it so elsewhere, or a capital follows."""
    page = typed("The glacier is shrink-", "ing. It is well-", "known, and half-", "Installed. A well-known one.")
    assert one(pdf(page)).text == "The glacier is shrinking. It is well-known, and half-Installed. A well-known one."


def test_ligatures_are_letters_and_signs_stay():
    """A search for "find" meets "ﬁnd"; ² is not 2, and ½ is not 1⁄2."""
    from surefoot.documents.loaders._pdf_lines import _LETTERS

    assert "ﬁnd ﬂaw oﬃce x² ½ ™".translate(_LETTERS) == "find flaw office x² ½ ™"


def test_headings_of_the_outline_are_the_path():
    """In the words that are printed, with their number; a heading that is not printed counts from its place on."""
    page = [(50, 700, "1.2 Huts", "B", 14), (50, 680, "Open."), (50, 600, "In winter.")]
    found = blocks(page, [(50, 700, "Later.")], outline=[("Huts", 0, 710), ("Season", 0, 620)])
    assert [(block.path, block.text, block.place) for block in found] == [
        (("1.2 Huts",), "Open.", "page=1"),
        (("Season",), "In winter.", "page=1"),
        (("Season",), "Later.", "page=2"),
    ]


def test_without_an_outline_larger_letters_are_headings():
    """The larger, the further out; a heading with nothing below is a caption."""
    page = [(50, 750, "Huts", "B", 20), (50, 720, "Rules", "B", 14), *typed(LONG, LONG, LONG, LONG, "quiet.")]
    found = blocks([*page, (50, 600, "Stoves", "B", 14)])
    assert [(block.kind, block.path) for block in found] == [("paragraph", ("Huts", "Rules")), ("caption", ("Huts",))]


def test_running_headers_footers_and_page_numbers_are_left_out():
    """A line that repeats at an edge, and one there that holds the page's number; text at the edge stays."""
    pages = [
        [(50, 760, "Handbook 1.2"), (50, 700, f"Text {word}."), (50, 100, f"End {word}"), (50, 40, f"{word} {n}")]
        for n, word in enumerate(["one", "two", "three", "four"], start=7)
    ]
    assert (
        one(pdf(*pages)).text.split()
        == "Text one. End one Text two. End two Text three. End three Text four. End four".split()
    )


def test_a_header_that_changes_with_the_section_is_left_out():
    """It stands where other pages have theirs."""
    heads = ["Huts", "Huts", "Huts", "Ice"]
    pages = [[(50, 760, head), *typed(f"Text {n}.", "Another line.")] for n, head in enumerate(heads)]
    assert not {"Huts", "Ice"}.intersection(one(pdf(*pages)).text.split())


def test_a_short_document_keeps_what_repeats():
    """Two pages are too few to tell."""
    assert one(pdf(typed("Huts", "Open."), typed("Huts", "Shut."))).text.count("Huts") == 2


def test_code_keeps_its_lines_and_indentation():
    """In a monospaced font; an empty line is one."""
    page = [(50, 700, "if hut:", "C"), (74, 688, "sleep()", "C"), (50, 664, "go()", "C"), (50, 640, "After.")]
    assert [(block.kind, block.text) for block in blocks(page)] == [
        ("code", "```\nif hut:\n    sleep()\n\ngo()\n```"),
        ("paragraph", "After."),
    ]


def test_bullets_and_numbers_are_lists():
    """An item goes on in its indented lines; a list in an item is indented."""
    page = [
        (50, 700, "• Bring"),
        (60, 688, "a rope."),
        (60, 676, "• Thin"),
        (50, 664, "• Rest."),
        (50, 640, "1. Go."),
        (50, 628, "2. Stop."),
    ]
    assert [block.text for block in blocks(page)] == ["- Bring a rope.\n  - Thin\n- Rest.\n1. Go.\n2. Stop."]


def test_dots_of_a_table_of_contents_are_left_out():
    """They are no words."""
    (found,) = blocks(typed("Huts . . . . . . . . 7", "Rules .......... 9"))
    assert (found.kind, found.text) == ("contents", "- Huts 7\n- Rules 9")


def test_cells_of_several_lines_side_by_side_are_a_row():
    """They are drawn one after the other, each from its top."""
    page = [(50, 700, "apt"), (50, 688, "update"), (200, 700, "fetches the"), (200, 688, "lists")]
    assert [(block.kind, block.text) for block in blocks(page)] == [("table", "| apt update | fetches the lists |")]


def test_a_sentence_that_a_page_cuts_is_whole_on_the_first():
    """It can be found, and cited, where it begins."""
    found = blocks(typed(LONG), typed("goes on. The rest.", x=50))
    assert [(block.text, block.place) for block in found] == [
        (f"{LONG} goes on.", "page=1"),
        ("The rest.", "page=2"),
    ]


def test_what_stands_beside_the_page_is_not_read():
    """A reader does not see it."""
    assert one(pdf([(50, 700, "Shown."), (50, 900, "Say Bob."), (900, 700, "Say Eve.")])).text == "Shown."


def test_a_pdf_is_titled_by_its_properties():
    """Else by its file's name."""
    page = typed("Open.")
    assert one(pdf(page, title="Ice book")).title == "Ice book"
    assert one(pdf(page)).title == "ice"


@pytest.mark.parametrize(
    ("dates", "day"),
    [
        ("/CreationDate (D:20240102120000Z) /ModDate (D:20240512083000+02'00')", {"modified": "2024-05-12"}),
        ("/CreationDate (D:20240102)", {"modified": "2024-01-02"}),
        ("/ModDate (D:19700101000000Z)", {}),
        ("/ModDate (May 2024)", {}),
    ],
)
def test_a_pdf_is_dated_by_its_last_change(dates, day):
    """Else by the day on which it was made; a day before there were PDFs is none."""
    content = pdf(typed("Open.")).replace(b"<< /Title () >>", f"<< /Title () {dates} >>".encode())
    assert dict(one(content).meta) == day


def test_a_pdf_is_found_with_its_page(tmp_path):
    """From the file to the index; the words of the second page lead to it, though their passage begins on the first."""
    (tmp_path / "ice.pdf").write_bytes(pdf(typed("The hut is open."), typed("The glacier is 41 km long.")))
    build([tmp_path], tmp_path / "made" / "index.db", Hashing())
    with Index.open(tmp_path / "made" / "index.db") as index:
        (found,) = index.lexical("glacier", 1)
    assert found.text == "The hut is open.\n\nThe glacier is 41 km long."
    for word, page in (("hut", "ice.pdf#page=1"), ("glacier", "ice.pdf#page=2")):
        assert (located(found, found.text.index(word)).url or "").rpartition("/")[2] == page


@pytest.fixture
def no_tesseract(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    _ocr._tesseract.cache_clear()
    yield
    _ocr._tesseract.cache_clear()


def test_a_pdf_without_text_is_refused():
    """Its pages are empty, or drawn."""
    with pytest.raises(Unreadable, match=r"no text layer.*OCR"):
        one(pdf([]))


def test_a_scanned_pdf_is_refused_with_what_to_install(no_tesseract):
    """No text layer, and nothing that reads pictures."""
    with pytest.raises(Unreadable, match=r"page 1 is a picture.*install tesseract"):
        one(pdf(SCAN))


def test_scanned_pages_among_others_are_named_with_what_to_install(no_tesseract):
    """The pages with text are read, and an empty page is no scan."""
    *problems, document = read(io.BytesIO(pdf(typed("Open."), SCAN, [], SCAN)), "x.pdf")
    assert [problem.reason.partition(";")[0] for problem in problems] == ["page 2, 4 is a picture without a text layer"]
    assert document.text == "Open."


def test_scanned_pages_are_read_where_they_stand(monkeypatch):
    """By tesseract, a page as a picture at a time, in the order of the pages."""
    pictures = []
    monkeypatch.setattr(
        "surefoot.documents.loaders.pdf.picture_text", lambda picture: pictures.append(picture) or "Shut.\n\nIn May.\n"
    )
    found = blocks(typed("Open."), SCAN, typed("Later."))
    assert [(block.text, block.place[-1]) for block in found] == [
        ("Open.", "1"),
        ("Shut.", "2"),
        ("In May.", "2"),
        ("Later.", "3"),
    ]
    assert [picture[:4] for picture in pictures] == [b"\x89PNG"]


def test_scanned_pages_that_time_does_not_suffice_for_are_named(monkeypatch):
    """The reading process must not fall silent."""
    monkeypatch.setattr("surefoot.documents.loaders.pdf.picture_text", lambda picture: "Shut.")
    monkeypatch.setattr("surefoot.documents.loaders.pdf.OCR_SECONDS", -1)
    *problems, document = read(io.BytesIO(pdf(typed("Open."), SCAN)), "x.pdf")
    assert "page 2 took longer" in problems[0].reason
    assert document.text == "Open."


@pytest.mark.skipif(not shutil.which("tesseract"), reason="needs tesseract")
def test_tesseract_reads_a_picture_of_a_page():
    """The letters of a page that is drawn."""
    assert "glacier" in _ocr.picture_text(drawn(pdf([(50, 700, "The glacier is long.", "F", 24)]), 1))


def test_what_is_no_picture_is_not_read(monkeypatch):
    """The program says so by its status."""
    monkeypatch.setattr(_ocr, "_tesseract", lambda: ("false", "eng"))
    with pytest.raises(Unreadable, match="tesseract cannot read"):
        _ocr.picture_text(b"junk")


def test_a_pdf_with_too_much_text_is_refused(monkeypatch):
    """Each page may be small, and all of them too many."""
    monkeypatch.setattr("surefoot.documents.loaders.pdf.MAX_BYTES", 5)
    with pytest.raises(Unreadable, match="safe"):
        one(pdf(typed("The glacier")))


def test_an_encrypted_pdf_is_refused():
    """Its password is not asked for."""
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'ab' * 32}> /U <{'cd' * 32}> >> /ID [<00> <00>]"
    with pytest.raises(Unreadable, match=r"encrypted.*without a password"):
        one(pdf(typed("secret"), extra=lock))


def test_a_damaged_page_is_named_and_the_others_are_read():
    """The page tree counts more pages than there are."""
    content = pdf(typed("One."), typed("Two.")).replace(b"/Type /Page /Parent 2 0 R", b"/Type /Pogo /Poront 2 0 R", 1)
    *told, document = read(io.BytesIO(content.replace(b"/Kids [7 0 R", b"/Kids [99 0 R", 1)), "x.pdf")
    assert [(problem.skipped, "page 1" in problem.reason) for problem in told] == [(True, True)]
    assert document.text == "Two."


def test_columns_that_are_drawn_line_by_line_are_read_one_after_the_other():
    """No sentence is woven of both; a heading across them is above them."""
    left = (
        "The wheel of the mill turns eleven",
        "times a minute, and it was rebuilt",
        "by brothers after a great flood.",
    )
    right = (
        "The oven is heated with birch for",
        "three hours before the first batch,",
        "and the baker sells sixty loaves.",
    )
    page = [(50, 740, "Mill and bakery", "B", 20), *typed(*left, *left), *typed(*right, *right, x=320)]
    page[1:] = sorted(page[1:], key=lambda line: -line[1])
    assert [block.text for block in blocks(page)] == [" ".join(left * 2), " ".join(right * 2)]


@pytest.mark.parametrize("height", [18, 40])
def test_rows_of_cells_under_each_other_are_a_table(height):
    """Under a header that has the fewest digits; an empty cell stays empty, and a cell goes on below itself."""
    rows = [("Part", "Bore", "Price"), ("Valve", "NW 10", "5.00"), ("Flange", "", "12.75"), ("Hinge, of", "7", "3.20")]
    places = [(x, 700 - height * n) for n in range(len(rows)) for x in (50, 200, 300)]
    page = [(x, y, text) for (x, y), text in zip(places, sum(rows, ()), strict=True) if text]
    page += [(200, 688 - height * 3, "mm"), *typed("Prices are without tax.", y=654 - height * 3)]
    table, below = (block.text for block in blocks(page))
    assert below == "Prices are without tax."
    assert table.split("\n") == [
        "| Part | Bore | Price |",
        "| --- | --- | --- |",
        "| Valve | NW 10 | 5.00 |",
        "| Flange |  | 12.75 |",
        "| Hinge, of | 7 mm | 3.20 |",
    ]


def test_cells_of_several_lines_that_are_drawn_cell_by_cell_are_a_table():
    """As word processors draw them: no cell is a paragraph of its own."""
    rows = [(["Hut"], ["What it", "offers"], ["Beds"]), (["Lower"], ["Soup, bread", "and tea"], ["40"])]
    rows += [(["Upper", "hut"], ["A stove"], ["9"])]
    places = ((50, 200, 350)[column] for row in rows for column, cell in enumerate(row) for _ in cell)
    heights = (700 - 30 * n - 12 * line for n, row in enumerate(rows) for cell in row for line in range(len(cell)))
    (table,) = blocks([*zip(places, heights, (line for row in rows for cell in row for line in cell), strict=True)])
    assert table.text.split("\n") == [
        "| Hut | What it offers | Beds |",
        "| --- | --- | --- |",
        "| Lower | Soup, bread and tea | 40 |",
        "| Upper hut | A stove | 9 |",
    ]


def rule(x, y, width=0.5, height=0.5) -> str:
    """A thin box, drawn from its lower left corner."""
    return f"{x} {y} {width} {height} re f\n"


def cells(rows, columns, top=700, height=12) -> list:
    """The texts of a table row by row."""
    places = ((x, top - height * n) for n in range(len(rows)) for x in columns)
    return [(*place, text) for place, text in zip(places, (text for row in rows for text in row), strict=True) if text]


def test_a_rule_parts_the_header_from_the_rows():
    """Though it is in the font of the others, has no fewer digits, and narrow gaps between the columns, a row more."""
    rows = [("Hut 1", "Beds 2"), ("Upper", "40"), ("Lower", "9"), ("", "and 3 more"), ("Old hut", "7")]
    lines = [rule(50, y, 100) for y in (711, 697, 648)]
    (table,) = blocks([*lines, *cells(rows, (50, 88))])
    assert table.text.split("\n") == [
        "| Hut 1 | Beds 2 |",
        "| --- | --- |",
        "| Upper | 40 |",
        "| Lower | 9 and 3 more |",
        "| Old hut | 7 |",
    ]


def test_what_stands_between_rules_is_a_cell():
    """Whatever the lines that it has, and where in its row they stand; a title above the columns is no header."""
    across = [rule(50, y, 300) for y in (712, 694, 692, 674, 632, 614, 596)]
    down = [rule(x, 596, height=96) for x in (100, 200)]
    texts = [(150, 700, "Huts of 2026"), (60, 680, "Hut"), (102, 680, "Offers"), (210, 680, "Beds")]
    texts += [(60, 650, "Lower"), *typed("soup", "bread", "tea", x=120, y=662), (210, 650, "40")]
    texts += [(60, 620, "Upper"), (210, 620, "9"), (60, 602, "Old"), (120, 602, "a stove"), (210, 602, "7")]
    title, table = blocks([*across, *down, *texts])
    assert (title.text, table.text.split("\n")) == (
        "Huts of 2026",
        [
            "| Hut | Offers | Beds |",
            "| --- | --- | --- |",
            "| Lower | soup bread tea | 40 |",
            "| Upper |  | 9 |",
            "| Old | a stove | 7 |",
        ],
    )


def test_a_table_across_two_columns_of_prose_is_above_them():
    """Its last column is no part of the right one."""
    lines = [rule(50, y, 450) for y in (751, 737, 709)]
    page = cells([("Hut", "Beds", "Open"), ("Upper", "40", "May"), ("Lower", "9", "June")], (50, 200, 400), top=740)
    prose = sorted([*typed(*OVEN * 2, y=690), *typed(*WHEEL * 2, x=320, y=690)], key=lambda line: -line[1])
    table, *text = blocks([*lines, *page, *prose])
    assert table.text.split("\n")[2:] == ["| Upper | 40 | May |", "| Lower | 9 | June |"]
    assert " ".join(block.text for block in text) == " ".join([*OVEN * 2, *WHEEL * 2])


def test_rules_around_prose_make_no_table():
    """As above and below the text of a page, and between its running head and its columns."""
    lines = [rule(50, y, 450) for y in (760, 730, 500)]
    prose = sorted([*typed(*OVEN * 2), *typed(*WHEEL * 2, x=320)], key=lambda line: -line[1])
    page = [*lines, (50, 740, "Mill and bakery"), (400, 740, "Chapter 3"), *prose]
    assert "table" not in {block.kind for block in blocks(page)}


def test_rows_that_stand_apart_have_their_lines_close_together():
    """Where no rule stands between them, a shorter row goes on with the one that it is close to."""
    rows = [
        ("Paper", "14 pt", "0", "3"),
        ("title", "upper", "", ""),
        ("List", "12 pt", "9", "12"),
        ("", "both", "", ""),
    ]
    rows += [("Third", "10 pt", "6", "0"), ("level", "bold", "", "")]
    heights = (700, 689, 674, 663, 648, 637)
    page = [
        (x, y, text)
        for y, row in zip(heights, rows, strict=True)
        for x, text in zip((50, 120, 200, 260), row, strict=True)
    ]
    page = [line for line in page if line[2]]
    heads = cells([("Style", "Font", "Before", "After")], (50, 120, 200, 260), top=720)
    (table,) = blocks([rule(50, 730, 250), rule(50, 714, 250), *heads, *page, rule(50, 630, 250)])
    assert table.text.split("\n")[2:] == [
        "| Paper title | 14 pt upper | 0 | 3 |",
        "| List | 12 pt both | 9 | 12 |",
        "| Third level | 10 pt bold | 6 | 0 |",
    ]


def test_a_gap_that_is_wider_than_others_in_a_word_is_a_space():
    """PDFium misses it where the room behind one letter makes it; the letters of a word may all stand apart."""
    joined = "BT /F 10 Tf 1 0 0 1 50 700 Tm (th) Tj 2.6 Tc (ea) Tj 0 Tc (glacier) Tj ET\n"
    apart = "BT /F 10 Tf 3 Tc 1 0 0 1 50 640 Tm (GLACIER) Tj ET\n"
    assert one(pdf([joined, apart])).text == "the a glacier\n\nGLACIER"


def test_numbers_of_a_column_that_is_drawn_alone_stay_apart():
    """PDFium takes 50 above 5 for 505."""
    columns = [("Part", "A-1", "A-2", "A-3"), ("Bore", "50", "5", "52"), ("Price", "5.00", "56.25", "157.50")]
    page = [
        (x, 700 - 18 * n, text)
        for x, column in zip((50, 200, 300), columns, strict=True)
        for n, text in enumerate(column)
    ]
    (table,) = blocks(page)
    assert table.text.split("\n")[2:4] == ["| A-1 | 50 | 5.00 |", "| A-2 | 5 | 56.25 |"]


def test_cells_may_be_code():
    """As names of commands, beside what they do and where."""
    rows = [("ls", "lists", "/etc"), ("cp", "copies a file", "/tmp"), ("mv", "moves a file", "/tmp")]
    places = [(x, 700 - 12 * n, font) for n in range(len(rows)) for x, font in ((50, "C"), (150, "F"), (300, "C"))]
    (table,) = blocks([(x, y, text, font) for (x, y, font), text in zip(places, sum(rows, ()), strict=True)])
    assert table.text.split("\n") == [f"| {' | '.join(row)} |" for row in rows]


def test_items_behind_marks_are_no_table():
    """But a list, and lines of code behind their numbers are none either."""
    bullets = [item for n in range(4) for item in ((50, 700 - 12 * n, "-"), (80, 700 - 12 * n, f"bed {n} is free"))]
    numbered = [item for n in range(4) for item in ((50, 700 - 12 * n, str(n)), (80, 700 - 12 * n, "open()", "C"))]
    (found,) = blocks(bullets)
    assert (found.kind, found.text.split("\n")) == ("list", [f"- bed {n} is free" for n in range(4)])
    assert "table" not in {block.kind for block in blocks(numbered)}


def test_letters_beyond_the_basic_plane_are_read():
    """PDFium counts them as two, and what follows them keeps its place on the page."""
    names = b"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <D835DC56> endbfchar"
    stream = b"99 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (len(names), names)
    page = [(50, 700, "AA", "C"), (50, 660, "The sum is AAA or 7.")]
    content = pdf(page).replace(b"/Courier /Encoding /WinAnsiEncoding", b"/Courier /ToUnicode 99 0 R")
    found = list(one(content.replace(b"%PDF-1.4\n", b"%PDF-1.4\n" + stream)).blocks)
    assert [block.text for block in found] == ["```\n𝑖𝑖\n```", "The sum is AAA or 7."]


def test_a_file_of_two_pages_has_running_heads_too():
    """And a title that a program gave by itself is none."""
    texts = enumerate(("Open.", "Shut."), start=1)
    pages = [[(50, 780, "Price list"), *typed(text), (280, 20, f"Page {n} of 2")] for n, text in texts]
    found = one(pdf(*pages, title="untitled"))
    assert (found.title, [block.text for block in found.blocks]) == ("ice", ["Open.", "Shut."])


def test_a_title_that_word_gave_is_the_files_name_in_word():
    """Without the program before it and the suffix behind it."""
    assert one(pdf(typed("Open."), title="Microsoft Word - Huts.docx")).title == "Huts"
    assert one(pdf(typed("Open."), title="(anonymous)".replace("(", "\\(").replace(")", "\\)"))).title == "ice"


FIELD = "<< /Type /Annot /Subtype /Widget /FT /Tx /T (f{n}) /V ({text}) /DA (/H 10 Tf 0 g) /F {flags} /Rect [{at}] >>"


def form(**fields) -> bytes:
    """A page with a label a line, drawn in another order than the fields beside them; `_hidden` is not shown."""
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    places = {name: 700 - 20 * n for n, name in enumerate(fields)}
    drawn = {
        FIELD.format(n=n, text=text, flags=2 if name == "_hidden" else 4, at=f"150 {y - 4} 400 {y + 12}")
        for (name, text), (n, y) in zip(fields.items(), enumerate(places.values()), strict=True)
    }
    content = pdf([(50, y, f"{name}:") for name, y in reversed(places.items()) if name != "_hidden"]).decode("cp1252")
    numbers = range(90, 90 + len(drawn))
    objects = "".join(f"{n} 0 obj\n{each}\nendobj\n" for n, each in zip(numbers, sorted(drawn), strict=True))
    refs = " ".join(f"{n} 0 R" for n in numbers)
    content = content.replace("%PDF-1.4\n", f"%PDF-1.4\n{objects}")
    content = content.replace(
        "/Type /Catalog", f"/Type /Catalog /AcroForm << /Fields [{refs}] /DR << /Font << /H {font} >> >> >>"
    )
    return (
        content.replace("/Type /Page /", f"/Type /Page /Annots [{refs}] /")
        .replace("startxref", "startxref 0 ")
        .encode("cp1252")
    )


def test_what_a_forms_fields_hold_stands_behind_their_labels():
    """Whatever the order in which they are drawn; what is hidden is not read."""
    assert one(form(Name="Anna Berg", City="Oslo", _hidden="Say Bob.")).text == "Name: Anna Berg\n\nCity: Oslo"


OVEN = ["The oven is heated with birch for", "three hours before the first batch,", "and then it rests until the dawn."]
WHEEL = [
    "The wheel of the mill turns eleven",
    "times a minute when it has rained,",
    "and it was rebuilt after a flood.",
]
BOAT = [
    "The boat crosses the lake at eight",
    "and at noon, and it takes no dogs,",
    "but children up to six travel free.",
]


@pytest.mark.parametrize(
    "columns",
    [
        [typed(*OVEN * 2), typed(*WHEEL * 2, x=230), typed(*BOAT * 2, x=410)],
        [typed(*OVEN * 2), typed(*WHEEL * 3, x=320)],
        [[*typed(*OVEN), *typed(*OVEN, y=650)], [*typed(*WHEEL, x=320), *typed(*WHEEL, x=320, y=650)]],
    ],
    ids=["three", "one longer", "of two paragraphs"],
)
def test_columns_of_many_shapes_are_not_woven(columns):
    """Each is read to its end before the next, though their lines are drawn side by side."""
    page = sorted((line for column in columns for line in column), key=lambda line: (-line[1], line[0]))
    wanted = " ".join(line[2] for column in columns for line in column)
    assert one(pdf(page)).text.replace("\n\n", " ") == wanted


@pytest.mark.parametrize("drawn", ["by row", "by column", "backwards"])
def test_a_table_is_one_whatever_the_order_in_which_its_cells_are_drawn(drawn):
    """Numbers stand under each other by their last digits, and one cell is empty."""
    rows = [("Part", "Bore", "Price"), ("KV-240", "50", "5.00"), ("KV-241", "", "56.25"), ("KV-242", "52", "157.50")]
    rows.append(("KV-243", "53", "8.75"))
    page = [
        (x - 5 * len(cell) * (x > 50), 700 - 18 * n, cell)
        for n, row in enumerate(rows)
        for x, cell in zip((50, 200, 300), row, strict=True)
    ]
    page = [line for line in page if line[2]]
    key = {
        "by row": None,
        "by column": lambda line: (line[0] // 100, -line[1]),
        "backwards": lambda line: (-line[1], -line[0]),
    }[drawn]
    (table,) = blocks(sorted(page, key=key) if key else page)
    assert table.text.split("\n")[2:4] == ["| KV-240 | 50 | 5.00 |", "| KV-241 |  | 56.25 |"]
    assert table.text.startswith("| Part | Bore | Price |\n| --- |")
