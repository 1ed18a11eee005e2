"""Rows of CSV, TSV and JSON: nothing that a cell says is lost."""

import io
import json

import pytest

from documents.loaders.opening import documents, one, outline
from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable, read
from surefoot.index.splitter import passages

HOSTS = 'Host,IP,,OS\ndb1,10.0.0.1,rack 4,"Debian\n12"\nweb,10.0.0.2,,\n'


@pytest.mark.parametrize(("delimiter", "name"), [(",", "x.csv"), (";", "x.csv"), ("\t", "x.tsv"), ("|", "x.csv")])
def test_a_table_of_texts_gives_a_document_a_row(delimiter, name):
    """Whatever stands between its columns; quoted cells may hold line ends."""
    content = f'ID{delimiter}Title{delimiter}Text\n1{delimiter}Hut{delimiter}"Forty\nbeds"\n'
    assert one(content, name) == Document("1", "Hut", (Block("Forty\nbeds"),), None, "1")


def test_a_row_without_a_text_column_says_all_of_its_columns():
    """As a table of one row under the file's name; empty cells say nothing, a column without a name has its number."""
    assert [(found.title, found.text) for found in documents(HOSTS, "hosts.csv")] == [
        (
            "hosts",
            "| Host | IP | column 3 | OS |\n| --- | --- | --- | --- |\n| db1 | 10.0.0.1 | rack 4 | Debian 12 |",
        ),
        ("hosts", "| Host | IP |\n| --- | --- |\n| web | 10.0.0.2 |"),
    ]


def test_a_cell_behind_the_last_column_is_read():
    """Rows are longer than their header more often than one thinks."""
    assert one("a,b\n1,2,3\n", "x.csv").text == "| a | b | column 3 |\n| --- | --- | --- |\n| 1 | 2 | 3 |"


def test_a_row_of_long_cells_is_lines():
    """A table of sentences is hard to read."""
    assert one(f"a,b\n1,{'x' * 101}\n", "x.csv").text == f"a: 1\nb: {'x' * 101}"


@pytest.mark.parametrize("header", ["Herd,Cows,Goats", ",2023,2024"])
def test_titles_above_the_header_are_kept_apart(header):
    """They title the rows, and what they say is a document; names of rows without a name of their own are no title."""
    first, row = documents(f"Farm report\nPrinted;2025\n\n{header}\nNorth,4,7\n".replace(";", ","), "farm.csv")
    assert (first.title, first.text) == ("farm › Farm report › Printed 2025", "Farm report\n\nPrinted 2025")
    assert row.text.endswith("| North | 4 | 7 |")
    assert len(documents(f"{header.strip(',')}\nNorth,4,7\nSouth,1,2\n", "farm.csv")) == 2


def test_a_header_that_names_a_text_is_no_title():
    """Though its rows have more commas than they should."""
    assert [found.blocks[0].text for found in documents("text\nOwls, elks\nBees, cows\n", "x.csv")] == ["Owls", "Bees"]


def test_columns_are_parted_by_what_makes_rows_alike():
    """Prose in a cell has more commas than its table has columns."""
    rows = 'Name;Note\nOwl;"Grey, small, shy"\nElk;"Big, brown, loud"\n'
    assert documents(rows, "x.csv")[0].text == "| Name | Note |\n| --- | --- |\n| Owl | Grey, small, shy |"


@pytest.mark.parametrize("name", ["x.csv", "x.json"])
def test_a_question_and_its_answer_are_a_heading_and_its_text(name):
    """What stands beside them is kept."""
    row = {"Question": "Who rings?", "Answer": "The warden.", "Area": "Hut"}
    content = f"{','.join(row)}\n{','.join(row.values())}\n" if name == "x.csv" else json.dumps([row])
    found = one(content.lower() if name == "x.json" else content, name)
    assert {block.path for block in found.blocks} == {(found.blocks[0].path[0],)}
    assert found.blocks[0].path[0].lower() == "who rings?"
    assert found.text.lower() == "the warden.\n\narea: hut"


def test_a_row_of_a_question_and_one_more_cell_is_asked_in_any_language():
    """Three cells are a table, and so are two that ask nothing."""
    found = one("Frage;Antwort\nWie lange?;Zwei Monate.\n", "x.csv")
    assert found.blocks == (Block("Zwei Monate.", path=("Wie lange?",)),)
    assert one("Frage;Antwort;Nr\nWie lange?;Zwei Monate.;3\n", "x.csv").text.startswith("| Frage |")
    assert one("Frist;Dauer\nMiete;Zwei Monate.\n", "x.csv").text.startswith("| Frist |")


