"""A text is JSON or it is not: there is no third way for it to go wrong."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.text.json_values import DEEPEST, logged, parsed, spelled

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_what_json_holds_is_read_as_it_is(value: Any) -> None:
    """From text and from bytes."""
    assert parsed(json.dumps(value)) == parsed(json.dumps(value).encode()) == value


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}")])
def test_as_deep_as_allowed_is_read_and_deeper_is_refused(opens: str, closes: str) -> None:
    """At the same depth whoever asks, not where Python's stack happens to end."""
    assert parsed(opens * DEEPEST + "1" + closes * DEEPEST)
    for depth in (DEEPEST + 1, 800, 100_000):
        with pytest.raises(ValueError, match="nested more than 100 deep"):
            parsed(opens * depth + "1" + closes * depth)


def test_many_values_side_by_side_are_not_deep() -> None:
    """Only what lies within counts."""
    assert len(parsed(json.dumps([[{}]] * 10_000))) == 10_000


@given(VALUES | st.text(st.characters(codec=None)))
def test_what_is_spelled_comes_back_and_does_nothing_to_a_terminal(value: Any) -> None:
    """Also half a surrogate pair; no control, direction or tag character stands there as itself."""
    text = spelled(value)
    assert parsed(text) == value
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]


@pytest.mark.parametrize(
    "character",
    list("\x1b\x7f\x9b\xad\u202e\u2066\u200b\u200f\u061c\ufeff\U000e0041\U000e0001\ud800"),
    ids=lambda character: f"{ord(character):x}",
)
def test_what_cannot_be_seen_is_spelled_as_an_escape(character: str) -> None:
    """In a key as in a text; what can be seen is left as it is, for people to read."""
    text = spelled({f"é{character}": [f"橋{character}"]}, indent=1)
    assert character not in text
    assert "é" in text
    assert "橋" in text
    assert parsed(text) == {f"é{character}": [f"橋{character}"]}


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": tru', "[" * 100_000, b"\xff", b'"\xe9"', "1" * 10_000, "{'a': 1}"],
    ids=lambda text: repr(text[:9]),
)
def test_what_is_no_json_is_an_error_of_two_kinds(text: str | bytes) -> None:
    """Cut off, unclosed, in another encoding, a number too long for Python, Python's own spelling."""
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        parsed(text)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_number_is_no_json(word: str) -> None:
    """Python would read it, and nothing could write it again."""
    with pytest.raises(json.JSONDecodeError, match="is no number"):
        parsed(f'{{"a": [{word}]}}')


def test_pandas_says_nothing_with_nan() -> None:
    """In a log that may be its; all else is as strict."""
    assert logged('{"a": NaN, "b": 1.5}') == {"a": None, "b": 1.5}
    with pytest.raises(json.JSONDecodeError):
        logged("[1e999]")
