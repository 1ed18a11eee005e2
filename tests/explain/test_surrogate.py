"""A guess knows its own Shapley values, and what it is off by where it was not told."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from surefoot.explain.shapley import exact
from surefoot.explain.surrogate import LINEAR, fitted


def pairs(players: int, count: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).random((count, players)) < 0.5
    drawn[:, 0], drawn[:, 1] = True, False  # so that no coalition is all or nobody
    return np.where(drawn, 1.0, -1.0)


def curved(signs: np.ndarray) -> np.ndarray:
    """What three players are worth together, told as pairs."""
    return np.where((signs[:, :3] > 0).all(axis=1), 1.0, 0.0) - np.where((signs[:, :3] < 0).all(axis=1), 1.0, 0.0)


def test_the_values_are_those_of_the_guess() -> None:
    """Counted out over all coalitions; half of the pairs' difference is a game with the same values."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=7)))[1:-1:2]
    guess = fitted(signs, curved(signs), np.array([3.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0]))
    guess.off[:] = 0.0  # else the values are the mean of many guesses, of which each is another
    assert guess.unlike is not None
    counted = exact(lambda masks: guess.at(np.where(masks, 1.0, -1.0)) / 2, 7).values
    assert guess.values(1) - guess.values(1).mean() == pytest.approx(counted - counted.mean(), abs=1e-9)


def test_what_it_is_off_by_is_what_a_guess_without_the_pair_is_off_by() -> None:
    """Without fitting it again."""
    signs = pairs(5, 30)
    gains = curved(signs) + signs[:, 3]
    whole = fitted(signs, gains, None)
    assert whole.unlike is None or whole.unlike.sum() > 0
    kept = np.arange(30) != 4
    alike = whole.inverse  # of the pairs' likeness and the noise
    without = np.linalg.inv(np.linalg.inv(alike)[np.ix_(kept, kept)])
    guessed = np.linalg.inv(alike)[4, kept] @ without @ gains[kept]
    assert whole.off[4] == pytest.approx(gains[4] - guessed, abs=1e-6)


def test_a_sum_of_singles_is_guessed_right() -> None:
    """The part that is not linear is left out where it is of no use."""
    signs, worth = pairs(10, 30), np.arange(10.0) - 4.5
    guess = fitted(signs, signs @ worth, None)
    assert guess.unlike is None
    assert np.abs(guess.off).max() < 1e-5
    assert guess.at(pairs(10, 20, 1)) == pytest.approx(pairs(10, 20, 1) @ worth, abs=1e-5)


def test_three_who_are_worth_something_together_are_guessed_better_than_by_a_line() -> None:
    """Once it is known which players matter."""
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=7)))[1:-1:2]
    gains = curved(signs)
    matter = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert (
        np.square(fitted(signs, gains, matter).off).mean()
        < 0.5 * np.square(gains - signs @ (gains @ signs) / 63).mean()
    )


def test_hardly_more_pairs_than_players_are_not_fitted_to_the_last_digit() -> None:
    """Such a fit swings wildly between the pairs."""
    signs = pairs(20, 21)
    gains = np.random.default_rng(3).normal(size=21)
    guess = fitted(signs, gains, np.zeros(20))
    assert np.abs(guess.at(signs) - gains).max() > 1e3 * LINEAR[0]


def test_nothing_to_guess_is_guessed_as_nothing() -> None:
    """A game that is worth nothing has players of which none matters."""
    guess = fitted(pairs(6, 20), np.zeros(20), None)
    assert guess.values(20).tolist() == [0.0] * 6
