"""How documents are cut."""

import re

import pytest
from hypothesis import given, strategies as st

from effort import effort
from surefoot.documents.loaders import Block, Document
from surefoot.documents.storable import LONGEST_TITLE
from surefoot.index.splitter import LONGEST, passages, split
from surefoot.text.blocks import code, parts, table
from surefoot.text.places import located

TEXTS = st.text(alphabet="aB .!?。\n\t日é-", max_size=600) | st.text(max_size=300)


def cut(text: str, words: int = 160) -> list[str]:
    return [text[start:end] for start, end in split(text, words)]


@given(TEXTS, st.integers(1, 20), st.lists(st.integers(0, 600), max_size=4).map(sorted))
def test_spans_are_ordered_and_disjoint_and_cover_all_but_white_space(text, words, edges):
    """What lies outside of the spans is white space, and no span begins or ends with any."""
    at = 0
    for start, end in split(text, words, list(zip(edges[::2], edges[1::2], strict=False))):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@given(st.integers(241, 2000))
def test_passages_of_plain_words_have_81_to_240_of_them(count):
    """No crumbs and no giants: the rest of a text is never shorter than half of a passage."""
    assert all(81 <= len(piece.split()) <= 240 for piece in cut("word " * count))


def test_a_text_of_half_as_much_again_stays_whole():
    """A corpus that comes in passages keeps them."""
    assert len(cut("word " * 240)) == 1
    assert len(cut("word " * 241)) == 2


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("one " * 109 + "one.\n\n" + "two " * 29 + "two. " + "three " * 200, "one."),
        ("one " * 119 + "end. " + "Two " * 300, "end."),
        ("one " * 109 + "end. " + "two " * 19 + "Dr. Ross " + "three " * 300, "end."),
        ("one " * 119 + "row\n" + "two " * 300, "row"),
        (("one" + " " * 90) * 50 + "end\n\n" + ("two" + " " * 90) * 50, "end"),
    ],
)
def test_a_stronger_end_is_preferred_to_a_later_one(text, end):
    """A paragraph's, then a sentence's, which no abbreviation is, then a line's; also in much white space."""
    assert cut(text)[0].endswith(end)


def test_chinese_is_cut_at_its_full_stops():
    """Scripts without spaces are cut by length, at a sentence end."""
    text = ("日本語の文です" * 10 + "。") * 20
    pieces = cut(text)
    assert len(pieces) > 3
    assert all(piece.endswith("。") and len(piece) < 500 for piece in pieces)


def test_a_line_of_five_megabytes_without_a_space_is_cut_in_linear_time():
    """A hostile or broken file does not hang the indexer."""
    line = "x" * 5_000_000
    assert effort(lambda: cut(line), 20) < 20
    assert max(map(len, cut(line))) <= 240 * 24


@given(st.lists(st.tuples(st.sampled_from(["a", "long" * 9, "日本", "End."]), st.integers(0, 4000)), max_size=60))
def test_no_passage_is_longer_than_the_greatest_length(parts):
    """Whatever its characters are: mostly white space, here."""
    text = "".join(word + " \n"[gap % 2] * gap for word, gap in parts)
    spans = list(split(text))
    assert all(end - start <= LONGEST for start, end in spans)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())


def test_the_most_words_of_the_most_letters_stay_whole():
    """That is where the greatest length comes from: nothing that was whole without long white space is cut."""
    assert cut(" ".join(["x" * 24] * 240)) == [" ".join(["x" * 24] * 240)]


@pytest.mark.slow
def test_white_space_between_words_is_no_passage_however_long():
    """60 MB of it cost each question that met it two minutes; the words around it are passages of their own."""
    text = "one." + " " * 60_000_000 + "two" + "\n" * 60_000_000 + "three"
    assert effort(lambda: cut(text), 20) < 20
    assert cut(text) == ["one.", "two", "three"]


@pytest.mark.slow
def test_words_far_apart_are_cut_in_linear_time():
    """As many long gaps as there are words do not make the time a square."""
    words = ("word" + " " * 6_000) * 2_000
    assert effort(lambda: cut(words), 20) < 20
    assert len(cut(words)) == 2_000


def test_a_title_of_megabytes_is_cut():
    """Each passage of the document repeats it."""
    document = Document("", "T" * 5_000_000, (Block("word " * 500),))
    assert {len(piece.title) for piece in passages(document, "x.html")} == {LONGEST_TITLE}


def test_a_heading_begins_a_passage_that_is_titled_by_its_path():
    """Every heading above it shows; the document's own does not show twice."""
    blocks = (Block("Intro.", path=("Guide",)), Block("Tie it.", path=("Guide", "Rope")), Block("Cut it."))
    found = list(passages(Document("", "Guide", blocks), "guide.md"))
    assert [(piece.title, piece.text) for piece in found] == [
        ("Guide", "Intro."),
        ("Guide › Rope", "Tie it."),
        ("Guide", "Cut it."),
    ]


