"""The place of a passage's character in its source, down to its block's page, anchor or line."""

from collections.abc import Sequence
from dataclasses import replace

from surefoot.types import Passage


def located(passage: Passage, at: int) -> Passage:
    """The passage, its address leading to the block that holds the character `at` of its text."""
    if passage.url is None or not passage.places:
        return passage
    known = passage.places[0][1]
    place = next((place for start, place in reversed(passage.places) if start <= at), known)
    return replace(passage, url=anchored(passage.url.removesuffix(f"#{known}") if known else passage.url, place))


def anchored(address: str, place: str) -> str:
    """The address with the place behind "#", where there is one."""
    return f"{address}#{place}" if place else address


def apart(places: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """The places that differ from the one before them, the first included; none where all are the same."""
    distinct = tuple(each for n, each in enumerate(places) if not n or each[1] != places[n - 1][1])
    return distinct if len(distinct) > 1 else ()
