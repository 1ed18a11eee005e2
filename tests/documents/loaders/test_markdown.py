"""Markdown as its author meant it: headings as paths, links as text, code and tables whole."""

import io

import pytest

from documents.loaders.opening import one, outline
from effort import effort
from surefoot.documents.loaders import read


def test_blocks_stand_under_their_headings_with_their_lines():
    """Also where no empty line parts a heading from what stands before it."""
    text = "# Huts\r\n\r\nOpen.\r\n## Rules ##\r\n- Quiet.\r\n- Dark.\r\n## Beds\r\n| n |\r\n|---|\r\n| 40 |\r\n"
    assert one(text, "x.md").title == "Huts"
    assert outline(text, "x.md") == [
        ("paragraph", "Huts", "L3", "Open."),
        ("list", "Huts › Rules", "L5", "- Quiet.\n- Dark."),
        ("table", "Huts › Beds", "L8", "| n |\n|---|\n| 40 |"),
    ]


def test_an_underlined_heading_is_one():
    """The older way to write a title."""
    assert outline("Huts\n====\nOpen.\n\nRules\n---\nQuiet.", "x.md") == [
        ("paragraph", "Huts", "L3", "Open."),
        ("paragraph", "Huts › Rules", "L7", "Quiet."),
    ]


@pytest.mark.parametrize("text", ["| a |\n---\nx", "- a\n---\nx"])
def test_a_line_below_a_table_or_list_is_no_heading(text):
    """It is a rule."""
    assert {path for _, path, _, _ in outline(text, "x.md")} == {""}


def test_what_stands_in_a_fence_is_code():
    """Shell comments begin with a hash, and pages show comments of HTML."""
    text = "~~~\n```\n# no\n<!-- shown -->\n[a](b)\n~~~\n\n# Yes\ntext"
    assert outline(text, "x.md") == [
        ("code", "", "L1", "~~~\n```\n# no\n<!-- shown -->\n[a](b)\n~~~"),
        ("paragraph", "Yes", "L9", "text"),
    ]


def test_a_heading_without_text_is_a_caption_of_the_one_above():
    """A heading alone would be a passage that says nothing, and losing it loses words."""
    assert outline("# A\n\n## B\n## C\ntext\n# D\n", "x.md") == [
        ("caption", "A", "L3", "B"),
        ("paragraph", "A › C", "L5", "text"),
        ("caption", "", "L6", "D"),
    ]


def test_front_matter_gives_the_title_and_is_kept():
    """Its other fields are content too."""
    text = '---\ntitle: "The Hut"\nauthor: Eve\n---\nOpen.'
    assert one(text, "x.md").title == "The Hut"
    assert outline(text, "x.md")[0] == ("code", "", "L1", '```yaml\ntitle: "The Hut"\nauthor: Eve\n```')
    assert outline(text, "x.md")[1] == ("paragraph", "", "L5", "Open.")


def test_comments_are_out_and_lines_stay_where_they_are():
    """A browser shows none; one that never ends is text."""
    assert [(place, text) for _, _, place, text in outline("a <!-- x\ny --> b\n\n`<!-- c -->`\n\n<!-- d", "x.md")] == [
        ("L1", "a \n b"),
        ("L4", "`<!-- c -->`"),
        ("L6", "<!-- d"),
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("see [the guide](guide.md#top)", "see the guide"),
        ("see [the site](https://a.example/b)", "see [the site](https://a.example/b)"),
        ("see [it][r] and [r][]\n\n[r]: https://r.example", "see [it](https://r.example) and [r](https://r.example)"),
        ("![a hut](hut.png) [![ok](ok.svg)](ci.html)", "a hut ok"),
        ("array[0][1] and `[a](b)`", "array[0][1] and `[a](b)`"),
        ("| hut | <ul><li>stove</li><li>lamp</li></ul> |", "| hut | stove; lamp |"),
        ('<p align="center">Open<br/>now</p> <name>', "Open now <name>"),
    ],
)
def test_links_are_read_as_their_text(written, read):
    """With the address where it leads out of the corpus; what is no link or no HTML stays."""
    assert one(written, "x.md").text == read


def test_markdown_without_a_heading_is_titled_by_its_name():
    """There is always a title."""
    assert one("#no heading", "notes.md").title == "notes"


def test_a_file_that_ends_in_hashes_is_read():
    """They head nothing, and there is no character behind them to look at."""
    assert one("Wages rose.\n##", "x.md").text == "Wages rose."


@pytest.mark.parametrize(
    "piece", ["[", "![", "[a](", "<!--", "-->\n<!--", "`", "<a ", "a\n=\n", "#\n", "[a]: ", "- a\n"]
)
def test_hostile_markdown_takes_linear_time(piece):
    """200 kB of anything take a small part of what the square of it would."""
    assert effort(lambda: one("x\n" + piece * (200_000 // len(piece)), "x.md"), 20) < 20


@pytest.mark.parametrize(
    ("front", "fields"),
    [
        (
            "---\ntitle: Hut\nyear: 2024 # of print\nlang: 'en'\ndone: true\n---\n",
            {"year": 2024, "lang": "en", "done": True},
        ),
        (
            '+++\nyear = 2024\nlang = "en # no comment"\n[params]\nnested = 1\n+++\n',
            {"year": 2024, "lang": "en # no comment"},
        ),
        ("---\ntags: [a, b]\nmore:\n  year: 1\n- list\ntext: |\n  long\nof: {a: 1}\nname: *x\n---\n", {}),
        ("---\ndate: 2024-05-01\nurl: http://a/b#c\n---\n", {"date": "2024-05-01", "url": "http://a/b#c"}),
        ("", {}),
    ],
)
def test_plain_values_of_front_matter_are_fields(front, fields):
    """Not the title, nor lists, tables, nested values and texts of several lines."""
    assert one(f"{front}Open.", "x.md").meta == fields


def test_a_field_of_front_matter_that_is_too_long_is_told():
    """The others are kept, and so is the text."""
    items = [*read(io.BytesIO(f"---\nlong: {'x' * 501}\nyear: 1\n---\nOpen.".encode()), "x.md")]
    problem, document = items
    assert problem.reason == "front matter: the field 'long' has 501 characters, and at most 500 fit; it is left out"
    assert (problem.skipped, document.meta, len(document.blocks)) == (False, {"year": 1}, 2)


def test_front_matter_made_to_be_slow_is_not():
    """Spaces, and lines that begin like fields."""
    front = "a" * 60 + " " * 200_000 + "\nb: " + " #" * 100_000 + "\n" + "c: 1\n" * 20_000
    assert effort(lambda: one(f"---\n{front}---\nOpen.", "x.md"), 5) < 5


def test_a_bold_question_of_its_own_heads_its_answer():
    """As FAQs are written; it stands below headings, but beside another question."""
    text = (
        "# Boiler\n\n**Is it *hot*?**\n\nYes.\n\n## May I wash it?\n\nNo.\n\n__Q: Where?__\nA: Left.\n\n**N** well?\n"
    )
    assert [(block.path, block.text) for block in one(text, "faq.md").blocks] == [
        (("Boiler", "Is it *hot*?"), "Yes."),
        (("Boiler", "May I wash it?"), "No."),
        (("Boiler", "Q: Where?"), "A: Left."),
        (("Boiler", "Q: Where?"), "**N** well?"),
    ]
