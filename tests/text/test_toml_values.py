"""A text is TOML or it is not: there is no third way for it to go wrong."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.text.json_values import DEEPEST
from surefoot.text.toml_values import parsed, spelled


def test_what_toml_holds_is_read_as_it_is() -> None:
    assert parsed('a = 1\n[b]\nc = ["x", {d = inf}]\n') == {"a": 1, "b": {"c": ["x", {"d": float("inf")}]}}


@pytest.mark.parametrize("text", ["[x", "a", "a = 1\na = 2", "x = " + "1" * 10_000], ids=lambda text: text[:9])
def test_what_is_no_toml_is_a_value_error(text: str) -> None:
    """Unclosed, half, said twice, a number too long for Python."""
    with pytest.raises(ValueError, match=r"\(at |4300 digits|end of"):
        parsed(text)


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ("{a=", "}")])
def test_as_deep_as_allowed_is_read_and_deeper_is_refused(opens: str, closes: str) -> None:
    """The table that holds all is the first level."""
    assert parsed("x = " + opens * (DEEPEST - 1) + "1" + closes * (DEEPEST - 1))
    for depth in (DEEPEST, 50_000):
        with pytest.raises(ValueError, match="nested more than 100 deep"):
            parsed("x = " + opens * depth + "1" + closes * depth)


def test_a_dotted_key_is_as_deep_as_its_tables() -> None:
    """It is read without recursion, and would end in one later."""
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        parsed("a" + ".a" * 3_000 + " = 1")


@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-9, 9), st.floats(allow_nan=False), st.text(st.characters(codec="utf-8"))),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
        max_leaves=5,
    )
)
def test_a_value_that_is_written_is_read_as_it_was(value: Any) -> None:
    """Whatever stands in its texts and its keys."""
    assert parsed(f"x = {spelled(value)}") == {"x": value}


def test_half_a_character_is_written_as_a_question_mark() -> None:
    """No file could hold it."""
    assert spelled("\ud800\x7f") == '"?\\u007f"'
