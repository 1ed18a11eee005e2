"""Shapley values of any game, exact or sampled to a stated tolerance, and what two players are worth together.

A game is a function from coalitions, a row each and True where a player takes part, to a number each. Pure but for
what the game does; the same seed gives the same values.

Why the sampled values come from a regression and not from permutations: a permutation learns of a player from two
coalitions only, the regression from all. Both are free of all interactions of an even number of players, as every
coalition is looked at with its complement; and the regression's guess takes most of the others out too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.explain import surrogate
from surefoot.types.errors import ConfigError

Masks = npt.NDArray[np.bool_]
"""Shape (coalitions, players)."""
Vector = npt.NDArray[np.float64]
Game = Callable[[Masks], Vector]
"""The value of each coalition."""
Method = Literal["exact", "regression", "permutation", "owen"]

EXACT = 12
"""Up to so many players all coalitions are counted: 4,096."""
MOST_EXACT = 20
"""More players are refused by `exact`: 20 have a million coalitions."""
MOST_PLAYERS = 1_500
"""More are refused by `shares`: its memory and its time grow with their square. 20,000 words took more
than 1 GB, 1,500 take 330 MB. A passage of an index has at most 6,000 characters, some 1,100 English words."""

FEWEST = 24
"""Pairs of coalitions before a regression's errors are believed."""
GUESSED = 800
"""Pairs that a guess is fitted to, at most: its cost grows with their cube. Those beyond only correct it."""
LEAST = 8
"""Orders, each with its reverse, before their spread is believed: two may agree by chance."""


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Each player's contribution, with its standard error."""

    values: Vector
    errors: Vector
    """Standard errors; 0: exact."""
    base: float
    """The value of nobody."""
    full: float
    """The value of all."""
    method: Method
    reached: bool
    """Whether no error is larger than the tolerance times the largest value."""

    @property
    def gap(self) -> float:
        """The part of `full - base` that the values leave unexplained."""
        return self.full - self.base - float(self.values.sum())


class Counted:
    """The same game, asked once for each coalition; `evaluations` counts these."""

    def __init__(self, game: Game) -> None:
        self.asked = 0
        """Coalitions so far, with repetitions."""
        self._game = game
        self._known: dict[bytes, float] = {}

    @property
    def evaluations(self) -> int:
        """Distinct coalitions so far."""
        return len(self._known)

    def __call__(self, masks: Masks) -> Vector:
        """The value of each coalition; new ones are asked for together."""
        self.asked += len(masks)
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
    groups: Sequence[int] | None = None,
    tolerance: float = 0.1,
    most: int = 4000,
    seed: int = 0,
) -> Shares:
    """The Shapley values, to a standard error of at most `tolerance` of the largest value.

    `method` None: exact up to 12 players, else by regression. "owen" needs `groups`, the number of each player's group:
    its members come and go side by side. Sampling ends, unreached, before it would pass `most` evaluations; it takes
    up to 3 (players - 1), or 48, whatever `most` says. Raises ConfigError, also for more than 1,500 players.
    """
    if players > MOST_PLAYERS:
        raise ConfigError(
            f"a value is shared among at most {MOST_PLAYERS:,} words or passages, and there are {players:,}; "
            "explain a shorter part of the text"
        )
    chosen = method or ("exact" if players <= EXACT else "regression")
    if (chosen == "owen") != (groups is not None):
        raise ConfigError("groups of players are for the method 'owen', and it needs them")
    if chosen == "exact" or players < 2:
        return exact(game, players)
    rounds = _regressed if chosen == "regression" else _permuted
    end = game.asked + most
    base, full = game(np.array([[False] * players, [True] * players]))
    random = np.random.default_rng(seed)
    for values, errors, known in rounds(game, players, float(base), float(full), random, groups):
        reached = known and bool(errors.max() <= tolerance * np.abs(values).max())
        if reached or game.asked + 2 * (players - 1) > end:
            break
    return Shares(values, errors, float(base), float(full), chosen, reached)


