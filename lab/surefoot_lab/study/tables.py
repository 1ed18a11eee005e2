"""Descriptions, which nothing tests: words by kind, changed forms, and the trust in the explanations. Pure.

Values are in standard deviations of the scores; intervals are from the bootstrap over questions that the claims use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy.stats import rankdata

from surefoot.evidence.policies import label
from surefoot.stats import figures
from surefoot.stats.figures import Figure, Paired, mcnemar
from surefoot.types import Action, Thresholds
from surefoot_lab.figures import Share, counted
from surefoot_lab.study.examination import FRACTIONS, SUITE, Examined, Tried, change, over_as_rare, per_word
from surefoot_lab.study.kinds import KINDS
from surefoot_lab.study.verdicts import Questions

ALL = "all"
"""Pairs of any action."""
GROUPS = (*(action.value for action in Action), ALL)


@dataclass(frozen=True, slots=True)
class KindRow:
    """The words of a kind, in pairs of one action."""

    kind: str
    action: str
    words: int
    value: Figure
    """Of a word: the mean over pairs of its mean in each; `of` counts pairs."""
    share: Figure
    """Of the sum of all absolute values in a pair."""
    idf: float | None
    """Mean over its units."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change's effect on the pairs of one action."""

    probe: str
    action: str
    change: Figure
    delta: Figure
    """Cliff's delta within pairs."""
    upper: Paired
    """At or above τ+: `first` counts pairs that were so only before, `second` those that are so only now."""
    lower: Paired
    """At or above τ−."""
    left_out: dict[str, int]
    """Pairs that it does not apply to, by reason."""


@dataclass(frozen=True, slots=True)
class FaithRow:
    """The cost of taking out the first units of an order, or all others."""

    order: str
    without: tuple[Figure, ...]
    """The score less that without them, for each fraction (comprehensiveness): large where the order is right."""
    alone: tuple[Figure, ...]
    """The score less that of them alone (sufficiency): small where the order is right."""
    without_gain: Figure
    """The attribution's order less this one; above 0: the attribution knows more."""
    alone_gain: Figure
    """This order less the attribution's; above 0: the attribution knows more."""


@dataclass(frozen=True, slots=True)
class AgainRow:
    """Agreement of the values with those of another explanation of the same pairs."""

    how: str
    correlation: Figure
    """Pearson's, over the units of a pair; the mean over pairs."""
    rank_correlation: Figure
    """Spearman's; low where most units are worth nothing, as their order is chance."""
    entity_over_as_rare: Figure
    """A word of the name over one as rare, by this explanation."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The precision of the values."""

    reached: Share
    """Pairs whose largest error is within the tolerance."""
    error: float
    """The median over pairs of the largest standard error, as a share of the largest value."""
    gap: float
    """The largest gap of additivity over all pairs."""
    units: float
    """Median of a pair."""
    evaluations: int
    """Of all attributions, not counting the checks."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The descriptions of a study."""

    kinds: tuple[KindRow, ...]
    changes: tuple[ChangeRow, ...]
    faith: tuple[FaithRow, ...]
    again: tuple[AgainRow, ...]
    precision: Precision


def tables(pairs: Sequence[Examined], drawn: Questions, spread: float, thresholds: Thresholds) -> Tables:
    """The tables of these pairs. `spread`: the unit, above 0."""
    look = _Look(drawn, spread)
    groups = [(name, [one for one in pairs if name in (ALL, one.action.value)]) for name in GROUPS]
    return Tables(
        tuple(look.kind(kind, name, mine) for kind in KINDS for name, mine in groups),
        tuple(look.change(probe.name, name, mine, thresholds) for probe in SUITE for name, mine in groups),
        look.faith(pairs),
        look.again([one for one in pairs if one.again]),
        _precision(pairs),
    )


