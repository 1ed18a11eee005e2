"""A guess at a game from some of its values, whose own Shapley values need no sampling.

The game is told in pairs: by how much a coalition is worth more than its complement. That is all of it that Shapley
values depend on. The guess is a kernel ridge regression: a linear part, and one in which two coalitions are alike that
agree in the players that matter. Its error is known for each pair from a fit without that pair (leave one out). The
guess's values plus the mean of these errors are right on average, however wrong the guess.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]

LINEAR = (1e-8, 0.1, 1.0)
"""Noise of the guesses with the linear part alone; the first of them fits a game of singles and pairs exactly."""
REACH = (4.0, 8.0)
"""How unlike two coalitions are that agree in nobody: exp(-reach). By cross-validation one of these is taken."""
CURVED, NOISE = 0.9, 0.1
"""The share of the part that is not linear where there is one, and the noise."""
LEAST = 0.1
"""A player matters at least this share of what players do on average: for what it does only together with others."""

_NODES, _WEIGHTS = (half / 2 for half in np.polynomial.legendre.leggauss(24))
_NODES += 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """A guess that was fitted to pairs; `off` is by how much each of these is more than is guessed without it."""

    signs: Vector
    """A row a pair: 1 where a player is in the coalition, -1 where it is in the complement."""
    unlike: Vector | None
    """How much each player's being elsewhere adds to how unlike coalitions are; None: the guess is linear."""
    inverse: Vector
    weights: Vector
    off: Vector

    def at(self, signs: Vector) -> Vector:
        """The guess for other pairs."""
        return np.asarray(_alike(signs, self.signs, self.unlike) @ self.weights)

    def values(self, pairs: int) -> Vector:
        """The Shapley values of the mean over so many guesses: for each pair of `signs` the one without it, and this
        one for the rest."""
        weights = self.weights - self.inverse @ self.off / pairs
        linear = _centred(self.signs).T @ weights / self.signs.shape[1]
        if self.unlike is None:
            return np.asarray(linear)
        return np.asarray((1 - CURVED) * linear + CURVED * _products(self.signs, self.unlike, weights))


def fitted(signs: Vector, gains: Vector, matter: Vector | None) -> Guess:
    """The guess that is off by least, of those that `LINEAR` and `REACH` make.

    `matter`: how much each player seems to matter; None: as much as the best linear guess says. Cost: some five
    inversions of a matrix of as many rows as there are pairs.
    """
    # Noise of next to nothing, where there are hardly more pairs than players, leaves guesses without any sense.
    noises = LINEAR if 2 * len(signs) >= 3 * signs.shape[1] else LINEAR[1:]
    linear = _alike(signs, signs, None)
    guesses = [_fitted(signs, gains, None, linear, noise) for noise in noises]
    if matter is None:
        matter = np.abs(_best(guesses).values(len(signs)))
    if matter.any():
        squares = np.maximum(matter, LEAST * matter.mean()) ** 2
        ways = [reach * squares / squares.sum() for reach in REACH]
        guesses += [_fitted(signs, gains, unlike, _alike(signs, signs, unlike), NOISE) for unlike in ways]
    return _best(guesses)


def _fitted(signs: Vector, gains: Vector, unlike: Vector | None, alike: Vector, noise: float) -> Guess:
    inverse: Vector = np.linalg.inv(alike + noise * np.eye(len(signs))).astype(np.float64)
    weights = inverse @ gains
    return Guess(signs, unlike, inverse, weights, weights / inverse.diagonal())


def _best(guesses: list[Guess]) -> Guess:
    # Being off costs the same at every size: the sizes that weigh more in Shapley values are drawn more often.
    return min(guesses, key=lambda guess: float((guess.off**2).sum()))


def _alike(some: Vector, others: Vector, unlike: Vector | None) -> Vector:
    linear = _centred(some) @ _centred(others).T / some.shape[1]
    if unlike is None:
        return np.asarray(linear)
    most = unlike.sum()
    apart = (most - (some * unlike) @ others.T) / 2
    # Less the likeness to the complement, as a pair turned round gains as much less.
    curved = (np.exp(-apart) - np.exp(apart - most)) / (1 - np.exp(-most))
    return np.asarray(CURVED * curved + (1 - CURVED) * linear)


def _products(signs: Vector, unlike: Vector, weights: Vector) -> Vector:
    """The Shapley values of the sum, over pairs, of the likeness to its coalition: a product over players, so that they
    are an integral over the chance with which the others take part."""
    there, total = signs > 0, np.zeros(signs.shape[1])
    present, absent = np.where(there, 1.0, np.exp(-unlike)), np.where(there, np.exp(-unlike), 1.0)
    for chance, share in zip(_NODES, _WEIGHTS, strict=True):
        mixed = absent + chance * (present - absent)
        total += share * ((weights * np.exp(np.log(mixed).sum(axis=1))) @ ((present - absent) / mixed))
    return np.asarray(total / (1 - np.exp(-unlike.sum())))


def _centred(signs: Vector) -> Vector:
    return np.asarray(signs - signs.mean(axis=1, keepdims=True))
