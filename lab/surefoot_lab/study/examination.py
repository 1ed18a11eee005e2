"""Everything measured on one pair: the values of its words, the scores of its changed forms, and checks of the values.

Raw numbers only; nothing is tested here. A line of the run's folder is one `Examined`.
"""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from surefoot.evaluate.ask.questions import hashed
from surefoot.evidence.policies import finite
from surefoot.explain.grade import Baseline, ScoreFunction, Words, explain, taken_apart
from surefoot.explain.shapley import EXACT, Counted
from surefoot.types import Action, Attribution
from surefoot.types.protocols import Evaluator
from surefoot_lab.datasets.pairs import LabelledPair, holds
from surefoot_lab.probes import PROBES, Made, Probe, ProbePool, entity_in_both, perturbed
from surefoot_lab.study.kinds import ENTITY, ORDINARY, Rarity, as_rare, kinds
from surefoot_lab.study.sample import Candidate

FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Of a pair's units, at least one, that are taken out or left alone."""
BASELINE: Baseline = "delete"
"""Explains the words of all pairs; the other baselines are checks."""
_SYLLABLES = "bra dro fen gul hax jor kel lum mip nax orv pli quon rask stel tove ulm vrek wab xil yor zan".split()


def unheard_of(pair: LabelledPair, lent: ProbePool, chance: random.Random) -> Made:
    """Question and passage about an invented name, coined of syllables, as long as the real one."""
    length = min(3, len(lent.subjects.get(pair.question_id, "").split()))
    name = " ".join("".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(length))
    return entity_in_both(pair, replace(lent, similar=dict.fromkeys(lent.similar, (name,))), chance)


_USED = (
    "entity in question",
    "entity in passage",
    "entity in both",
    "answer removed",
    "relation changed",
    "entity stuffed",
    "words shuffled",
)
SUITE = (
    *(next(probe for probe in PROBES if probe.name == name) for name in _USED),
    Probe("unheard-of name in both", "reported", unheard_of),
)
"""The changed forms, each of every pair that it applies to."""


@dataclass(frozen=True, slots=True)
class StudySettings:
    """The size of a study, and its precision."""

    per_action: int = 120
    """Pairs of each action."""
    checked: int = 10
    """Of these, so many of each action are explained again, in other ways."""
    longest: int = 150
    """Words of a passage; longer ones are left out, and counted."""
    tolerance: float = 0.1
    most: int = 400
    """Evaluations of an attribution, of which there are 1, and 4 or 5 more for one that is checked. However few are
    allowed, each takes four for every unit."""
    seed: int = 0
    """Each pair makes one of its own of it."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A pair and its measurements."""

    question_id: str
    passage_id: str
    action: Action
    score: float
    label: int
    holds_answer: bool
    names_entity: bool
    relation: str
    subject: str
    """The question's subject; empty: it names nothing."""
    attribution: Attribution
    kinds: tuple[str, ...]
    """One a unit, of `kinds.KINDS`."""
    idf: tuple[float, ...]
    """One a unit."""
    changes: dict[str, float | None]
    """By probe of `SUITE`, the score of the changed pair; None: there is none."""
    left_out: dict[str, str]
    """By probe, why there is none: it does not apply, or could not be graded."""
    without: dict[str, tuple[float, ...]]
    """By order, the scores without its first units, for each of `FRACTIONS`."""
    alone: dict[str, tuple[float, ...]]
    """The scores of these units alone."""
    again: dict[str, tuple[float, ...]]
    """The units' values by another seed, with one thing about the explanation changed, by its name; empty except for
    pairs whose explanation is checked."""


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
    found = one.changes.get(probe)
    return None if found is None else found - one.score