def correlation(first: Sequence[float], second: Sequence[float], ranks: bool = False) -> float | None:
    """Pearson's correlation, or with `ranks` Spearman's (ties have their mean rank); None where either is constant."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    one, other = (rankdata(first), rankdata(second)) if ranks else (first, second)
    return float(np.corrcoef(one, other)[0, 1])


@dataclass(frozen=True, slots=True)
class _Look:
    drawn: Questions
    spread: float

    def mean(self, pairs: Sequence[Examined], of: Callable[[Examined], float | None], scale: float = 1.0) -> Figure:
        """Over the pairs that have it, with its interval."""
        each = [(pair, value / scale) for pair in pairs if (value := of(pair)) is not None]
        values, numbers = [value for _, value in each], self.drawn.of([pair for pair, _ in each])
        return figures.figure(figures.mean(values, numbers), self.drawn.draws)[0]

    def kind(self, kind: str, action: str, pairs: Sequence[Examined]) -> KindRow:
        units = [
            (one.attribution.units[n].words, one.idf[n])
            for one in pairs
            for n, name in enumerate(one.kinds)
            if name == kind
        ]
        return KindRow(
            kind,
            action,
            sum(len(text.split()) for text, _ in units),
            self.mean(pairs, lambda one: per_word(one, (kind,)), self.spread),
            self.mean(pairs, lambda one: _share(one, kind)),
            sum(idf for _, idf in units) / len(units) if units else None,
        )

    def change(self, probe: str, action: str, pairs: Sequence[Examined], thresholds: Thresholds) -> ChangeRow:
        moved = [(one, found + one.score) for one in pairs if (found := change(one, probe)) is not None]
        labels = [(one.action, label(score, thresholds)) for one, score in moved]
        top, bottom = Action.CORRECT, Action.INCORRECT
        forms = [form for one in pairs for form in one.changes if form.probe == probe]
        reasons = Counter(form.reason for form in forms if form.score is None)
        return ChangeRow(
            probe,
            action,
            self.mean(pairs, lambda one: change(one, probe), self.spread),
            self.mean(pairs, lambda one: _sign(change(one, probe))),
            mcnemar([before is top for before, _ in labels], [after is top for _, after in labels]),
            mcnemar([before is not bottom for before, _ in labels], [after is not bottom for _, after in labels]),
            dict(reasons.most_common()),
        )

    def faith(self, pairs: Sequence[Examined]) -> tuple[FaithRow, ...]:
        names = [tried.order for tried in pairs[0].tried] if pairs else []
        return tuple(self._faith(name, names[0], pairs) for name in names)

    def _faith(self, order: str, first: str, pairs: Sequence[Examined]) -> FaithRow:
        def lost(one: Examined, side: str, name: str, at: slice = slice(None)) -> float:
            return one.attribution.full - float(np.mean(getattr(_tried(one, name), side)[at]))

        def figure(side: str, at: slice = slice(None)) -> Figure:
            return self.mean(pairs, lambda one: lost(one, side, order, at), self.spread)

        def gain(side: str, more: str, less: str) -> Figure:
            return self.mean(pairs, lambda one: lost(one, side, more) - lost(one, side, less), self.spread)

        cuts = [slice(n, n + 1) for n in range(len(FRACTIONS))]
        return FaithRow(
            order,
            tuple(figure("without", cut) for cut in cuts),
            tuple(figure("alone", cut) for cut in cuts),
            gain("without", first, order),
            gain("alone", order, first),
        )

    def again(self, pairs: Sequence[Examined]) -> tuple[AgainRow, ...]:
        names = [again.how for again in pairs[0].again] if pairs else []
        return tuple(self._again(how, pairs) for how in names)

    def _again(self, how: str, pairs: Sequence[Examined]) -> AgainRow:
        return AgainRow(
            how,
            self.mean(pairs, lambda one: correlation(one.attribution.values, _again(one, how))),
            self.mean(pairs, lambda one: correlation(one.attribution.values, _again(one, how), ranks=True)),
            self.mean(pairs, lambda one: over_as_rare(one, _again(one, how)), self.spread),
        )


def _tried(one: Examined, order: str) -> Tried:
    return next(tried for tried in one.tried if tried.order == order)


def _again(one: Examined, how: str) -> tuple[float, ...]:
    return next(again.values for again in one.again if again.how == how)


def _sign(value: float | None) -> float | None:
    return None if value is None else float(np.sign(value))


def _share(one: Examined, kind: str) -> float | None:
    total = sum(map(abs, one.attribution.values))
    mine = sum(abs(value) for value, name in zip(one.attribution.values, one.kinds, strict=True) if name == kind)
    return mine / total if total else None


def _precision(pairs: Sequence[Examined]) -> Precision:
    found = [one.attribution for one in pairs]
    return Precision(
        counted(sum(one.reached for one in found), len(found)),
        median(_error(one.errors, one.values) for one in found),
        max(abs(one.gap) for one in found),
        median(len(one.units) for one in found),
        sum(one.evaluations for one in found),
    )


def _error(errors: Iterable[float], values: Iterable[float]) -> float:
    largest = max(map(abs, values))
    return max(errors) / largest if largest else 0.0
