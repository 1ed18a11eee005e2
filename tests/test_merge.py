"""Local and external strips side by side: what says the same is kept once, the local one first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.merge import distinct
from surefoot.types import Strip

BRIDGE = "The Ruvel Bridge was built in 1911 by Tomas Aldwin and it has one arch."


def strip(passage_id: str, text: str, kept: bool = True) -> Strip:
    return Strip(passage_id, 0, len(text), text, 0.5, kept, "" if kept else "too low")


def test_the_first_of_two_that_say_the_same_stays() -> None:
    """The other is dropped, not lost, and says whom it repeats; case, accents and punctuation do not matter."""
    local, external = strip("local", BRIDGE), strip("web", BRIDGE.upper().replace(".", "!"))
    first, second = distinct([local, external])
    assert first is local
    assert (second.kept, second.reason) == (False, "says the same as a strip of local")


def test_nearly_the_same_counts_as_the_same() -> None:
    """From four of five triples of words in common; three of four are too few."""
    assert [s.kept for s in distinct([strip("a", "a b c d e f"), strip("b", "a b c d e f g")])] == [True, False]
    assert [s.kept for s in distinct([strip("a", "a b c d e"), strip("b", "a b c d e f")])] == [True, True]


def test_what_says_something_else_stays() -> None:
    """Another number in the middle, or another half, is another statement."""
    other = BRIDGE.replace("1911", "1912")
    half = "The Ruvel Bridge was built in 1911. A hut stands near it."
    assert all(s.kept for s in distinct([strip("a", BRIDGE), strip("b", other), strip("c", half)]))


def test_a_dropped_strip_hides_no_other() -> None:
    """What was dropped before keeps its reason, and what repeats it stays."""
    dropped, kept = strip("a", BRIDGE, kept=False), strip("b", BRIDGE)
    assert distinct([dropped, kept]) == (dropped, kept)


def test_three_of_a_kind_leave_one() -> None:
    """Each later one points to the one that stays."""
    _, second, third = distinct([strip("a", BRIDGE), strip("b", BRIDGE), strip("c", BRIDGE)])
    assert second.reason == third.reason == "says the same as a strip of a"


@settings(deadline=None)
@given(st.lists(st.builds(strip, st.text("ab", max_size=2), st.text("ab ", max_size=12), st.booleans()), max_size=6))
def test_merging_keeps_order_and_merges_once(strips: list[Strip]) -> None:
    """No strip is lost, moved or kept anew; merging what is merged changes nothing."""
    merged = distinct(strips)
    assert [(s.passage_id, s.text) for s in merged] == [(s.passage_id, s.text) for s in strips]
    assert all(before.kept or before == after for before, after in zip(strips, merged, strict=True))
    assert distinct(merged) == merged
