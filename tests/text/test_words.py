"""Words, sentences and names: the one tokeniser that all lexical parts agree on."""

import re

import pytest
from hypothesis import given, settings, strategies as st

from effort import effort
from surefoot.text.words import (
    bare,
    content_words,
    fold,
    names,
    places,
    sentences,
    stem,
    without,
    words,
)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "first",
    [
        "The hut stands at 2,214 m.",
        "The hut stands at 2,214.5 metres.",
        "She lives in the U.S. and likes it.",
        "She lives in Washington D.C. since 1990.",
        "Dr. A. B. Smith wrote it.",
        "It was J. R. R. Tolkien.",
        "Use fruit, e.g. apples.",
        "Use fruit, e.g. Golden Delicious.",
        "It was built c. 1911.",
        "The train leaves at 3 p.m. on Mondays.",
        "Bring ropes, axes, etc. in winter.",
        "It is 5 ft. tall.",
        "He lives at no. 4.",
        "Smith et al. found it.",
        "He said “Go!”",
        'He said "Stop."',
        "(See below.)",
        "What?!",
        "It was…",
        "Was it so?",
        "Version 1.2.3 is out.",
        "1. Boil the water.",
        "3.27. Set sleep_time.",
    ],
)
def test_a_sentence_ends_where_it_ends(first: str) -> None:
    """Not at an abbreviation, an initial, a decimal or the number of a list; but after a closing quote."""
    assert split(f"{first} Then they left.") == [first, "Then they left."]


def test_a_blank_line_ends_a_sentence() -> None:
    """With or without a full stop, also after an abbreviation, and with any line ends."""
    assert split("A heading\n\nIt is in the U.S.\n \nThen\r\n\r\nend") == [
        "A heading",
        "It is in the U.S.",
        "Then",
        "end",
    ]


@settings(deadline=None)
@given(st.text("aB .!?…\n\"')1,", max_size=80))
def test_sentences_leave_out_white_space_only(text: str) -> None:
    """They are in order, disjoint and trimmed, and nothing that can be read lies outside."""
    at = 0
    for start, end in sentences(text):
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The café’s Hut", ["the", "cafe", "hut"]),
        ("cafe\u0301s de l'E\u0301tat", ["cafes", "de", "l'etat"]),
        ("James' book won't", ["james", "book", "won't"]),
        ("2,214 m", ["2214", "m"]),
        ("2,214.5 and 3.5.", ["2214.5", "and", "3.5"]),
        ("$5,000,000", ["5000000"]),
        ("24.12.1911 or 1911-15", ["24", "12", "1911", "or", "1911", "15"]),
        ("1,2,3", ["1", "2", "3"]),
        ("Straße ΑΒΓ", ["strasse", "αβγ"]),
        ("", []),
        ("?! —", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Folded, without possessive endings; a number with its separators is one word."""
    assert words(text) == expected


@settings(deadline=None)
@given(st.text("abcé 019'’.,é", max_size=40))
def test_folding_twice_changes_nothing(text: str) -> None:
    """What was folded is the same word."""
    assert fold(fold(text)) == fold(text)


def test_content_words_leave_out_stop_words() -> None:
    """Unless nothing else is there."""
    assert content_words("Who built the bridge?") == ["built", "bridge"]
    assert content_words("Who is it?") == ["who", "is", "it"]


def test_forms_of_a_word_have_one_stem() -> None:
    """Which need not be a word."""
    assert {stem(word) for word in ("compose", "composed", "composer", "composers", "composing")} == {"compos"}
    assert stem("foundation") == stem("founded") == "found"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who built the Ruvel Bridge?", ["Ruvel Bridge"]),
        ("What is Henry Feilden's occupation?", ["Henry Feilden"]),
        ("In what city was Tove Jansson born?", ["Tove Jansson"]),
        ("Is Paris in France?", ["Paris", "France"]),
        ("When did World War II end?", ["World War II"]),
        ("Who wrote The Lord of the Rings?", ["The Lord of the Rings"]),
        ("Who is Ludwig van Beethoven's teacher?", ["Ludwig van Beethoven"]),
        ("What does J. R. R. Tolkien teach?", ["J. R. R. Tolkien"]),
        ("Which of Anna Tresk's books sold 2,214 copies?", ["Anna Tresk", "2,214"]),
        ("Name the author of Emma.", ["Emma"]),
        ("Tell me about Dr. Smith.", ["Dr. Smith"]),
        ("Please tell me who Anna is", ["Anna"]),
        ("The Beatles formed when?", ["Beatles"]),
        ("When did the US enter?", ["US"]),
        ("Yes, Paris is.", ["Paris"]),
        ("Am I right?", []),
        ("Where was Łukasz Fabiański born?", ["Łukasz Fabiański"]),
        ("Was it 3.5 km in 1911?", ["3.5", "1911"]),
        ("What is new in v1.5.0?", []),
        ("I like Emma. Who wrote it?", ["Emma"]),
        ("Does iOS run?", []),
        ("How high is the hut?", []),
        ("who is barack obama", []),
        ("", []),
    ],
)
def test_names_of_a_question(question: str, expected: list[str]) -> None:
    """Runs of capitalised words and numbers, without what merely opens the sentence."""
    assert names(question) == expected


@given(st.text("a( )", max_size=12))
def test_a_title_goes_without_what_stands_in_brackets(title: str) -> None:
    """Each bracket that is closed, with the space before it."""
    assert bare("Boundary (2003 film)") == "Boundary"
    assert bare(title) == re.sub(r"\s*\([^)]*\)", "", title).strip()


@pytest.mark.parametrize("title", ["(" * 30_000, "a" + " " * 30_000 + "b)", "(" * 15_000 + ")" + "(" * 15_000])
def test_a_hostile_title_takes_linear_time(title: str) -> None:
    """A page of Wikipedia took half a minute."""
    assert effort(lambda: bare(title), 0.5) < 0.5


def test_hostile_text_takes_linear_time() -> None:
    """Twenty thousand exclamation marks are one sentence, found without trying each of them as its end."""
    assert effort(lambda: split("!" * 20_000), 2) < 2
    assert split("!" * 20_000) == ["!" * 20_000]


@pytest.mark.parametrize(
    ("phrase", "text", "found"),
    [
        ("Tomas Aldwin", "tomas ALDWIN's bridge, Tomas-Aldwin", ["tomas ALDWIN", "Tomas-Aldwin"]),
        ("Koln", "Köln, Kölner", ["Köln"]),
        ("U.S.", "the U.S. and the US", ["U.S"]),
        ("it it", "it it it", ["it it"]),
        ("Hut Hohrin", "Hohrin Hut", []),
        ("", "anything", []),
        ("?", "anything?", []),
    ],
)
def test_words_are_found_side_by_side(phrase: str, text: str, found: list[str]) -> None:
    """In any case, with or without accents and punctuation, and without a possessive's end."""
    assert [text[start:end] for start, end in places(phrase, text)] == found


def test_a_text_goes_without_the_sentences_that_a_span_touches() -> None:
    """One that crosses a sentence's end takes both; the others stay as they are."""
    text = "It is old.  It is of iron. It is long. It is red."
    assert without(text, places("iron", text)) == "It is old. It is long. It is red."
    assert without(text, places("iron it is long", text)) == "It is old. It is red."
    assert without(text, []) == "It is old. It is of iron. It is long. It is red."
