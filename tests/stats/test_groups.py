"""Means of records that come in groups, and how many records it takes."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.stats.groups import averaged, count, error, numbered, visible


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


def test_the_visible_difference_shows_four_times_in_five() -> None:
    """Simulated: 300 experiments with that difference. Where nothing differs it is None, not 0."""
    random = np.random.default_rng(2)
    seen = visible(random.normal(size=400), np.arange(400))
    assert seen is not None
    drawn = random.normal(seen, 1.0, size=(300, 400))
    shown = np.abs(drawn.mean(axis=1)) > 1.96 * drawn.std(axis=1, ddof=1) / 20
    assert 0.72 < shown.mean() < 0.88
    assert visible(np.zeros(10), np.arange(10)) is None
