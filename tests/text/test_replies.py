"""What a model meant as JSON is read; what it did not say is not made up."""

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st

from effort import effort
from surefoot.text.json_values import deep
from surefoot.text.replies import objects

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
        ('{"a": "4", "b": "cut off in the mid', []),
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


@pytest.mark.parametrize(
    "piece",
    [
        "{",
        "[",
        '{"a":',
        "{'a':",
        '\\"',
        '"',
        '{"',
        ", ",
        " ",
        ": ",
        "{[],",
        '{"a": 1,',
        "{}",
        "{[]",
        '"a" ',
        "{-",
        "{(",
        "{'",
    ],
)
def test_a_long_reply_is_read_in_little_time(piece: str) -> None:
    """Whatever it repeats, and whether an object begins before that; ten times the time of reading it as JSON was three
    seconds once."""
    for opening in ("", "{", '{"a": "', '{"a": [1,'):
        reply = opening + piece * (100_000 // len(piece))
        assert effort(partial(objects, reply), 1.5) < 1.5
        assert all(isinstance(one, dict) for one in objects(reply))


def test_a_very_long_reply_of_objects_that_nobody_closes_is_read_in_little_time() -> None:
    """Twenty of them were twenty times the work of one."""
    one, twenty = ("{x " * openings + '"a":1,' * 200_000 for openings in (1, 20))
    most = 8 * effort(lambda: objects(one))
    assert effort(lambda: objects(twenty), most) < most
    assert objects(twenty) == []


def test_the_last_of_twenty_places_is_looked_at_in_a_reply_of_usual_length() -> None:
    """However far each look at the others goes."""
    assert objects("{x " * 19 + '{"a": 1}' + " " * 19_000 + "]") == [{"a": 1}]


@pytest.mark.parametrize("depth", [101, 500, 3_000, 100_000])
def test_an_object_that_is_too_deep_is_left_out(depth: int) -> None:
    """Whoever got one would end in a RecursionError."""
    assert not any(map(deep, objects('{"a":' * depth + "1" + "}" * depth)))
    assert not any(map(deep, objects('{"a":' * depth)))
    assert not any(map(deep, objects("{'a':" * depth + "1" + "}" * depth)))


def test_what_stands_behind_an_object_that_is_too_deep_is_read() -> None:
    assert objects('{"a":' * 101 + "1" + "}" * 101 + ' and {"b": 2}') == [{"b": 2}]
