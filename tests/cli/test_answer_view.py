"""How an answer looks: its lines, what is said of each citation, and which part of a passage is shown."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from rich.console import Group

from command_line import drawn
from surefoot.cli._answer_view import MARKED, answered, factors, opening, path
from surefoot.cli._text_view import LINES, ROOM, excerpt, readable
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.types import NOT_THERE, Answer, Citation, Factor, Grade, Passage, Step, Strip, Trace
from surefoot.types.metadata import Meta


def traced(answer: Answer, *passages: Passage) -> Trace:
    grades = tuple(Grade(p.id, 1.0 - n / 10, span=(0, 3)) for n, p in enumerate(passages))
    return Trace("1", "Who?", passages=passages, grades=grades, answer=answer)


BRIDGE = Passage("a", "Tomas Aldwin built it.", "Manual › Bridges", url="manual.html#bridges", file="manual.html")
STRIP = Strip("a", 0, 22, BRIDGE.text, 1.0, kept=True)
QUOTED = Citation(1, STRIP, "Tomas Aldwin", quoted=True)


def test_a_text_keeps_its_lines() -> None:
    """Nothing is read as Markdown that a terminal would draw otherwise, nor as Rich's own markup."""
    text = "- [b]first[/b] :smile:\n  goes on\n- **second**\n\n| a | b |"
    assert drawn(readable(text)) == text


@pytest.mark.parametrize(
    "text", ["a\x1b[2Jb", "```\na\x1b]0;x\x07b\n```", "| a\x9bb | c |", "t\n: a\u202eb", "a\rb\x85c"]
)
def test_nothing_of_a_text_steers_the_terminal(text: str) -> None:
    shown = drawn(readable(text))
    assert not set("\x1b\x07\x9b\u202e\r\x85") & set(shown)


@given(st.text("ab |-`:.#\n\t*1)[]\x1b", max_size=60), st.data())
def test_any_text_can_be_drawn_with_any_mark_and_any_part(text: str, data: st.DataObject) -> None:
    """Its words are all there where it is drawn whole."""
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    whole = drawn(readable(text, [(start, end, MARKED)]))
    assert {c for c in text if c in "ab"} <= set(whole)
    drawn(readable(text, [(start, end, MARKED)], excerpt(text, (start, end))))


def test_the_words_that_answer_are_marked() -> None:
    shown = drawn(readable("one two three", [(4, 7, MARKED)]), terminal=True)
    assert shown == "one \x1b[1;4mtwo\x1b[0m three"


def test_an_excerpt_is_whole_sentences_around_the_words_that_answer() -> None:
    """As many as fit, and the words are among them."""
    text = " ".join(f"Sentence number {n} says little." for n in range(60))
    at = text.index("number 30")
    start, end = excerpt(text, (at, at + 9))
    assert start <= at < end <= start + ROOM
    assert text[start:end].startswith("Sentence number 30")
    assert text[start:end].endswith("little.")


def test_an_excerpt_of_lines_is_a_few_lines() -> None:
    """Of a list, a table or code."""
    text = "\n".join(f"- item {n}" for n in range(60))
    start, end = excerpt(text, (text.index("item 30"), text.index("item 30") + 7))
    assert "item 30" in text[start:end]
    assert text[start:end].count("\n") == LINES - 1


def test_of_one_long_sentence_the_part_around_the_words_is_shown() -> None:
    """Cut between words, with an ellipsis at either end."""
    text = "word " * 200 + "here " + "word " * 200
    at = text.index("here")
    part = excerpt(text, (at, at + 4))
    assert part[1] - part[0] <= ROOM
    shown = drawn(readable(text, (), part), 400)
    assert shown.startswith("… word")
    assert "here" in shown
    assert shown.endswith("word …")


def test_a_citation_that_is_not_quoted_says_why() -> None:
    """Also one of a source that does not exist."""
    missing = Citation(7, None, "", quoted=False, reason="there is no source 7")
    absent = Citation(1, STRIP, "Tomas", quoted=False, reason="not in the source: 1911")
    shown = drawn(answered(traced(Answer("So. [1] [7]", (absent, missing)), BRIDGE)))
    assert "[1] not quoted: not in the source: 1911 “Tomas”" in shown
    assert "[7] not quoted: there is no source 7" in shown


@pytest.mark.parametrize(
    ("supported", "said"),
    [(True, "quoted · supported “Tomas"), (False, "quoted · not supported “Tomas"), (None, "quoted “Tomas")],
)
def test_a_citation_says_whether_its_sources_support_the_sentence(supported: bool | None, said: str) -> None:
    """Where the verifier could tell; with the headings and the address, and nothing wears a tick."""
    cited = replace(QUOTED, supported=supported)
    shown = drawn(answered(traced(Answer("Tomas Aldwin built it. [1]", (cited,)), BRIDGE)))
    assert f"[1] {said} Aldwin” · Manual › Bridges · manual.html#bridges" in shown
    assert "✓" not in shown


