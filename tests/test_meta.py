"""The fields of documents, and filters over them."""

import pickle

import pytest
from hypothesis import given, settings, strategies as st

from surefoot.types.errors import ConfigError, FieldFault
from surefoot.types.metadata import (
    MOST_CONDITIONS,
    MOST_FIELDS,
    NO_FILTER,
    Filter,
    Meta,
    filtered,
    plain,
    usable,
    written,
)

BOOK = Meta({"product": "x", "year": 2024, "price": 9.5, "draft": False})


def test_fields_are_a_mapping_that_cannot_be_written_to():
    """Equal whatever the order, hashable and picklable, as the values around them are."""
    assert BOOK == {"draft": False, "price": 9.5, "product": "x", "year": 2024}
    assert list(BOOK) == ["draft", "price", "product", "year"]
    assert hash(BOOK) == hash(Meta(dict(reversed([*BOOK.items()]))))
    assert pickle.loads(pickle.dumps(BOOK)) == BOOK
    with pytest.raises(TypeError):
        BOOK["year"] = 2025


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"": 1}, "is no name"),
        ({"a b": 1}, "is no name"),
        ({"9a": 1}, "is no name"),
        ({"a" * 65: 1}, "is no name"),
        ({'a"': 1}, "is no name"),
        ({7: 1}, "is no name"),
        ({"tags": ["a"]}, "'tags' is a list; it may be a text, a number, true or false"),
        ({"of": {"a": 1}}, "'of' is a table"),
        ({"none": None}, "'none' is nothing"),
        ({"nan": float("nan")}, "'nan' is no finite number"),
        ({"big": 2**63}, "'big' is a whole number of more than 64 bits"),
        ({"long": "x" * 501}, "'long' has 501 characters, and at most 500 fit"),
        ({"line": "a\nb"}, "'line' holds a control character"),
        ({"half": "\ud800"}, "'half' holds a control character or half of one"),
        ({f"k{n}": n for n in range(MOST_FIELDS + 1)}, "has 33 fields, and at most 32 fit"),
    ],
)
def test_a_hostile_field_is_refused_with_its_name(given, says):
    """The message says which field, and what is allowed."""
    with pytest.raises(FieldFault, match=says):
        Meta(given)


def test_of_a_strangers_fields_the_good_ones_are_kept():
    """One bad field costs no other, and each is told."""
    kept, faults = usable({"year": 2024, "tags": ["a"], "who": "x" * 999})
    assert kept == {"year": 2024}
    assert [fault.split()[2] for fault in faults] == ["'tags'", "'who'"]
    many, over = usable({f"k{n}": n for n in range(40)})
    assert (len(many), len(over)) == (MOST_FIELDS, 8)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024", 2024),
        ("-7", -7),
        ("9.50", 9.5),
        ("true", True),
        ("false", False),
        ('"2024"', "2024"),
        ("'a b'", "a b"),
        ("007", "007"),
        ("1e5", "1e5"),
        ("2024-05-01", "2024-05-01"),
        (" x y ", "x y"),
        ("True", "True"),
        ("9" * 30, "9" * 30),
        ("", ""),
    ],
)
def test_a_text_stands_for_a_plain_value(text, value):
    """As it is usually written; anything else is the text itself."""
    assert (plain(text), type(plain(text))) == (value, type(value))


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        ({}, True),
        ({"product": "x"}, True),
        ({"product": "X"}, False),
        ({"year": 2024.0}, True),
        ({"year": "2024"}, False),
        ({"year": {">=": 2024}}, True),
        ({"year": {">": 2024}}, False),
        ({"year": {">": 2020, "<": 2024}}, False),
        ({"price": {"<=": 9.5}}, True),
        ({"product": {">=": "w", "<": "y"}}, True),
        ({"product": {">": 5}}, False),
        ({"year": {">": "0"}}, False),
        ({"draft": False}, True),
        ({"draft": 0}, False),
        ({"draft": {"<": 5}}, False),
        ({"product": {"in": ["a", "x"]}}, True),
        ({"product": {"in": []}}, False),
        ({"product": {"not in": ["a"]}}, True),
        ({"product": {"!=": "x"}}, False),
        ({"lang": "en"}, False),
        ({"lang": {">": ""}}, False),
        ({"lang": {"!=": "en"}}, True),
        ({"product": "x", "year": 2023}, False),
    ],
)
def test_a_filter_lets_through_what_fulfils_every_condition(wanted, matches):
    """Values are alike only within their kind, and what a document does not say is not equal to anything."""
    assert Filter.of(wanted).matches(BOOK) is matches


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ([], "a filter is a table of fields"),
        ("year>=2024", "a filter is a table of fields"),
        ({"": 1}, "the filter's key '' is no name"),
        ({"year": {"gte": 2024}}, "'year' has no operator 'gte'; there are: = != < <= > >= in not in"),
        ({"year": {}}, "'year' has no condition"),
        ({"year": None}, "'year' is nothing; it may be a text"),
        ({"lang": ["en", "de"]}, "'lang' = takes one value; for several, write in"),
        ({"lang": {"in": "en"}}, "'lang' in takes a list of values, not 'en'"),
        ({"lang": {"in": [["en"]]}}, "'lang' is a list"),
        ({"draft": {">": False}}, "'draft' is held by > against False; numbers and texts have an order"),
        ({"year": {">": float("inf")}}, "'year' is no finite number"),
        ({"lang": {"in": [*range(1001)]}}, "lists 1001 values, and at most 1000 fit"),
        ({f"k{n}": n for n in range(MOST_CONDITIONS + 1)}, "has 33 conditions, and at most 32 are allowed"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_key_and_what_is_allowed(wanted, says):
    """Before anything is retrieved."""
    with pytest.raises(FieldFault, match=says):
        Filter.of(wanted)


values = st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.sampled_from(["", "a", "b"])
conditions = values | st.fixed_dictionaries({}, optional={"in": st.lists(values, max_size=3), "!=": values})
wanted = st.dictionaries(st.sampled_from("abc"), conditions.filter(lambda one: one != {}), max_size=3)


@settings(max_examples=50)
@given(wanted)
def test_a_filter_survives_its_json(given):
    """A trace that records it can be asked again."""
    one = Filter.of(given)
    assert Filter.of(one.as_json()) == one == Filter.of(one)


def test_a_filter_is_written_as_conditions():
    """As a command line has them."""
    assert written(["product=x", "year >= 2024", 'code!="7"']) == Filter.of(
        {"product": "x", "year": {">=": 2024}, "code": {"!=": "7"}}
    )
    assert written([]) == NO_FILTER
    with pytest.raises(FieldFault, match="'product' is no condition; write KEY=VALUE"):
        written(["product"])


def test_a_verb_without_a_filter_is_never_asked_with_one():
    """Nor is one that takes any keyword and may pass over it."""
    found = filtered(lambda question, k: k, NO_FILTER, "x")
    assert found("?", 3) == 3
    one = Filter.of({"a": 1})
    assert filtered(lambda question, k, filter: filter, one, "x")("?", 3) == one
    for find in (lambda question, k: k, lambda question, k, **options: k):
        with pytest.raises(ConfigError, match="retriever 'mine' cannot filter"):
            filtered(find, one, "retriever 'mine'")
