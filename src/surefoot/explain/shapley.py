"""Shapley values of any game, exact or sampled to a stated tolerance.

A game is a function from coalitions, a row each and True where a player takes part, to a number each. Pure but for
what the game does; the same seed gives the same values.

Sampled values come from a regression and not from permutations: a permutation learns of a player from two coalitions
only, the regression from all. Every coalition is looked at with its complement, which takes out all interactions of an
even number of players.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.types.errors import ConfigError

Masks = npt.NDArray[np.bool_]
"""Shape (coalitions, players)."""
Vector = npt.NDArray[np.float64]
Game = Callable[[Masks], Vector]
"""The value of each coalition."""
Method = Literal["exact", "regression"]

EXACT = 12
"""Up to so many players all coalitions are counted: 4,096."""
MOST_EXACT = 20
"""More players are refused by `exact`: 20 have a million coalitions."""
MOST_PLAYERS = 1_500
"""More are refused by `shares`: its memory and its time grow with their square. 20,000 words took more
than 1 GB, 1,500 take 330 MB. A passage of an index has at most 6,000 characters, some 1,100 English words."""

FEWEST = 24
"""Pairs of coalitions before a regression's errors are believed."""
RIDGE = (1e-8, 0.1, 1.0)
"""Penalties of the linear guess; the first fits a game of singles and pairs exactly."""


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Each player's contribution, with its standard error."""

    values: Vector
    errors: Vector
    """Standard errors; 0: exact."""
    base: float
    """The value of the empty coalition."""
    full: float
    """The value of all."""
    method: Method
    reached: bool
    """True: no error is larger than the tolerance times the largest value."""

    @property
    def gap(self) -> float:
        """The part of `full - base` that the values leave unexplained."""
        return self.full - self.base - float(self.values.sum())


class Counted:
    """The same game, asked once for each coalition; `evaluations` counts these."""

    def __init__(self, game: Game) -> None:
        self.requests = 0
        """Coalitions so far, with repetitions."""
        self._game = game
        self._known: dict[bytes, float] = {}

    @property
    def evaluations(self) -> int:
        """Distinct coalitions so far."""
        return len(self._known)

    def __call__(self, masks: Masks) -> Vector:
        """The value of each coalition; new ones are asked for together."""
        self.requests += len(masks)
        keys = [row.tobytes() for row in masks]
        new = {key: n for n, key in enumerate(keys) if key not in self._known}
        if new:
            found = self._game(masks[list(new.values())])
            self._known.update(zip(new, map(float, found), strict=True))
        return np.array([self._known[key] for key in keys])


def shares(
    game: Counted,
    players: int,
    *,
    method: Method | None = None,
    tolerance: float = 0.1,
    most: int = 4000,
    seed: int = 0,
) -> Shares:
    """The Shapley values, to a standard error of at most `tolerance` of the largest value.

    `method` None: exact up to 12 players, else by regression. Sampling ends, unreached, before it would pass `most`
    evaluations; it takes up to 3 (players - 1), or 48, whatever `most` says. Raises ConfigError, also for more than
    1,500 players.
    """
    if players > MOST_PLAYERS:
        raise ConfigError(
            f"a value is shared among at most {MOST_PLAYERS:,} words or passages, and there are {players:,}; "
            "explain a shorter part of the text"
        )
    chosen = method or ("exact" if players <= EXACT else "regression")
    if chosen == "exact" or players < 2:
        return exact(game, players)
    end = game.requests + most
    base, full = (float(value) for value in game(np.array([[False] * players, [True] * players])))
    for values, errors in _regressed(game, players, full - base, np.random.default_rng(seed)):
        reached = bool(errors.max() <= tolerance * np.abs(values).max())
        if reached or game.requests + 2 * (players - 1) > end:
            break
    return Shares(values, errors, base, full, chosen, reached)


