"""Exact bounds of a share that was counted (Clopper and Pearson 1934): they hold for any number of trials."""

from __future__ import annotations

from math import exp, lgamma, log, log1p

_HALVINGS = 50
"""Halvings of the interval around a bound: enough for 1e-15."""


def at_most(count: int, trials: int, chance: float) -> float:
    """The probability of `count` or fewer among independent trials of this chance, which lies between 0 and 1."""
    if count < 0 or count >= trials:
        return float(count >= 0)
    if count > trials * chance:
        return 1 - at_most(trials - count - 1, trials, 1 - chance)
    ways = lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1)
    term = exp(ways + count * log(chance) + (trials - count) * log1p(-chance))
    total = 0.0
    for i in range(count, -1, -1):
        total += term
        if term < total * 1e-17:
            break
        term *= i * (1 - chance) / ((trials - i + 1) * chance)
    return total


def highest(count: int, trials: int, confidence: float) -> float:
    """The upper bound of the true chance, with this confidence; 1 without trials."""
    if count >= trials:
        return 1.0
    low, high = count / trials, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if at_most(count, trials, middle) <= 1 - confidence else (middle, high)
    return high


def lowest(count: int, trials: int, confidence: float) -> float:
    """The lower bound of the true chance, with this confidence; 0 without trials."""
    return 1 - highest(trials - count, trials, confidence)
