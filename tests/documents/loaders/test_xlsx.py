"""What is read out of an Excel workbook."""

import io
import re
import zipfile
from contextlib import suppress
from datetime import date, datetime

import pytest

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable, read

openpyxl = pytest.importorskip("openpyxl")


def book(**sheets) -> bytes:
    """A workbook; of each sheet its rows."""
    made, out = openpyxl.Workbook(), io.BytesIO()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return _saved(made, out)


def _saved(made, out) -> bytes:
    made.save(out)
    return out.getvalue()


def items(content: bytes) -> list[Document | DocumentProblem]:
    return list(read(io.BytesIO(content), "huts.xlsx"))


def blocks(**sheets) -> list[Block]:
    (document,) = items(book(**sheets))
    return list(document.blocks)


def test_each_sheet_is_a_table_under_its_name():
    """Its first row is the header."""
    assert blocks(Huts=[["Hut", "Beds"], ["Lower", 40]], Ice=[["Name", "km"], ["Aletsch", 22.6]]) == [
        Block("| Hut | Beds |\n| --- | --- |\n| Lower | 40 |", "table", ("Huts",), "Huts"),
        Block("| Name | km |\n| --- | --- |\n| Aletsch | 22.6 |", "table", ("Ice",), "Ice"),
    ]


def test_empty_rows_part_tables_and_a_lone_cell_is_text():
    """As people lay out a sheet; empty columns go."""
    rows = [
        ["Prices of 2024"],
        [None, "Hut", None, "CHF"],
        [None, "Lower", None, 30],
        [],
        [None, "Open", "Shut"],
        [None, "May", "Oct"],
    ]
    assert [(block.kind, block.text) for block in blocks(Huts=rows)] == [
        ("paragraph", "Prices of 2024"),
        ("table", "| Hut | CHF |\n| --- | --- |\n| Lower | 30 |"),
        ("table", "| Open | Shut |\n| --- | --- |\n| May | Oct |"),
    ]


def test_a_long_table_has_its_header_in_every_block():
    """No row stands far from it."""
    found = blocks(Huts=[["Hut", "Beds"], *([f"Hut {n}", n + 1] for n in range(100))])
    assert [block.text.startswith("| Hut | Beds |\n| --- | --- |\n") for block in found] == [True, True, True]
    assert sum(block.text.count("| Hut ") for block in found) == 100 + 3


def test_values_are_written_as_they_are_shown():
    """Dates, shares and truth; a line end in a cell is a space."""
    made = openpyxl.Workbook()
    made.active.append(["a", "b", "c", "d", "e", "f"])
    made.active.append([date(2024, 5, 1), datetime(2024, 5, 1, 8, 30), 0.25, True, "two\nlines", 1 / 3])
    made.active["C2"].number_format = "0%"
    (document,) = items(_saved(made, io.BytesIO()))
    row = document.blocks[0].text.rpartition("\n")[2]
    assert row == "| 2024-05-01 | 2024-05-01 08:30:00 | 25% | TRUE | two lines | 0.333333333333333 |"


def test_a_hidden_sheet_is_named_and_not_read():
    """A reader would not see it."""
    made = openpyxl.load_workbook(io.BytesIO(book(Huts=[["a", "b"], [1, 2]], Bob=[["say", "Bob"]])))
    made["Bob"].sheet_state = "hidden"
    problem, document = items(_saved(made, io.BytesIO()))
    assert problem == DocumentProblem("sheet Bob is hidden, and was not read")
    assert "Bob" not in document.text


BOOK = book(Huts=[["Hut", "Beds"], ["Lower", 40]])


def changed(whole: bytes, name: str, content: str) -> bytes:
    """An archive with another part in place of one of its own."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.namelist():
            new.writestr(part, content if part == name else old.read(part))
    return out.getvalue()


def test_an_entity_that_doubles_itself_is_not_unpacked():
    """A kilobyte of them would be gigabytes."""
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 20}">' for n in range(8))
    strings = f'<!DOCTYPE sst [<!ENTITY e0 "ice">{entities}]><sst xmlns="{openpyxl.xml.constants.SHEET_MAIN_NS}">'
    bomb = changed(BOOK, "xl/sharedStrings.xml", f"{strings}<si><t>&e8;</t></si></sst>")
    with suppress(Unreadable):
        assert all(len(item.text) < 1_000 for item in items(bomb) if isinstance(item, Document))


def test_a_cell_merged_down_is_said_in_each_row_that_says_anything():
    """So that a row makes sense alone."""
    made, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["Valley", "Hut"], ["Aare", "Lower"], [None, "Upper"], [None, None], ["Rhone", "Ice"]):
        made.active.append(row)
    made.active.merge_cells("A2:A4")
    (document,) = items(_saved(made, out))
    assert document.blocks[0].text == "| Valley | Hut |\n| --- | --- |\n| Aare | Lower |\n| Aare | Upper |"


def test_a_cell_merged_across_names_each_of_its_columns():
    """With the names below it; a title that is merged over the whole table is text above it."""
    made, out = openpyxl.Workbook(), io.BytesIO()
    for row in (["Huts"], ["Valley", "2025", None], [None, "beds", "fires"], ["Aare", 40, 2], ["Rhone", 9, 1]):
        made.active.append(row)
    for cells in ("A1:C1", "A2:A3", "B2:C2"):
        made.active.merge_cells(cells)
    (document,) = items(_saved(made, out))
    title, table = (block.text for block in document.blocks)
    assert (title, table.split("\n")[0], table.split("\n")[2]) == (
        "Huts",
        "| Valley | 2025 beds | 2025 fires |",
        "| Aare | 40 | 2 |",
    )


def test_a_formula_that_nobody_computed_is_told():
    """In its cell and in the report: an empty cell would be an answer."""
    problem, document = items(book(Huts=[["Hut", "Beds"], ["Lower", "=20+20"]]))
    assert problem.reason == "1 formulas have no value yet, such as Huts!B2; open the file once, and save it"
    assert not problem.skipped
    assert "| Lower | (not computed) |" in document.text


def test_the_day_of_the_last_change_is_a_field():
    """As the file's properties give it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book(Huts=[["Forty beds"]]))) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb"\d{4}-\d\d-\d\d", b"2024-05-12", old.read(name)))
    assert dict(items(out.getvalue())[0].meta) == {"modified": "2024-05-12"}
