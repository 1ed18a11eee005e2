"""Means of records that come in groups, how sure they are."""

from collections.abc import Iterable, Mapping
from math import erfc, log1p, sqrt

import numpy as np

from surefoot.stats.figures import Z95, Figure, Floats, Ints, figure, mean, resampled

POWER80 = 0.8416212335729143
"""80 % quantile of the normal distribution."""
FEW = 20
"""Groups below which a bootstrap's interval is too narrow to be relied on."""


def numbered(ids: Iterable[str], groups: Mapping[str, str]) -> Ints:
    """The number, from 0, of each record's group; a record without one is a group of its own."""
    numbers: dict[tuple[str, str], int] = {}
    named = ((groups.get(name, ""), name) for name in ids)
    return np.array([numbers.setdefault((group, "" if group else name), len(numbers)) for group, name in named], int)


def averaged(values: Iterable[float], numbers: Ints) -> Figure:
    """The mean, with its 95 % interval from a bootstrap that draws whole groups."""
    return figure(mean(list(values), numbers), resampled(count(numbers)))[0]


def count(numbers: Ints) -> int:
    """The number of groups; 1 where there is no record, as a bootstrap needs one to draw from."""
    return int(numbers.max(initial=0)) + 1


def error(values: Floats, numbers: Ints) -> float | None:
    """The standard error of the mean, for groups that are independent of each other; None: fewer than two."""
    if (several := count(numbers)) < 2:
        return None
    parts = np.bincount(numbers, values - values.mean()) / len(values)
    return sqrt(several / (several - 1) * float((parts**2).sum()))


def welch(one: Floats, one_numbers: Ints, other: Floats, other_numbers: Ints) -> float | None:
    """The chance, two-sided, of means as far apart, or further, if both were the same: Welch's test of groups, with
    Wallace's (1959) approximation of Student's distribution; None: fewer than two groups, or no two values differ."""
    errors = error(one, one_numbers), error(other, other_numbers)
    if None in errors or not any(errors):
        return None
    parts = [(found or 0.0) ** 2 for found in errors]
    free = sum(parts) ** 2 / sum(
        part**2 / (count(numbers) - 1) for part, numbers in zip(parts, (one_numbers, other_numbers), strict=True)
    )
    squared = float(one.mean() - other.mean()) ** 2 / sum(parts)
    return erfc((8 * free + 1) / (8 * free + 3) * sqrt(free * log1p(squared / free)) / sqrt(2))


def visible(gaps: Floats, numbers: Ints) -> float | None:
    """The difference that this many paired records would show as significant (5 %, two-sided, before any correction)
    four times in five; None: fewer than two groups, or no two records differ."""
    found = error(gaps, numbers)
    return (Z95 + POWER80) * found if found else None