def test_the_columns_beside_a_text_are_said_below_it():
    """But for those that name the row, and those that are empty."""
    first, second = documents("id,title,text,lang,url\n1,Hut,Forty beds.,en,\n2,Barn,No beds.,,\n", "x.csv")
    assert first.blocks == (Block("Forty beds."), Block("lang: en"))
    assert second.blocks == (Block("No beds."),)


def test_a_row_whose_text_is_empty_is_a_problem():
    """Its id and title alone are no document."""
    assert [one.text for one in documents("title,text\na,\nb,Beds.\n", "x.csv")] == ["Beds."]


def test_rows_of_ids_titles_and_texts_are_the_same_in_both_forms():
    """A corpus that was made for retrieval gets no word of ours."""
    row = {"id": "1", "title": "Hut", "text": "Forty beds.\n\n- one\n- two"}
    csv = 'id,title,text\n1,Hut,"Forty beds.\n\n- one\n- two"\n'
    cut = [
        [*passages(one(content, name), "f", "s")] for content, name in ((csv, "x.csv"), (json.dumps(row), "x.jsonl"))
    ]
    assert cut[0] == cut[1]
    assert [(passage.title, passage.text) for passage in cut[0]] == [("Hut", row["text"])]


def test_a_list_of_objects_is_a_table():
    """Values within values are said under their key path."""
    rows = [{"id": 1, "name": "db1", "ip": {"v4": ["10.0.0.1"]}}, {"title": "T", "text": "Beds.", "x": 1}, {"text": ""}]
    first, second = documents(json.dumps(rows), "hosts.json")
    assert (first.title, first.id, first.text) == (
        "hosts",
        "1",
        "| id | name | ip.v4.0 |\n| --- | --- | --- |\n| 1 | db1 | 10.0.0.1 |",
    )
    assert (second.title, second.text) == ("T", "Beds.")


def test_an_object_is_its_key_paths():
    """Under each outermost key, which a JSON pointer leads to."""
    value = {"name": "hut", "on": True, "none": None, "a/b": {"port": 80, "to": [{"k": "v"}]}, "note": "- x\n- y"}
    assert outline(json.dumps(value), "x.json") == [
        ("paragraph", "a/b", "/a~1b", "a/b.port: 80"),
        ("paragraph", "a/b", "/a~1b", "a/b.to.0.k: v"),
        ("list", "note", "/note", "- x\n- y"),
        ("paragraph", "", "", "name: hut\non: true"),
    ]


@pytest.mark.parametrize("content", ["{", "[" * 200 + "]" * 200, "NaN", '{"a": {}}'])
def test_json_that_cannot_be_read_is_refused(content):
    """Damaged, too deep, no JSON, or without a value."""
    with pytest.raises(Unreadable):
        one(content, "x.json")


def test_long_key_paths_do_not_multiply():
    """Each value repeats its path, so that a file could grow to its square."""
    content = json.dumps({"k": {"x" * 100_000: [1] * 1000}})
    assert len(one(content, "x.json").text) < 1_000_000


def test_rows_carry_fields():
    """Of a table in each form; they are no part of what the row says."""
    forms = {
        "x.jsonl": '{"text": "A hut.", "meta": {"year": 2024, "lang": "de", "done": true}}\n',
        "x.json": '[{"text": "A hut.", "meta": {"year": 2024, "lang": "de", "done": true}}]',
        "x.csv": 'text,meta.year,Meta.lang,meta\nA hut.,2024,de,"{""done"": true}"\n',
    }
    for name, content in forms.items():
        found = one(content, name)
        assert (found.text, found.meta) == ("A hut.", {"year": 2024, "lang": "de", "done": True}), name


def test_a_column_called_meta_that_is_no_table_is_a_column():
    """As it always was."""
    assert one("text,meta\nA hut.,by hand\n", "x.csv").text == "A hut.\n\nmeta: by hand"
    assert one('{"text": "A hut.", "meta": "by hand"}', "x.jsonl").meta == {}


def test_a_field_that_cannot_be_kept_is_told_with_its_row():
    """The row and its other fields stay."""
    rows = '{"text": "A hut.", "meta": {"year": 1, "tags": ["a"]}}\n{"text": "B.", "meta": {"bad key": 1}}\n'
    items = [*read(io.BytesIO(rows.encode()), "x.jsonl")]
    assert [item.meta for item in items if isinstance(item, Document)] == [{"year": 1}, {}]
    assert [item.reason.partition(" is ")[0] for item in items if isinstance(item, DocumentProblem)] == [
        "line 1: the field 'tags'",
        "line 2: the field 'bad key'",
    ]