def test_whole_blocks_under_one_heading_share_a_passage():
    """As far as they fit; the cut falls between two of them."""
    blocks = tuple(Block(f"{n} " + "word " * 60 + "end.") for n in range(6))
    found = list(passages(Document("", "", blocks), "x.md"))
    assert len(found) == 3
    assert "\n\n".join(piece.text for piece in found) == "\n\n".join(block.text for block in blocks)


def test_a_table_of_contents_is_a_passage_of_its_own():
    """Links to the text say nothing themselves; those under no heading, as above and below a page, are left out, unless
    there is nothing else."""
    bar, links = Block("Prev Next", "contents", place="page=2"), Block("- C", "contents", ("D",), place="page=2")
    blocks = (bar, Block("A", place="page=1"), bar, Block("B", place="page=2"), links)
    found = [(piece.text, piece.url) for piece in passages(Document("", "", blocks), "x.pdf")]
    assert found == [("A\n\nB", "x.pdf#page=1"), ("- C", "x.pdf#page=2")]
    assert [piece.text for piece in passages(Document("", "", (bar,)), "x.pdf")] == ["Prev Next"]


SIZED = st.lists(st.tuples(st.integers(1, 300), st.integers(0, 3), st.booleans()), min_size=1, max_size=12)


@given(SIZED)
def test_each_word_of_a_passage_leads_to_the_place_of_its_block(sizes):
    """Also behind a header that is repeated, and where a block is cut in two."""
    blocks = tuple(
        Block(table([[f"w{n}"] * 2] * count, ["h", "h"]), "table", place=f"p{at}")
        if tabular
        else Block(f"w{n} " * count, place=f"p{at}" * bool(at))
        for n, (count, at, tabular) in enumerate(sizes)
    )
    for piece in passages(Document("", "", blocks), "x.html"):
        for word in re.finditer(r"w(\d+)", piece.text):
            place = blocks[int(word[1])].place
            assert located(piece, word.start()).url == (f"x.html#{place}" if place else "x.html")


def test_a_row_with_an_address_of_its_own_has_no_places():
    """The address is its author's, and leads where it leads."""
    blocks = (Block("A", place="one"), Block("B", place="two"))
    (piece,) = passages(Document("", "", blocks, url="https://example.org/a#b"), "x.jsonl")
    assert (piece.url, piece.places) == ("https://example.org/a#b", ())


def test_a_part_of_a_table_begins_with_its_header():
    """So that a row says what its cells are."""
    rows = [["name", "word " * 30] for _ in range(20)]
    found = list(passages(Document("", "", (Block(table(rows, ["Key", "Meaning"]), "table"),)), "x.md"))
    assert len(found) > 2
    assert all(piece.text.startswith("| Key | Meaning |\n| --- | --- |\n| name |") for piece in found)
    assert sum(piece.text.count("| name |") for piece in found) == 20


def test_a_part_of_code_stands_between_fences():
    """Or the next one would be read as prose."""
    written = code("\n".join(f"call({n}, 'an argument', of=several)  # {n}" for n in range(200)), "python")
    found = list(passages(Document("", "", (Block(written, "code"),)), "x.md"))
    assert len(found) > 2
    assert all([part.kind for part in parts(piece.text)] == ["code"] for piece in found)


def test_an_endless_fence_is_repeated_by_no_part():
    """A line of 30,000 signs, which is code that begins and never ends, would be the beginning of each of its parts."""
    found = list(passages(Document("", "", (Block("~" * 30_000, "code"),)), "x.md"))
    assert len(found) > 2
    assert "".join(piece.text for piece in found) == "~" * 30_000


def test_code_is_not_cut_at_its_empty_lines_before_its_block_ends():
    """An empty line in code parts no more than another line's end does."""
    text = "one " * 109 + "one\n\n" + "two " * 29 + "two\n" + "three " * 200
    assert text[slice(*next(split(text, solid=[(0, len(text))])))].endswith("two")


def test_a_rows_passages_take_over_its_id():
    """Behind the name space of its file, so that labels of a ready-made corpus go on fitting."""
    document = Document("a", "", (Block("word " * 500),), id="a")
    assert [piece.id for piece in passages(document, "x.jsonl", "0123456789")] == [
        "0123456789:a",
        "0123456789:a#2",
        "0123456789:a#3",
    ]


def test_other_passages_are_identified_by_file_place_and_text():
    """The same text in another file is another passage; the same one keeps its id."""
    document = Document("", "", (Block("A text."),))
    here, again, there = (next(passages(document, "a.txt", space)).id for space in ("1", "1", "2"))
    assert here == again != there


def test_a_rows_own_address_is_its_passages_address():
    """A web address beats the path of the table it came in."""
    assert (
        next(passages(Document("", "", (Block("A text."),), url="https://a.example"), "x.csv")).url
        == "https://a.example"
    )
    assert next(passages(Document("", "", (Block("A text."),)), "x.csv")).url == "x.csv"
