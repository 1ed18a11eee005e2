"""The Markdown of passages: what the writers write, the reader reads."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import example, given, strategies as st

from effort import is_proportional
from surefoot.text.blocks import Part, bullets, code, definition, led, parts, table

WORDS = st.text("abcdefgh", min_size=1, max_size=5)
LINE = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
LINES = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
SCRAPS = [
    "- ",
    "1. ",
    "  ",
    "\n",
    "\n\n",
    "| ",
    " |",
    "| --- |",
    "```",
    "~~~~",
    ": ",
    "# ",
    "word",
    "One.",
    "So:",
    "\u00a0",
]
MARKDOWN = st.lists(st.sampled_from(SCRAPS) | st.text(max_size=3), max_size=30).map("".join)


def only(text: str) -> Part:
    """The one part that the text is."""
    (part,) = parts(text)
    assert (part.start, part.end) == (0, len(text))
    return part


def units(text: str) -> list[str]:
    return [text[a:b] for part in parts(text) for a, b in part.units]


# Writers and reader


@given(st.lists(LINES, min_size=1, max_size=12), st.booleans())
def test_a_list_is_read_as_the_items_that_were_written(items: list[str], ordered: bool) -> None:
    """One part with a unit for each item, whose further lines stay its own."""
    text = bullets(items, ordered)
    assert (only(text).kind, only(text).lead) == ("list", None)
    assert [re.sub(r"^(?:- |\d+\. )", "", re.sub(r"\n +", "\n", unit)) for unit in units(text)] == items


@given(st.lists(st.lists(LINE, min_size=2, max_size=2), max_size=6), st.booleans())
def test_a_table_is_read_as_the_rows_that_were_written(rows: list[list[str]], headed: bool) -> None:
    """Its header is what leads up to each row, and no row."""
    text = table(rows, ["Key", "Meaning"] if headed else [])
    if rows or headed:
        assert only(text).kind == "table"
        lead = only(text).lead
        assert (text[slice(*lead)] if lead else None) == ("| Key | Meaning |" if headed else None)
    assert units(text) == [f"| {' | '.join(row)} |" for row in rows]


@given(st.text("ab \n`~|-#:") | st.text(), st.sampled_from(["", "sql"]))
@example("```\nfenced\n```", "")
@example("  indented\n\n\n  further", "")
def test_code_is_read_letter_by_letter(text: str, language: str) -> None:
    """Whatever it holds, fences among it; only the empty lines around it are gone."""
    inside = text.strip("\n").rstrip()
    written = code(text, language)
    assert units(written) == ([inside] if inside else [])
    assert [part.kind for part in parts(written)] == (["code"] if inside else [])


@given(LINE, LINES)
def test_a_definition_is_read_as_its_term_and_meaning(term: str, meaning: str) -> None:
    """The term leads up to what is said of it."""
    text = definition(term, meaning)
    part = only(text)
    assert part.kind == "definition"
    assert part.lead
    assert text[slice(*part.lead)] == term
    assert re.sub(r"\n +", "\n", units(text)[0]) == meaning


# Any text


@given(MARKDOWN)
@example("```\n\n")
@example("Term\n: ")
@example("| a |\n| --- |\n| --- |\nb")
@example("| --- |\n| --- |\n| b |")
def test_units_and_leads_cover_all_but_marks(text: str) -> None:
    """What is in none of them is white space, a fence, a heading, the rule of a table or the colon of a definition."""
    left = list(text)
    for part in parts(text):
        for start, end in (*part.units, *([part.lead] if part.lead else [])):
            left[start:end] = " " * (end - start)
    for part in parts(text):
        rest = "".join(left[part.start : part.end])
        if part.kind == "code":
            opened, *_ = rest.split("\n", 1)
            assert re.match(r"\s*(?:```|~~~)", opened)
            assert re.fullmatch(r"\s*(?:(?:```|~~~).*\s*)?", rest[len(opened) :])
        elif part.kind != "caption":
            marks = {"table": "[-|: ]*", "definition": ":"}.get(part.kind, "")
            assert re.fullmatch(rf"\s*(?:{marks}\s*)*", rest)
        left[part.start : part.end] = " " * (part.end - part.start)
    assert not "".join(left).strip()


@given(MARKDOWN)
def test_parts_and_their_units_are_in_order_and_disjoint(text: str) -> None:
    """None is empty, and each unit stands in its part."""
    found = parts(text)
    assert all(before.end <= after.start for before, after in pairwise(found))
    for part in found:
        spans = [(part.start, part.start), *part.units, (part.end, part.end)]
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert all(text[a:b].strip() for a, b in (*part.units, (part.start, part.end)))


@pytest.mark.parametrize(
    "hostile",
    [
        lambda n: "```\n" * n,
        lambda n: "~~~ x\n```\n" * n,
        lambda n: "|" * n + "\n" + "|" * n,
        lambda n: "|\n" * n,
        lambda n: "| a |\n|" + "--|" * n + "x",
        lambda n: "| a |\n" + " " * n + "|x",
        lambda n: "| a |\n|--|--" + " " * n + "x",
        lambda n: "| a |\n|--|" + "-" * n + "x",
        lambda n: "- " * n + "x",
        lambda n: "- a\n  - b\n    - c\n" * n,
        lambda n: "- a\n\n\n" * n,
        lambda n: "a:\n- b\n\n" * n,
        lambda n: "Term\n: a:\n\n- b\n\n" * n,
        lambda n: "a\n: b\n" * n,
        lambda n: "# a\n" * n,
        lambda n: " " * n + "x",
        lambda n: "\n" * n,
    ],
)
def test_hostile_text_is_read_in_linear_time(hostile: Callable[[int], str]) -> None:
    """Fences that nobody closes, bars, rules that are none, lists in lists: eight times as much text takes about eight
    times as long."""
    assert is_proportional(lambda size: parts(hostile(size)), 8_000, 8)


# Examples


@pytest.mark.parametrize("rule", ["| --- | --- |", "|:--|--:|", "--|--|", "| :--: | ---", "  | -- | --  "])
def test_a_rule_in_any_form_makes_the_row_above_a_header(rule: str) -> None:
    """As Markdown allows; a rule that does not begin with a bar is no line of a table here."""
    text = f"| a | b |\n{rule}\n| c | d |"
    assert (parts(text)[0].lead is not None) == rule.lstrip().startswith("|")


def test_a_sentence_that_ends_in_a_colon_leads_up_to_a_list_or_code() -> None:
    """Only the last one, and only where it ends so."""
    for follower in (bullets(["a", "b"]), code("run")):
        text = f"It is old. Do this:\n\n{follower}"
        lead = parts(text)[1].lead
        assert lead
        assert text[slice(*lead)] == "Do this:"
        assert parts(f"Do this: now.\n\n{follower}")[1].lead is None
    assert parts("Rows:\n\n| a |")[1].lead is None


def test_a_definition_that_ends_in_a_colon_leads_up_to_its_list() -> None:
    """Its last sentence does; without any, the whole definition."""
    text = "mode\n: Old. One of:\n\n- a"
    lead = parts(text)[1].lead
    assert lead
    assert text[slice(*lead)] == "One of:"


def test_a_slice_is_led_up_to_by_what_leads_up_to_its_part() -> None:
    """The header of its table; the length of that tells where the slice begins."""
    text = table([["a", "1"], ["b", "2"]], ["Key", "Size"])
    at = text.index("| b")
    whole, lead = led(text, at, len(text))
    assert whole == "| Key | Size |\n| b | 2 |"
    assert whole[lead:] == text[at:]