def exact(game: Game, players: int) -> Shares:
    """From all 2^players coalitions, in one call of the game. Raises ConfigError for more than 20 players."""
    worth, sizes = _all(game, players)
    values = np.empty(players)
    for player in range(players):
        without = np.flatnonzero(~(np.arange(2**players) >> player & 1).astype(bool))
        weights = np.array([1 / (players * math.comb(players - 1, size)) for size in range(players)])
        values[player] = weights[sizes[without]] @ (worth[without | 1 << player] - worth[without])
    return Shares(values, np.zeros(players), float(worth[0]), float(worth[-1]), "exact", True)


def interactions(
    game: Counted, players: int, firsts: Sequence[int], seconds: Sequence[int], *, rounds: int = 16, seed: int = 0
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The Shapley interaction index of each of `firsts` with each of `seconds`, and its standard error.

    Exact up to 12 players. Beyond, `rounds` pairs of a coalition and its complement, each looked at with every first,
    every second and every two of them taken in or left out: 2 (1 + firsts) (1 + seconds) evaluations a round.
    """
    if set(firsts) & set(seconds):
        raise ConfigError("a player has no interaction with itself")
    if players <= EXACT:
        found = _pairs_exactly(game, players, firsts, seconds)
        return found, np.zeros_like(found)
    random = np.random.default_rng(seed)
    drawn = [_round_of_pairs(game, players, firsts, seconds, p, random) for p in (np.arange(rounds) + 0.5) / rounds / 2]
    return np.mean(drawn, axis=0), np.std(drawn, axis=0, ddof=1) / math.sqrt(rounds)


def _all(game: Game, players: int) -> tuple[Vector, npt.NDArray[np.int64]]:
    """The value and the size of every coalition, by its number, whose bits say who takes part."""
    if players > MOST_EXACT:
        raise ConfigError(f"{players} players have too many coalitions to count all; choose another method")
    bits = np.arange(2**players)[:, None] >> np.arange(players) & 1
    return game(bits.astype(bool)), np.asarray(bits.sum(axis=1))


Estimates = Iterator[tuple[Vector, Vector, bool]]
"""Values, standard errors, and whether these are from enough to go by, round by round."""


def _regressed(
    game: Game, players: int, base: float, full: float, random: np.random.Generator, _: Sequence[int] | None
) -> Estimates:
    """A guess at the game (see `surrogate`), and the Shapley kernel's mean of what it is off by in each pair of a
    coalition and its complement.

    Coalitions are drawn one by one: prefixes of one order would cost as much, and leave twice the error. A pair holds
    every player once, so that it costs about the same whatever its size, and sizes are drawn for least variance.
    """
    signs, gains, total = np.empty((0, players)), np.empty(0), full - base
    guess = matter = None
    while True:
        masks = _of_all_sizes(players, max(players // 4, len(signs) // 8, FEWEST - len(signs)), random)
        worth = game(np.concatenate([masks, ~masks]))
        signs = np.concatenate([signs, np.where(masks, 1.0, -1.0)])
        gains = np.concatenate([gains, worth[: len(masks)] - worth[len(masks) :]])
        if len(signs) >= players - 1:
            left = gains - total / players * signs.sum(axis=1)
            if guess is None or len(signs) <= GUESSED:
                guess = surrogate.fitted(signs, left, matter)
            values, errors = _corrected(guess, signs, left)
            matter = np.abs(values + total / players)
            yield values + total / players, errors, True


def _chances(players: int) -> Vector:
    """How likely each size from 1 to players - 1 is drawn: as the root of what the Shapley kernel gives it.

    That is best where a guess is off by as much at every size. Drawn evenly instead, that is by leverage, few are small
    or nearly whole, and what they show of the one player who is in or out weighs so much that errors jump.
    """
    sizes = np.arange(1, players)
    roots = 1 / np.sqrt(sizes * (players - sizes))
    return np.asarray(roots / roots.sum())


def _of_all_sizes(players: int, count: int, random: np.random.Generator) -> Masks:
    """Coalitions whose sizes are as `_chances` has them, spread evenly."""
    places = (np.arange(count) + random.random()) / count
    sizes = np.minimum(1 + np.searchsorted(np.cumsum(_chances(players)), places, side="right"), players - 1)
    ranks = random.permuted(np.tile(np.arange(players), (count, 1)), axis=1)
    return np.asarray(ranks < sizes[:, None])


def _corrected(guess: surrogate.Guess, signs: Vector, gains: Vector) -> tuple[Vector, Vector]:
    """Values that sum up to nothing, and their errors."""
    pairs, players = signs.shape
    known = len(guess.off)
    off = np.concatenate([guess.off, gains[known:] - guess.at(signs[known:])])
    sums = signs.sum(axis=1)
    chances = _chances(players)[((players + sums) / 2).astype(int) - 1]
    weights = players / (players**2 - sums**2) / chances
    each = (signs - sums[:, None] / players) * (weights * off)[:, None]
    guessed = guess.values(pairs)
    return guessed - guessed.mean() + each.mean(axis=0), each.std(axis=0, ddof=1) / math.sqrt(pairs)


def _permuted(
    game: Game, players: int, base: float, full: float, random: np.random.Generator, groups: Sequence[int] | None
) -> Estimates:
    """The mean over random orders, each with its reverse, of what a player adds to those before."""
    drawn: list[Vector] = []
    while True:
        order = _order(players, groups, random)
        drawn.append((_added(game, order, base, full) + _added(game, order[::-1], base, full)) / 2)
        if len(drawn) > 1:
            errors = np.std(drawn, axis=0, ddof=1) / math.sqrt(len(drawn))
            yield np.mean(drawn, axis=0), errors, len(drawn) >= LEAST


def _order(players: int, groups: Sequence[int] | None, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """All players; those of a group side by side."""
    order: npt.NDArray[np.int64] = random.permutation(players)
    if groups is None:
        return order
    numbers = np.asarray(groups)
    turns = random.permutation(numbers.max() + 1)
    return order[np.argsort(turns[numbers[order]], kind="stable")]


def _added(game: Game, order: npt.NDArray[np.int64], base: float, full: float) -> Vector:
    there = np.empty(len(order), np.int64)
    there[order] = np.arange(len(order))
    inner = game(there[None, :] < np.arange(1, len(order))[:, None])
    return np.diff(np.concatenate([[base], inner, [full]]))[there]


def _pairs_exactly(game: Game, players: int, firsts: Sequence[int], seconds: Sequence[int]) -> Vector:
    worth, sizes = _all(game, players)
    coalitions = np.arange(2**players)
    weights = np.array([1 / ((players - 1) * math.comb(players - 2, size)) for size in range(players - 1)])

    def index(i: int, j: int) -> float:
        none = coalitions[~(coalitions >> i & 1 | coalitions >> j & 1).astype(bool)]
        both = worth[none | 1 << i | 1 << j] - worth[none | 1 << i] - worth[none | 1 << j] + worth[none]
        return float(weights[sizes[none]] @ both)

    return np.array([[index(i, j) for j in seconds] for i in firsts]).reshape(len(firsts), len(seconds))


def _round_of_pairs(
    game: Game, players: int, firsts: Sequence[int], seconds: Sequence[int], p: float, random: np.random.Generator
) -> Vector:
    """One draw of the index of each two: players take part with probability p, and then those who did not.

    p runs through (0, ½) and its complement through the rest, so that the others' number is uniform, as the index
    wants it.
    """
    one = random.random(players) < p
    both = [_toggled(each, firsts, seconds) for each in (one, ~one)]
    worth = game(np.concatenate(both)).reshape(2, len(firsts) + 1, len(seconds) + 1)
    inner = worth[:, 1:, 1:] - worth[:, 1:, :1] - worth[:, :1, 1:] + worth[:, :1, :1]
    same = [np.where(np.equal.outer(each[list(firsts)], each[list(seconds)]), 1, -1) for each in (one, ~one)]
    return np.asarray((inner * same).mean(axis=0))


def _toggled(coalition: npt.NDArray[np.bool_], firsts: Sequence[int], seconds: Sequence[int]) -> Masks:
    """With each of `firsts` or none turned round, times each of `seconds` or none."""
    rows = [[*first, *second] for first in ([], *([i] for i in firsts)) for second in ([], *([j] for j in seconds))]
    masks = np.tile(coalition, (len(rows), 1))
    for mask, turned in zip(masks, rows, strict=True):
        mask[turned] ^= True
    return masks
