"""Exact bounds of a share that was counted (Clopper and Pearson 1934): they hold for any number of trials."""

from __future__ import annotations

from scipy.stats import beta, binom


def at_most(count: int, trials: int, chance: float) -> float:
    """The probability of `count` or fewer among independent trials of this chance, which lies between 0 and 1."""
    return float(binom.cdf(count, trials, chance))


def highest(count: int, trials: int, confidence: float) -> float:
    """The upper bound of the true chance, with this confidence; 1 without trials."""
    return 1.0 if count >= trials else float(beta.ppf(confidence, count + 1, trials - count))


def lowest(count: int, trials: int, confidence: float) -> float:
    """The lower bound of the true chance, with this confidence; 0 without trials."""
    return 1 - highest(trials - count, trials, confidence)
