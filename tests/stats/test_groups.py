"""Means of records that come in groups, and how many records it takes."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.stats.groups import averaged, count, error, needed, numbered, visible


def test_records_without_a_group_are_each_their_own() -> None:
    """Also one whose id is the name of another's group."""
    assert numbered(["a", "b", "g", "c", ""], {"a": "g", "c": "g", "b": ""}).tolist() == [0, 1, 2, 0, 3]


def test_of_no_records_there_is_no_mean() -> None:
    """And nothing is raised, nor a NaN given."""
    none = numbered([], {})
    assert (averaged([], none).value, averaged([], none).low) == (None, None)
    assert (error(np.zeros(0), none), visible(np.zeros(0), none)) == (None, None)


def test_the_error_of_independent_records_is_the_textbooks() -> None:
    """The standard deviation over the root of n."""
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    assert error(values, np.arange(5)) == pytest.approx(values.std(ddof=1) / np.sqrt(5))


def test_copies_of_a_record_make_no_mean_surer() -> None:
    """Grouped with it they weigh nothing."""
    values = np.array([0.1, 0.5, 0.3, 0.9, 0.2])
    copied, numbers = np.tile(values, 10), np.tile(np.arange(5), 10)
    assert error(copied, numbers) == pytest.approx(error(values, np.arange(5)))
    assert count(numbers) == 5


def test_what_is_needed_follows_the_textbook() -> None:
    """(1.96 + 0.84)² times the variance over the difference squared: half the difference takes four times as many."""
    gaps = np.random.default_rng(1).normal(size=100)
    wanted = 7.8489 * gaps.var(ddof=1) / 0.5**2
    assert needed(gaps, np.arange(100), 0.5) == int(np.ceil(wanted))
    quarter = needed(gaps, np.arange(100), 0.25)
    assert quarter is not None
    assert abs(quarter - 4 * wanted) < 1
    assert needed(gaps, np.arange(100), 100.0) == 2


def test_with_so_many_records_a_difference_shows_four_times_in_five() -> None:
    """Simulated: 300 experiments of the size that is asked for."""
    random = np.random.default_rng(2)
    pilot = random.normal(size=400)
    size = needed(pilot, np.arange(400), 0.4)
    assert size is not None
    seen = random.normal(0.4, pilot.std(), size=(300, size))
    shown = np.abs(seen.mean(axis=1)) > 1.96 * seen.std(axis=1, ddof=1) / np.sqrt(size)
    assert 0.72 < shown.mean() < 0.88


def test_the_visible_difference_is_the_one_that_needs_the_records_there_are() -> None:
    """Each is the other turned round."""
    gaps = np.random.default_rng(3).normal(size=60)
    seen = visible(gaps, np.arange(60))
    assert seen is not None
    assert needed(gaps, np.arange(60), seen) == 60


def test_where_nothing_differs_nothing_can_be_said_of_what_is_needed() -> None:
    """None, not 0."""
    assert needed(np.zeros(10), np.arange(10), 0.1) is None
