"""What a model meant as JSON is read; what it did not say is not made up."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.mended import objects

VALUES = st.dictionaries(st.text(max_size=5), st.text(max_size=9) | st.integers() | st.lists(st.text(max_size=4)))


@given(VALUES)
def test_json_is_read_as_it_is(value: dict[str, Any]) -> None:
    """Whole JSON is not touched, whatever its strings hold."""
    assert objects(json.dumps(value)) == [value]


@given(st.text())
def test_any_text_can_be_looked_at(reply: str) -> None:
    """It ends, and gives dictionaries."""
    assert all(isinstance(one, dict) for one in objects(reply))


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('```json\n{"a": "4"}\n```', [{"a": "4"}]),
        ('Well, {I think} this: {"a": "4"} Hope that helps!', [{"a": "4"}]),
        ('{"a": "4", "b": [1, 2,],}', [{"a": "4", "b": [1, 2]}]),
        ('{"a": "two\nlines"}', [{"a": "two\nlines"}]),
        ("{'a': '4', 'b': \"it's\"}", [{"a": "4", "b": "it's"}]),
        ('{"a": "4", "b": "cut off in the mid', [{"a": "4", "b": "cut off in the mid"}]),
        ('{"a": "4", "b": ["one", "tw', [{"a": "4", "b": ["one", "tw"]}]),
        ('{"a": "4", "b', [{"a": "4"}]),
        ('{"a": "4", "b":', [{"a": "4"}]),
        ('{"a": "4",', [{"a": "4"}]),
        ('{"a": "1"} no: {"a": "2"}', [{"a": "1"}, {"a": "2"}]),
        ('{"a": {"b": 1}}', [{"a": {"b": 1}}]),
        ("4", []),
        ("", []),
        ("{4}", []),
        ("{{{{{{", []),
    ],
)
def test_what_was_meant_is_found(reply: str, found: list[dict[str, Any]]) -> None:
    """Around it, in it and at its end something may be wrong."""
    assert objects(reply) == found


def test_a_reply_of_nothing_but_brackets_is_given_up_soon() -> None:
    """However long it is."""
    assert objects("{" * 100_000) == []
