"""Measures that claims are about: one number a pair, in standard deviations of the evaluator's scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from surefoot.lab.study.examination import SUITE, Examined
from surefoot.lab.study.kinds import ENTITY, ORDINARY, as_rare

Measure = Callable[[Examined], float | None]
"""In the score's unit; None: the pair has nothing to measure."""


def per_word(one: Examined, wanted: Collection[str]) -> float | None:
    """The mean value of a word of these kinds; the words of a unit share its value."""
    mine = [n for n, kind in enumerate(one.kinds) if kind in wanted]
    return sum(_value(one, n) for n in mine) / len(mine) if mine else None


def over_as_rare(one: Examined, values: Sequence[float] | None = None) -> float | None:
    """The value of a word of the name less that of an equally rare one; `values` None: the attribution's."""
    both = as_rare(one.kinds, one.attribution.units, one.idf)
    return sum(_value(one, a, values) - _value(one, b, values) for a, b in both) / len(both) if both else None


def change(one: Examined, probe: str) -> float | None:
    """The score of the changed pair less that of the pair."""
    found = next((each.score for each in one.changes if each.probe == probe), None)
    return None if found is None else found - one.score


MEASURES: dict[str, Measure] = {
    "value: entity": partial(per_word, wanted=ENTITY),
    "value: question entity": partial(per_word, wanted=("question entity",)),
    "value: passage entity": partial(per_word, wanted=("passage entity",)),
    "value: answer span": partial(per_word, wanted=("answer span",)),
    "value: relation word": partial(per_word, wanted=("relation word",)),
    "value: ordinary word": partial(per_word, wanted=ORDINARY),
    "value: function word": partial(per_word, wanted=("function word",)),
    "value: entity over words as rare": over_as_rare,
    **{f"change: {probe.name}": partial(change, probe=probe.name) for probe in SUITE},
}
"""By their names in hypotheses."""


def _value(one: Examined, number: int, values: Sequence[float] | None = None) -> float:
    return (values or one.attribution.values)[number] / max(1, len(one.attribution.units[number].words.split()))