MEASURES: dict[str, Callable[[Examined], float | None]] = {
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
"""Measures that claims are about, by their names in hypotheses: a number a pair in the score's unit; None: the pair has
nothing to measure."""


def examined(
    one: Candidate,
    evaluator: Evaluator,
    lent: ProbePool,
    rare: Rarity,
    effort: StudySettings,
    controls: Mapping[str, Evaluator] | None = None,
) -> Examined:
    """Everything about one pair. `controls`: the control evaluators; None: its explanation is not checked.

    Raises ComponentError where the evaluator fails.
    """
    pair, subject = one.pair, lent.subjects.get(one.pair.question_id, "")
    # By one seed for all, pairs that are built alike would err alike, and their mean as much as any of them.
    own = replace(effort, seed=2 * int.from_bytes(hashed(one.key)[:6], "big") + effort.seed)
    found = _explained(evaluator, pair, own)
    words = Words(pair.question, pair.passage, found.units)
    idf = tuple(rare.of(unit.words) for unit in found.units)
    changes, left_out = _changes(evaluator, pair, lent, effort.seed)
    without, alone = _tried(evaluator, words, _orders(found.values, idf, one.key, effort.seed))
    return Examined(
        question_id=pair.question_id,
        passage_id=pair.passage.id,
        action=one.action,
        score=one.score,
        label=pair.label,
        holds_answer=one.holds_answer,
        names_entity=holds(pair.passage, [subject]),
        relation=one.relation,
        subject=subject,
        attribution=found,
        kinds=kinds(words, subject, pair.answers),
        idf=idf,
        changes=changes,
        left_out=left_out,
        without=without,
        alone=alone,
        again={} if controls is None else _again(evaluator, pair, own, controls),
    )


def _explained(
    evaluator: Evaluator, pair: LabelledPair, effort: StudySettings, baseline: Baseline = BASELINE
) -> Attribution:
    units = len(taken_apart(pair.question, pair.passage, entities=True).units)
    return explain(
        evaluator,
        pair.question,
        pair.passage,
        baseline=baseline,
        entities=True,
        # Left alone, it would count all 4,096 coalitions of twelve units, whatever `most` says.
        method="exact" if 2**units <= min(effort.most, 2**EXACT) else "regression",
        tolerance=effort.tolerance,
        most=effort.most,
        seed=effort.seed,
    )


def _changes(
    evaluator: Evaluator, pair: LabelledPair, lent: ProbePool, seed: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    made = {probe.name: perturbed(probe, pair, lent, seed) for probe in SUITE}
    there = {name: (one.question, one.passage) for name, one in made.items() if not isinstance(one, str)}
    grades = dict(zip(there, map(finite, evaluator.grade([*there.values()]) if there else ()), strict=True))
    scores = {name: grades[name].score if name in grades else None for name in made}
    reasons = {name: one if isinstance(one, str) else grades[name].reason for name, one in made.items()}
    return scores, {name: reasons[name] for name, score in scores.items() if score is None}


def _orders(values: Sequence[float], idf: Sequence[float], key: str, seed: int) -> dict[str, list[int]]:
    """The units from what holds the score up most to what pulls it down most; by rarity; and by chance."""
    random = np.random.default_rng([seed, int.from_bytes(hashed(key)[:4], "big")])
    return {
        "attribution": np.argsort(-np.array(values), kind="stable").tolist(),
        "IDF": np.argsort(-np.array(idf), kind="stable").tolist(),
        "chance": random.permutation(len(values)).tolist(),
    }


def _tried(
    evaluator: Evaluator, words: Words, orders: Mapping[str, Sequence[int]]
) -> list[dict[str, tuple[float, ...]]]:
    """The scores by order without the first units, and of these alone."""
    count = len(words.units)
    tops = [max(1, round(share * count)) for share in FRACTIONS]
    alone = np.array([[n in order[:top] for n in range(count)] for order in orders.values() for top in tops])
    scores = Counted(ScoreFunction(evaluator, words, BASELINE))(np.concatenate([~alone, alone]))
    return [dict(zip(orders, map(tuple, side), strict=True)) for side in scores.reshape(2, len(orders), -1).tolist()]


def _again(
    evaluator: Evaluator, pair: LabelledPair, effort: StudySettings, controls: Mapping[str, Evaluator]
) -> dict[str, tuple[float, ...]]:
    # With the same seed, the same words would be missing together, and the errors would agree.
    other = replace(effort, seed=effort.seed + 1)
    found = {
        "another seed": _explained(evaluator, pair, other),
        "filler": _explained(evaluator, pair, other, "filler"),
        "pad": _explained(evaluator, pair, other, "pad"),
        **{name: _explained(control, pair, other) for name, control in controls.items()},
    }
    return {how: one.values for how, one in found.items()}


def _value(one: Examined, number: int, values: Sequence[float] | None = None) -> float:
    return (values or one.attribution.values)[number] / max(1, len(one.attribution.units[number].words.split()))