def test_each_source_stands_once_with_all_that_is_cited_of_it() -> None:
    """Such as two sentences of a model's; it counts as quoted, and as supported, only where each of them does."""
    other = Citation(2, STRIP, "Aldwin", quoted=True)
    twice = (replace(QUOTED, supported=True), other, Citation(1, STRIP, "built it", quoted=True, supported=False))
    shown = drawn(answered(traced(Answer("Tomas Aldwin built it. [1]", twice), BRIDGE)))
    assert shown.count("[1] quoted · not supported “Tomas Aldwin … built it”") == 1
    assert shown.count("[2] quoted “Aldwin”") == 1
    some = (QUOTED, replace(QUOTED, quoted=False, reason="not in the source: 1950"))
    assert "[1] carries 1 of 2 statements “Tomas" in drawn(answered(traced(Answer("It. [1] So. [1]", some), BRIDGE)))


def test_an_answer_in_other_words_is_no_fault() -> None:
    """The verifier finds that the source carries it."""
    paraphrase = replace(QUOTED, quoted=False, reason="nothing of the sentence stands in the source", supported=True)
    shown = drawn(answered(traced(Answer("He made it. [1]", (paraphrase,)), BRIDGE)))
    assert "[1] in other words · supported" in shown
    assert "not quoted" not in shown


def test_a_sentence_that_no_source_carries_is_said_to_be_unsupported() -> None:
    """A small model's invention beside a quotation must not read as checked."""
    answer = Answer("Tomas Aldwin built it. [1] It is red.", (QUOTED,), uncited=("It is red.",))
    shown = drawn(answered(traced(answer, BRIDGE)))
    assert "not supported by any source: “It is red.”" in shown
    assert "\x1b[31mIt is red.\x1b[0m" in drawn(answered(traced(answer, BRIDGE)), terminal=True)


def test_a_model_that_worded_the_answer_is_named_and_what_no_source_carries_is_marked_in_its_place() -> None:
    """The hedge stands once; nothing is listed again below."""
    hedge = "I am not sure of this: it is a guess."
    text = f"{hedge}\n\nTomas Aldwin built it. [1] It is red. {NOT_THERE}"
    hedged = Answer(text, (QUOTED,), uncited=("It is red.",), hedged=True, because="a guess", hedge=hedge)
    answer = replace(hedged, model="tiny", worded=True)
    trace = traced(answer, BRIDGE)
    shown = drawn(answered(trace))
    assert "Worded by  tiny" in shown
    assert (shown.count("a guess"), shown.count("It is red"), shown.count("not supported")) == (1, 1, 0)
    assert f"\x1b[31m{NOT_THERE}\x1b[0m" in drawn(answered(trace), terminal=True)
    assert "Worded by" not in drawn(answered(traced(replace(answer, worded=False), BRIDGE)))


def test_a_hedged_answer_stands_behind_the_passages_and_wears_no_mark() -> None:
    """It may answer something else, and says why that is thought; its marker leads to the place all the same."""
    answer = Answer("Tomas Aldwin built it. [1]", (QUOTED,), hedged=True, because="it does not name the year")
    shown = drawn(answered(traced(answer, BRIDGE)))
    parts = ["These passages may answer", "Nearest sentence", "Tomas Aldwin built it. [1]"]
    parts += ["[1] Manual › Bridges · manual.html#bridges", "it does not name the year"]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)
    assert "quoted" not in shown
    assert "Answer  " not in shown


FACTORS = (Factor("its score", 2.0, 1.5), Factor("its length", 9.0, -0.25), Factor("its place", 1.0, 0.5))


@pytest.mark.parametrize(("hedged", "word"), [(False, "sure"), (True, "unsure")])
def test_how_sure_an_answer_is_stands_in_a_word_and_a_number(hedged: bool, word: str) -> None:
    """With the strongest fact on each side; all of them are a table."""
    answer = Answer("Tomas Aldwin built it. [1]", (QUOTED,), hedged=hedged, confidence=0.836, factors=FACTORS)
    shown = drawn(answered(traced(answer, BRIDGE)))
    assert f"Confidence {word} · 84 %; most for it: its score; most against it: its length" in shown
    table = drawn(Group(*factors(answer)))
    assert [row.split() for row in table.splitlines() if "its" in row] == [
        ["its", "score", "2.00", "+1.50"],
        ["its", "place", "1.00", "+0.50"],
        ["its", "length", "9.00", "-0.25"],
    ]


def test_an_answer_that_nobody_can_be_sure_of_says_why() -> None:
    """Once, where the hedge says the same; an older trace, and a refusal without an answer, say nothing."""
    answer = Answer("Tomas Aldwin built it. [1]", (QUOTED,), unjudged="it is a model's")
    assert "Confidence none: it is a model's" in drawn(answered(traced(answer, BRIDGE)))
    told = drawn(answered(traced(replace(answer, hedged=True, because="it is a model's"), BRIDGE)))
    assert told.count("it is a model's") == 1
    assert "Confidence" not in drawn(answered(traced(replace(answer, unjudged=""), BRIDGE)))
    assert factors(answer) == []


