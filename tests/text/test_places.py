"""Where the words of a passage stand in its source."""

from hypothesis import given, strategies as st

from surefoot.text.places import apart, located
from surefoot.types import Passage

PLACES = st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["", "a", "b", "page=2"])), max_size=8).map(sorted)


def test_a_character_is_found_at_the_place_of_its_block():
    """Of the last block that begins before it; the text before the first belongs to the first."""
    passage = Passage("p", "x" * 30, url="a.html#one", places=((0, "one"), (10, "two"), (20, "")))
    assert [located(passage, at).url for at in (0, 9, 10, 19, 20, 29)] == [
        *["a.html#one"] * 2,
        *["a.html#two"] * 2,
        *["a.html"] * 2,
    ]


def test_a_passage_that_begins_without_a_place_leads_to_later_ones():
    """The first block of a page often stands above its first anchor."""
    passage = Passage("p", "x" * 30, url="a#b.html", places=((0, ""), (10, "two")))
    assert [located(passage, at).url for at in (0, 10)] == ["a#b.html", "a#b.html#two"]


def test_without_places_or_an_address_the_passage_is_as_it_was():
    """All that comes from elsewhere, and from indexes made before there were any."""
    for passage in (Passage("p", "x", url="a#b"), Passage("p", "x", places=((0, "a"), (1, "b")))):
        assert located(passage, 5) is passage


@given(PLACES, st.integers(0, 60))
def test_what_is_left_out_changes_no_address(places, at):
    """Blocks at one place share an entry, and those of one place alone need none."""
    whole = [] if not places else [(0, places[0][1]), *places]
    url = f"a#{whole[0][1]}" if whole and whole[0][1] else "a"
    short = Passage("p", "x", url=url, places=apart(whole))
    assert located(short, at).url == located(Passage("p", "x", url=url, places=tuple(whole)), at).url
    assert len(short.places) != 1
