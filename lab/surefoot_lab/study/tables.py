"""Descriptions, which nothing tests: words by kind, changed forms, and the trust in the explanations. Pure.

Values are in standard deviations of the scores; intervals are from the bootstrap over questions that the claims use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import rankdata

from surefoot.evidence.policies import label
from surefoot.stats import figures
from surefoot.stats.figures import Figure, Floats, Paired, mcnemar
from surefoot.stats.text import NONE, number, percent
from surefoot.types import Action, Thresholds
from surefoot_lab.figures import counted
from surefoot_lab.report import Form, Table, count, share
from surefoot_lab.study.examination import FRACTIONS, SUITE, Examined, change, over_as_rare, per_word
from surefoot_lab.study.kinds import KINDS
from surefoot_lab.study.verdicts import Questions

GROUPS = (*(action.value for action in Action), "all")
HOW = {
    "another seed": "another seed alone",
    "filler": "a word that says nothing where a word was",
    "pad": "a sign without letters where a word was",
    "hashed": "control: scores drawn by the text's hash",
    "shuffled": "control: weights in another order",
}
"""The ways in which pairs are explained again, in words."""


def tables(pairs: Sequence[Examined], drawn: Questions, spread: float, thresholds: Thresholds) -> list[Table]:
    """The tables of these pairs. `spread`: the unit, above 0."""
    look = _Look(drawn, spread)
    groups = [(name, [one for one in pairs if name in ("all", one.action.value)]) for name in GROUPS]
    checked, shares = [one for one in pairs if one.again], [f"{part:.0%}" for part in FRACTIONS]
    orders = [*pairs[0].without] if pairs else []
    kinds: dict[str, Form] = {"kind": str, "pairs of": str, "words": count, "value of a word": signed}
    changes: dict[str, Form] = {"change": str, "pairs of": str, "pairs": count, "score": signed, "Cliff's δ": signed}
    return [
        Table(
            "Words by kind",
            {**kinds, "share of the whole": lambda one: percent(one.value, 0), "IDF": lambda idf: number(idf, ".1f")},
            [row for kind in KINDS for name, mine in groups if (row := look.kind(kind, name, mine))[2]],
            "The mean value of a word: the mean over pairs of its mean in each. Separators between question and "
            "passage are never taken out and have no row. The share is of the sizes of all values in a pair.",
        ),
        Table(
            "One thing changed",
            {**changes, "flips at τ+": _flips, "p": _p, "flips at τ−": _flips, "p at τ−": _p},
            [
                row
                for probe in SUITE
                for name, mine in groups
                if (row := look.change(probe.name, name, mine, thresholds))[2]
            ],
            "Each change was made to every pair that it applies to. Flips: pairs that fell below a threshold ↓ or rose "
            "to it ↑, with McNemar's exact p; a pair counts as one trial there, though pairs of one question are "
            "alike.",
        ),
        Table("Left out", {"change": str, "does not apply, or could not be graded": str}, list(_left_out(pairs))),
        Table(
            "Are these the right words?",
            {
                "order": str,
                **dict.fromkeys((f"without {part}" for part in shares), signed),
                "gain": signed,
                **dict.fromkeys((f"only {part}" for part in shares), signed),
                "gain of only": signed,
            },
            [look.faith(name, orders[0], pairs) for name in orders],
            "The score less that without units (comprehensiveness), or with them alone (sufficiency): taken out, the "
            "right ones cost much; left alone, little. From the highest value down, and for comparison from the rarest "
            "down and by chance. Gain: the attribution's order over this one, over all shares.",
        ),
        Table(
            "Explained again",
            {
                "explained with": str,
                "correlation": signed,
                "rank correlation": signed,
                "name over words as rare": signed,
                "pairs": count,
            },
            [look.again(how, checked) for how in (checked[0].again if checked else ())],
            "Each by another seed: how values (Pearson) and ranks (Spearman) correlate, as a mean over pairs. Controls "
            "must agree with nothing: an explanation that looks the same for them is not one of this evaluator.",
        ),
        Table(
            "Precision",
            {"of the values": str, "": str},
            list(_precision(pairs)),
            "Means over pairs are unbiased by the standard errors, single values are not.",
        ),
    ]


def signed(figure: Figure) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return NONE
    interval = "" if figure.low is None or figure.high is None else f" ({_sign(figure.low)} to {_sign(figure.high)})"
    return f"{_sign(figure.value)}{interval}"


def correlation(first: Sequence[float], second: Sequence[float], ranks: bool = False) -> float | None:
    """Pearson's correlation, or with `ranks` Spearman's (ties have their mean rank); None where either is constant."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    one, other = (rankdata(first), rankdata(second)) if ranks else (first, second)
    return float(np.corrcoef(one, other)[0, 1])


