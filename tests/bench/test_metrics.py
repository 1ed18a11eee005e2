"""What is counted, and how sure one can be of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.bench.metrics import match, match_lower, recall_at, wilson


@pytest.mark.parametrize(
    ("answer", "golds", "exact", "lower"),
    [
        ("It was Tomas Aldwin.", ["Aldwin"], True, True),
        ("It was TOMAS ALDWIN.", ["Aldwin"], False, True),
        ("a politician", ["Politician", "statesman"], False, True),
        ("Bergen", ["Oslo", "Bergen"], True, True),
        ("Oslo", ["Bergen"], False, False),
        ("", ["Bergen"], False, False),
        ("Bergen", [], False, False),
        ("Bergen", ["", " "], False, False),
    ],
)
def test_an_alias_in_the_answer_is_a_match(answer: str, golds: list[str], exact: bool, lower: bool) -> None:
    """With its capitals, or without; a blank alias, which every text holds, is none."""
    assert match(answer, golds) is exact
    assert match_lower(answer, golds) is lower


@pytest.mark.parametrize(
    ("k", "retrieved", "gold", "hit"),
    [
        (1, ["a", "b"], {"a"}, True),
        (1, ["b", "a"], {"a"}, False),
        (2, ["b", "a"], {"a"}, True),
        (5, ["a#3"], {"a"}, True),
        (5, ["x#y"], {"x#y"}, True),
        (5, ["x#y#2"], {"x#y"}, True),
        (5, ["ab"], {"a"}, False),
        (5, [], {"a"}, False),
    ],
)
def test_recall_looks_at_the_first_k(k: int, retrieved: list[str], gold: set[str], hit: bool) -> None:
    """A part of a split passage counts as the passage, also where the id itself holds a #."""
    assert recall_at(k, retrieved, frozenset(gold)) is hit


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (8, 10, 0.4902, 0.9433),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),
        (50, 100, 0.4038, 0.5962),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_the_interval_is_wilsons(successes: int, trials: int, low: float, high: float) -> None:
    """Known values; the last is the example of Newcombe (1998), method 3."""
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_without_trials_there_is_no_interval() -> None:
    """None is not zero."""
    assert wilson(0, 0) is None


@settings(deadline=None)
@given(st.integers(1, 10_000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_the_interval_holds_the_share(case: tuple[int, int]) -> None:
    """It lies in [0, 1] around the share, and is mirrored for the failures."""
    successes, trials = case
    low, high = wilson(successes, trials) or (2.0, -1.0)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low))
