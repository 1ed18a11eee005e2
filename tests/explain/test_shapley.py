"""Shapley values have their four laws, planted ones are found again, and the error that is told is the error."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from surefoot.explain.shapley import MOST_PLAYERS, Counted, Game, exact, shares
from surefoot.types.errors import ConfigError

METHODS = ("exact", "regression")
seeds = st.integers(0, 2**16)


def table(players: int, seed: int) -> Game:
    """Any game at all: a random number for each coalition."""
    worth = np.random.default_rng(seed).normal(size=2**players)
    return lambda masks: worth[masks @ (1 << np.arange(players))]


def planted(single: np.ndarray, pairs: dict[tuple[int, int], float], triples: dict[tuple[int, ...], float]) -> Game:
    """A game of known parts; each part is shared evenly by those who make it."""

    def game(masks: np.ndarray) -> np.ndarray:
        found = 1.0 + masks @ single
        for who, worth in {**pairs, **triples}.items():
            found = found + worth * masks[:, list(who)].all(axis=1)
        return found

    return game


def shared(single: np.ndarray, *parts: dict[tuple[int, ...], float]) -> np.ndarray:
    found = single.copy()
    for who, worth in itertools.chain.from_iterable(part.items() for part in parts):
        found[list(who)] += worth / len(who)
    return found


@pytest.mark.parametrize("method", METHODS)
@given(players=st.integers(2, 7), seed=seeds)
def test_nothing_is_left_unexplained(method: str, players: int, seed: int) -> None:
    """Additivity: base and values sum up to the whole, whatever the game and however few the samples."""
    assert abs(shares(Counted(table(players, seed)), players, method=method, most=60).gap) < 1e-9


@given(players=st.integers(2, 6), seed=seeds)
def test_players_who_do_the_same_get_the_same(players: int, seed: int) -> None:
    """Symmetry: a game that only counts heads, but for one player."""
    by_size = np.random.default_rng(seed).normal(size=(2, players + 1))
    found = exact(lambda m: by_size[m[:, 0].astype(int), m[:, 1:].sum(axis=1)], players).values
    assert np.ptp(found[1:]) < 1e-9


@pytest.mark.parametrize("method", METHODS)
@given(players=st.integers(3, 6), seed=seeds)
def test_who_adds_nothing_gets_nothing(method: str, players: int, seed: int) -> None:
    """Null player: in a game of one by one and two by two, sampling leaves no error either."""
    random = np.random.default_rng(seed)
    single, pair = random.normal(size=players), random.normal()
    single[0] = 0.0
    found = shares(Counted(planted(single, {(1, 2): pair}, {})), players, method=method, most=200, seed=seed)
    assert found.values[0] == pytest.approx(0.0, abs=1e-9 if method != "regression" else 1e-4)


@given(players=st.integers(2, 6), seed=seeds, factor=st.floats(-3, 3))
def test_the_values_of_a_sum_of_games_are_the_sum_of_the_values(players: int, seed: int, factor: float) -> None:
    """Linearity, coalition for coalition; of the regression it holds within errors."""
    one, other = table(players, seed), table(players, seed + 1)
    alone = [exact(game, players).values for game in (one, other)]
    both = exact(lambda m: one(m) + factor * other(m), players)
    assert both.values == pytest.approx(alone[0] + factor * alone[1], abs=1e-8)


def test_pairs_cost_no_sampling_error() -> None:
    """Each coalition comes with its complement: sums and pairs are exact after the least number of rounds."""
    random = np.random.default_rng(3)
    single, pairs = random.normal(size=30), {(i, j): random.normal() for i, j in itertools.combinations(range(30), 2)}
    found = shares(Counted(planted(single, pairs, {})), 30, tolerance=1e-6, most=600)
    assert found.reached
    assert found.values == pytest.approx(shared(single, pairs), abs=1e-6)


def test_the_error_stated_is_the_error_made() -> None:
    """Over 25 seeds and all players, the truth lies within 1.96 errors about as often as it should."""
    random = np.random.default_rng(5)
    single = random.normal(size=15)
    triples = {tuple(random.choice(15, 3, replace=False)): random.normal() for _ in range(60)}
    truth, hits = shared(single, triples), []
    for seed in range(25):
        found = shares(Counted(planted(single, {}, triples)), 15, tolerance=0, most=600, seed=seed)
        hits += list(np.abs(found.values - truth) < 1.96 * found.errors)
    assert 0.9 <= np.mean(hits) <= 1.0


def test_a_coalition_is_looked_at_once() -> None:
    """Also when it comes twice in a call."""
    asked: list[int] = []

    def game(masks: np.ndarray) -> np.ndarray:
        asked.append(len(masks))
        return masks.sum(axis=1).astype(float)

    counted = Counted(game)
    twice = np.array([[True, False], [True, False], [True, True]])
    assert counted(twice).tolist() == [1.0, 1.0, 2.0]
    assert counted(twice).tolist() == [1.0, 1.0, 2.0]
    assert (asked, counted.evaluations) == ([2], 2)


def test_evaluations_end_where_they_must() -> None:
    """And the result says that the tolerance was not reached; with enough of them, it is."""
    noisy = lambda m: np.sin(1e4 * (m @ np.arange(1, 21) ** 0.5)) + m[:, 0]  # noqa: E731
    few, many = Counted(noisy), Counted(noisy)
    assert not shares(few, 20, tolerance=0.02, most=300).reached
    assert few.evaluations <= 300
    found = shares(many, 20, tolerance=0.1, most=20_000)
    assert found.reached
    assert found.errors.max() <= 0.1 * np.abs(found.values).max()


def test_exact_values_are_those_of_the_definition() -> None:
    """The mean, over all orders, of what each adds to those before."""
    game, orders = table(4, 9), list(itertools.permutations(range(4)))
    added = np.zeros(4)
    for order in orders:
        for place, player in enumerate(order):
            masks = np.zeros((2, 4), bool)
            masks[:, list(order[:place])] = True
            masks[1, player] = True
            before, after = game(masks)
            added[player] += (after - before) / math.factorial(4)
    assert exact(game, 4).values == pytest.approx(added)


def test_more_players_than_memory_is_for_are_refused() -> None:
    """Before the game is asked: a stranger's passage of 20,000 words would take a gigabyte."""
    game = Counted(lambda masks: masks.sum(axis=1).astype(float))
    with pytest.raises(ConfigError, match=r"at most 1,500 words or passages, and there are 1,501; explain a shorter"):
        shares(game, MOST_PLAYERS + 1)
    assert game.requests == 0
