"""The paired test of a change on the same questions, and what it takes to keep the change."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from surefoot.evaluate.score.comparison import tested
from surefoot.evaluate.score.summaries import value
from surefoot.stats.figures import holm
from surefoot.stats.groups import averaged, numbered
from surefoot.types import Gain, Score

ALPHA = 0.05
"""The level below which a p-value shows a difference."""

Values = Mapping[str, float | None]
"""Scores by question id; None: could not be scored."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The gain of a change over the questions that were scored before and after."""

    gain: Gain
    unscored: int
    """Questions that lack a score before, after or both times."""
    worst: float
    """The difference over all questions, if a missing score counts 1 before and 0 after."""


@dataclass(frozen=True, slots=True)
class Control:
    """The result of the placebo, and of the change beside it."""

    difference: Difference
    """The control against the baseline."""
    adjusted: float
    beside: Difference | None
    """The change against the control; None: no question has a score from both."""


def values(scores: Sequence[Score], metric: str) -> dict[str, float | None]:
    """The records' scores on the metric, without records that it does not apply to."""
    return {score.record_id: value(score) for score in scores if score.metric == metric and score.applies}


def paired(metric: str, before: Values, after: Values, groups: Mapping[str, str]) -> Difference | None:
    """The gain on the questions that both have; None: fewer than two groups were scored both times. Questions of one
    group (`groups`, by id) are drawn and flipped together; interval and test are those of `score.comparison`."""
    shared = [id for id in before if id in after]
    both = {id: (one, other) for id in shared if (one := before[id]) is not None and (other := after[id]) is not None}
    scored, numbers = np.array(list(both.values())).reshape(-1, 2), numbered(both, groups)
    figure, p = averaged(scored[:, 1] - scored[:, 0], numbers), tested(scored, numbers)[1]
    if figure.value is None or figure.low is None or figure.high is None or p is None:
        return None
    first, second = map(float, scored.mean(axis=0))
    gain = Gain(metric, first, second, figure.value, figure.low, figure.high, p, len(both))
    worst = np.mean([(after[id] or 0.0) - (1.0 if (was := before[id]) is None else was) for id in shared])
    return Difference(gain, len(shared) - len(both), float(worst))


def verdict(found: Difference, adjusted: float, placebo: Control | None) -> tuple[bool, str]:
    """True if the change is kept, and why: it has to be better at the level `ALPHA` after Holm's correction, even at
    worst, and the placebo may not do as well, as far as can be told. `placebo` None: there is no other lever."""
    p = f"p = {adjusted:.2g} after Holm"
    if found.gain.difference <= 0 or adjusted >= ALPHA:
        return False, f"not shown to be better on the held-out half ({p})"
    if found.unscored and found.worst <= 0:
        return False, f"its gain hangs on {found.unscored} questions that could not be scored"
    if placebo is None:
        return True, f"better on the held-out half ({p}); there is no other lever to hold it against"
    other, beside = placebo.difference.gain.difference, placebo.beside
    better = other > 0 and placebo.adjusted < ALPHA
    apart = beside is not None and beside.gain.difference > 0 and beside.gain.p < ALPHA
    if other >= found.gain.difference or (better and not apart):
        return False, f"the placebo does as well as far as can be told ({100 * other:+.1f} points)"
    return True, f"better on the held-out half ({p}), and the placebo does not do as well"


def adjusted(found: Mapping[str, Difference | None]) -> dict[str, float]:
    """The arms' p-values after Holm's correction over all of them; 1 for an arm that could not be tested."""
    tested = {name: one.gain.p for name, one in found.items() if one}
    return dict.fromkeys(found, 1.0) | dict(zip(tested, holm(list(tested.values())), strict=True))


def needed(arms: int) -> int:
    """The fewest questions that a change must turn right, and none wrong, to pass McNemar's test among so many arms."""
    return next(turned for turned in count(1) if arms * 2 * 0.5**turned < ALPHA)
