"""What the tests of hostile text rest on: the measure of work sees a square."""

from functools import lru_cache

import surefoot.text.words as words
from effort import effort, is_proportional


def squared(size: int) -> int:
    """As many steps as the square of `size`."""
    return sum(1 for _ in range(size) for _ in range(size))


def test_what_grows_as_the_square_is_seen() -> None:
    """And what grows in proportion is not."""
    assert not is_proportional(squared, 300, 16)
    assert is_proportional(lambda size: sum(1 for _ in range(size)), 30_000, 16)


def test_a_try_remembers_nothing_of_the_one_before(monkeypatch) -> None:
    """A cached function works each time."""
    worked = []
    monkeypatch.setattr(words, "remembered", lru_cache(worked.append), raising=False)
    effort(lambda: words.remembered(1))
    assert worked == [1, 1, 1]


def test_the_first_try_that_is_quick_enough_is_the_last() -> None:
    """Most are."""
    tries = []
    assert effort(lambda: tries.append(1), 5) < 5
    assert len(tries) == 1