def test_a_refusal_is_followed_by_the_nearest_passages() -> None:
    """Which the reader may judge better, and by what the asker can mend, such as the language of the question."""
    refused = Answer("I cannot answer this.", refused=True, because="ask in English")
    shown = drawn(answered(traced(refused, BRIDGE)))
    places = [shown.index(part) for part in ("I cannot", "ask in English", "Nearest passages", "Manual › Bridges")]
    assert places == sorted(places)


def test_passages_are_named_by_their_place_and_several_by_their_number() -> None:
    """Nobody can read an id; what no passage has stays as it is."""
    ids = ["p" + str(n) * 24 for n in range(3)]
    some = [replace(BRIDGE, id=id) for id in ids[:2]]
    said = f"an order, in {ids[0]}; a question, in {ids[0]}, {ids[1]}; talk, in {ids[2]}"
    trace = replace(traced(Answer("So."), *some), steps=(Step("generate", 0.0, degraded=said),))
    shown = " ".join(drawn(answered(trace), width=200).split())
    assert f"! an order, in manual.html#bridges; a question, in 2 passages; talk, in {ids[2]}" in shown


def test_a_passage_has_the_marker_of_its_citation_and_no_other_number() -> None:
    """[1] means one thing on the screen; two quotations from one passage are both named."""
    others = [Passage(str(n), f"Text {n}.", f"T{n}", url=f"{n}.md", file=f"{n}.md") for n in range(2)]
    cited = (replace(QUOTED, marker=3), replace(QUOTED, marker=1))
    shown = drawn(answered(traced(Answer("It. [3] [1]", cited), others[0], BRIDGE, others[1])))
    assert "[1] [3] .90 Manual › Bridges" in shown
    assert "• 1.00 T0 · 0.md" in shown
    assert "• .80 T1 · 1.md" in shown


def test_three_passages_are_shown_best_first() -> None:
    """Each with its number and its grade; nothing of it stands in their place where there are none."""
    several = [Passage(str(n), f"Text {n}.", f"T{n}", url=f"{n}.md", file=f"{n}.md") for n in range(5)]
    shown = drawn(answered(traced(Answer("So."), *several)))
    assert [n for n in range(5) if f"Text {n}." in shown] == [0, 1, 2]
    assert "2 .90 T1 · 1.md" in shown
    assert "Passages" not in drawn(answered(traced(Answer("So."))))


def test_passages_that_were_not_graded_are_shown_too() -> None:
    """A question may end between search and grading."""
    late = Passage("w", "A page of the web.", "Web", "external", url="https://example.org/w")
    shown = drawn(answered(replace(traced(Answer("So."), BRIDGE), external=(late,))))
    assert "A page of the web." in shown


def test_the_headings_in_the_middle_of_a_long_path_are_left_out() -> None:
    """The last one says what the passage is about."""
    long = " › ".join(["The Manual", *(f"Chapter with a long name {n}" for n in range(6)), "Arrays"])
    assert path(long) == "The Manual › … › Arrays"
    assert path("The Manual › Arrays") == "The Manual › Arrays"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a b.md").write_text("Iron.")
    build([tmp_path / "notes"], tmp_path / "index.db", Hashing())
    return Index.open(tmp_path / "index.db")


def test_a_passage_opens_at_its_place_in_the_file_as_it_lies_here(index: Index, tmp_path: Path) -> None:
    """Absolute only in the link; what is shown is as it was indexed."""
    held = Passage("a", "Iron.", url="notes/a b.md#L1", file="notes/a b.md")
    assert opening(index)(held) == f"{(tmp_path / 'notes').as_uri()}/a%20b.md#L1"


def test_only_files_of_the_index_and_pages_of_the_web_open(index: Index, tmp_path: Path) -> None:
    """A row may claim any address, and a trace from elsewhere any file."""
    opens = opening(index)
    assert opens(Passage("a", "x", url="/etc/passwd", file="/etc/passwd")) == ""
    assert opens(Passage("a", "x", url="javascript:alert(1)", file="gone.csv")) == ""
    assert opens(Passage("a", "x", url="file:///etc/passwd", source="external")) == ""
    assert opens(Passage("a", "x", url="https://a.example/\x1b]8;;", source="external")) == ""
    assert opens(Passage("a", "x", url="https://a.example/1", source="external")) == "https://a.example/1"


def test_a_link_is_drawn_where_the_terminal_can() -> None:
    """And is plain text where not."""
    trace = traced(Answer("Tomas Aldwin built it. [1]", (QUOTED,)), BRIDGE)
    assert "file:///m.html" in drawn(answered(trace, lambda _: "file:///m.html"), terminal=True)
    assert "file:///m.html" not in drawn(answered(trace, lambda _: "file:///m.html"))


def test_the_date_of_a_document_stands_beside_its_source() -> None:
    """With a citation and with a passage; where there is none, nothing stands there."""
    dated = replace(BRIDGE, meta=Meta({"modified": "2024-05-12"}))
    shown = drawn(answered(traced(Answer("Aldwin [1]", (QUOTED,)), dated)))
    assert shown.count("manual.html#bridges · 2024-05-12") == 2
    assert "2024" not in drawn(answered(traced(Answer("Aldwin [1]", (QUOTED,)), BRIDGE)))