def exact(game: Game, players: int) -> Shares:
    """From all 2^players coalitions, in one call of the game. Raises ConfigError for more than 20 players."""
    if players > MOST_EXACT:
        raise ConfigError(f"{players} players have too many coalitions to count all; choose another method")
    numbers = np.arange(2**players)
    masks = (numbers[:, None] >> np.arange(players) & 1).astype(bool)
    worth, sizes = game(masks), masks.sum(axis=1)
    weights = np.array([1 / (players * math.comb(players - 1, size)) for size in range(players)])
    values = np.empty(players)
    for player in range(players):
        without = numbers[~masks[:, player]]
        values[player] = weights[sizes[without]] @ (worth[without | 1 << player] - worth[without])
    return Shares(values, np.zeros(players), float(worth[0]), float(worth[-1]), "exact", True)


def _regressed(game: Game, players: int, total: float, random: np.random.Generator) -> Iterator[tuple[Vector, Vector]]:
    """Values and their standard errors, round by round: a linear guess at the game, and the Shapley kernel's mean of
    what each pair of a coalition and its complement is off by from the guess that was fitted without it.

    Coalitions are drawn one by one: prefixes of one order would cost as much, and leave twice the error. A pair holds
    every player once, so that it costs about the same whatever its size, and sizes are drawn for least variance.
    """
    signs, gains = np.empty((0, players)), np.empty(0)
    while True:
        masks = _of_all_sizes(players, max(players // 4, len(signs) // 8, FEWEST - len(signs)), random)
        worth = game(np.concatenate([masks, ~masks]))
        signs = np.concatenate([signs, np.where(masks, 1.0, -1.0)])
        gains = np.concatenate([gains, worth[: len(masks)] - worth[len(masks) :]])
        if len(signs) >= players - 1:
            values, errors = _corrected(signs, gains - total / players * signs.sum(axis=1))
            yield values + total / players, errors


def _chances(players: int) -> Vector:
    """The chance that each size from 1 to players - 1 is drawn: as the root of what the Shapley kernel gives it, which
    is best where a guess is off by as much at every size."""
    sizes = np.arange(1, players)
    roots = 1 / np.sqrt(sizes * (players - sizes))
    return np.asarray(roots / roots.sum())


def _of_all_sizes(players: int, count: int, random: np.random.Generator) -> Masks:
    """Coalitions whose sizes are as `_chances` has them, spread evenly."""
    places = (np.arange(count) + random.random()) / count
    sizes = np.minimum(1 + np.searchsorted(np.cumsum(_chances(players)), places, side="right"), players - 1)
    ranks = random.permuted(np.tile(np.arange(players), (count, 1)), axis=1)
    return np.asarray(ranks < sizes[:, None])


def _corrected(signs: Vector, gains: Vector) -> tuple[Vector, Vector]:
    """Values that sum up to nothing, and their errors. Right on average, however wrong the guess."""
    pairs, players = signs.shape
    guess, off = _guessed(signs, gains)
    sums = signs.sum(axis=1)
    chances = _chances(players)[((players + sums) / 2).astype(int) - 1]
    weights = players / (players**2 - sums**2) / chances
    each = (signs - sums[:, None] / players) * (weights * off)[:, None]
    return guess - guess.mean() + each.mean(axis=0), each.std(axis=0, ddof=1) / math.sqrt(pairs)


def _guessed(signs: Vector, gains: Vector) -> tuple[Vector, Vector]:
    """The linear guess, the mean over those fitted without each pair, and what each pair is off by from its own.

    A ridge regression; of its three penalties the one that is off by least, which is known from one fit (leave one
    out). With hardly more pairs than players the smallest would swing wildly between them.
    """
    centred = signs - signs.mean(axis=1, keepdims=True)
    left, scales, _ = np.linalg.svd(centred / math.sqrt(signs.shape[1]), full_matrices=False)
    found = []
    for penalty in RIDGE if 2 * len(signs) >= 3 * signs.shape[1] else RIDGE[1:]:
        # The inverse of (kernel + penalty): its rows give each pair's residual without that pair.
        shrunk = 1 / (scales**2 + penalty) - 1 / penalty
        weights = left @ (shrunk * (left.T @ gains)) + gains / penalty
        off = weights / ((left**2) @ shrunk + 1 / penalty)
        mean = weights - (left @ (shrunk * (left.T @ off)) + off / penalty) / len(signs)
        found.append((float(off @ off), centred.T @ mean / signs.shape[1], off))
    _, guess, off = min(found, key=lambda each: each[0])
    return guess, off
