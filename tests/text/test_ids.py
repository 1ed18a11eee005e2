"""Whose passage an id is, and that nobody can make another's."""

import pytest
from hypothesis import given, strategies as st

from surefoot.text.ids import labels, of_row, of_text, space

OWN = st.text(max_size=20) | st.text(alphabet="a#12~", max_size=6) | st.text("ab", min_size=190, max_size=210)
SPACES = st.sampled_from([space("a.jsonl", lambda name: False), space("b.jsonl", lambda name: False)])
ROW = st.tuples(SPACES, OWN, st.integers(1, 3))


@given(ROW, ROW)
def test_two_rows_or_parts_never_share_an_id(one, other):
    """Whatever a row writes into its id, also when it imitates ours."""
    assert (of_row(*one) == of_row(*other)) == (one == other)


@pytest.mark.parametrize("odd", ["a\0b", "x" * 1000, "line\nend", "\u202eright to left", "tag\U000e0041"])
def test_an_odd_id_is_short_and_shows_all_its_characters(odd):
    """And its imitation is another id."""
    made = of_row("0123456789", odd, 1)
    assert made.isprintable()
    assert len(made) < 100
    assert of_row("0123456789", made.partition(":")[2], 1) != made


def test_a_row_cannot_make_the_id_of_a_file_without_rows():
    """These have no colon, and a row's always does."""
    policy = of_text("0123456789", "", 0, "Refunds take ten days.")
    assert policy.isalnum()
    assert ":" in of_row("0123456789", policy, 1)


def test_the_same_text_is_another_passage_in_another_space_row_or_place():
    """And the same one elsewhere keeps its id."""
    here = ("0123456789", "", 0, "A text.")
    others = [("9876543210", *here[1:]), (*here[:1], "#key", *here[2:]), (*here[:2], 1, here[3]), (*here[:3], "Other.")]
    assert of_text(*here) == of_text(*here)
    assert len({of_text(*each) for each in (here, *others)}) == 5


def test_a_name_space_that_is_taken_is_not_given_again():
    """Also by a file whose path was made to have the same hash."""
    first = space("docs/a.txt", lambda name: False)
    assert space("docs/a.txt", lambda name: False) == first
    assert space("docs/a.txt", {first}.__contains__) != first


@pytest.mark.parametrize("own", ["a", "a:b", "Q1#2", "https://example.org/a"])
@pytest.mark.parametrize("part", [1, 2])
def test_labels_of_a_ready_made_corpus_fit_its_rows(own, part):
    """By the row's own id, each of its parts; ids of before there were name spaces too."""
    assert own in labels(of_row("0123456789", own, part))
    assert "a" in labels("a#2") & labels("a")


def test_a_label_fits_no_other_row():
    """The row "a#2" is not the second part of the row "a"."""
    assert "a" not in labels(of_row("0123456789", "a#2", 1))