@dataclass(frozen=True, slots=True)
class _Look:
    """Rows of the tables."""

    drawn: Questions
    spread: float

    def mean(self, pairs: Sequence[Examined], of: Callable[[Examined], float | None], scale: float = 1.0) -> Figure:
        """Over the pairs that have it, with its interval."""
        each = [(pair, value / scale) for pair in pairs if (value := of(pair)) is not None]
        values, numbers = [value for _, value in each], self.drawn.of([pair for pair, _ in each])
        return figures.figure(figures.mean(values, numbers), self.drawn.draws)[0]

    def kind(self, kind: str, action: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        units = [
            (one.attribution.units[n].words, one.idf[n])
            for one in pairs
            for n, name in enumerate(one.kinds)
            if name == kind
        ]
        return (
            kind,
            action.upper(),
            sum(len(text.split()) for text, _ in units),
            self.mean(pairs, lambda one: per_word(one, (kind,)), self.spread),
            self.mean(pairs, lambda one: _share(one, kind)),
            sum(idf for _, idf in units) / len(units) if units else None,
        )

    def change(self, probe: str, action: str, pairs: Sequence[Examined], thresholds: Thresholds) -> tuple[Any, ...]:
        moved = [(one, found + one.score) for one in pairs if (found := change(one, probe)) is not None]
        labels = [(one.action, label(score, thresholds)) for one, score in moved]
        above, below = (
            mcnemar([keeps(before) for before, _ in labels], [keeps(after) for _, after in labels])
            for keeps in (Action.CORRECT.__eq__, Action.INCORRECT.__ne__)
        )
        return (
            probe,
            action.upper(),
            len(moved),
            self.mean(pairs, lambda one: change(one, probe), self.spread),
            self.mean(pairs, lambda one: _direction(change(one, probe))),
            *(above, above.p, below, below.p),
        )

    def faith(self, order: str, first: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        def lost(one: Examined, side: str, name: str) -> Floats:
            return one.attribution.full - np.array(getattr(one, side)[name])

        def row(side: str, more: str, less: str) -> Iterator[Figure]:
            for n in range(len(FRACTIONS)):
                yield self.mean(pairs, lambda one: lost(one, side, order)[n], self.spread)  # noqa: B023
            yield self.mean(pairs, lambda one: (lost(one, side, more) - lost(one, side, less)).mean(), self.spread)

        return order, *row("without", first, order), *row("alone", order, first)

    def again(self, how: str, pairs: Sequence[Examined]) -> tuple[Any, ...]:
        linear = self.mean(pairs, lambda one: correlation(one.attribution.values, one.again[how]))
        ranked = self.mean(pairs, lambda one: correlation(one.attribution.values, one.again[how], ranks=True))
        over = self.mean(pairs, lambda one: over_as_rare(one, one.again[how]), self.spread)
        return HOW.get(how, how), linear, ranked, over, ranked.of


def _left_out(pairs: Sequence[Examined]) -> Iterator[tuple[str, str]]:
    for probe in SUITE:
        reasons = Counter(one.left_out[probe.name] for one in pairs if probe.name in one.left_out)
        if reasons:
            yield probe.name, "; ".join(f"{reason} ({number:,})" for reason, number in reasons.most_common())


def _direction(value: float | None) -> float | None:
    return None if value is None else float(np.sign(value))


def _share(one: Examined, kind: str) -> float | None:
    total = sum(map(abs, one.attribution.values))
    mine = sum(abs(value) for value, name in zip(one.attribution.values, one.kinds, strict=True) if name == kind)
    return mine / total if total else None


def _precision(pairs: Sequence[Examined]) -> Iterator[tuple[str, str]]:
    found = [one.attribution for one in pairs]
    largest = [max(map(abs, one.values)) for one in found]
    errors = [max(one.errors) / most if most else 0.0 for one, most in zip(found, largest, strict=True)]
    yield "pairs that reached the tolerance", share(counted(sum(one.reached for one in found), len(found)))
    yield "largest standard error, of the largest value, in the median pair", f"{median(errors):.0%}"
    yield "largest gap between the score and the sum of the values", f"{max(abs(one.gap) for one in found):.1e}"
    yield "units of the median pair", f"{median(len(one.units) for one in found):g}"
    yield "evaluations, without those of the checks", f"{sum(one.evaluations for one in found):,}"


def _sign(value: float) -> str:
    shown = f"{abs(value):.3f}" if abs(value) < 10 else f"{abs(value):.1f}"
    return shown if float(shown) == 0 else f"{'−' if value < 0 else '+'}{shown}"


def _flips(one: Paired) -> str:
    return f"↓{one.first:,} ↑{one.second:,}"


def _p(p: float | None) -> str:
    return NONE if p is None else f"{p:.4f}" if p >= 0.0001 else "< .0001"
