"""Robustness: how do an evaluator's grades move when one thing about a pair is changed?"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.ask.runs import OnDone
from surefoot.evidence.policies import label, require_match
from surefoot.stats import figures
from surefoot.stats.figures import Figure, Paired, mcnemar
from surefoot.types import Action, Grade, Thresholds
from surefoot.types.protocols import Evaluator, Pair
from surefoot_lab import probes
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.figures import Share, counted
from surefoot_lab.grading import Graded, draws, in_turn
from surefoot_lab.probes import PROBES, Expectation, Probe

Moves = Sequence[tuple[Action, Action]]
"""The labels (`policies.label`) of pairs before and after."""


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """One probe's effect on the grades of one file.

    `as_expected` counts the pairs that could have done otherwise:

    - falls: of the pairs at or above τ+ before, the share below it afterwards;
    - low: of the pairs below τ+ before, the share still below it;
    - holds: of all pairs, the share with the same label as before, at τ+ and τ−;
    - reported: None.

    Its interval is Wilson's: a pair is one trial. The intervals of the changes are from a bootstrap over questions.
    """

    probe: str
    expects: Expectation
    pairs: int
    """Changed, and graded before and after."""
    left_out: dict[str, int]
    """Pairs that the probe does not apply to, by reason."""
    ungraded: dict[str, int]
    """Changed pairs of which one of the two grades is missing, by reason."""
    score_change: Figure
    """Mean of after less before."""
    probability_change: Figure
    """The same over the pairs that have both probabilities."""
    upper: Paired
    """`first`: pairs that fell below τ+; `second`: those that rose to it."""
    lower: Paired
    """The same of τ−."""
    as_expected: Share | None


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The effects of all probes on an evaluator's grades of one file."""

    file: str
    evaluator: str
    relevant: int
    """Probed pairs with label 1: one for each question that has any, chosen by the passages' ids."""
    irrelevant: int
    """The same with label 0."""
    findings: tuple[ProbeFinding, ...]
    """One a probe, in the order of `probes.PROBES`."""
    notes: tuple[str, ...]
    """The evaluator's fallbacks."""


@dataclass(frozen=True, slots=True)
class _Plan:
    file: LabelledSet
    chosen: tuple[LabelledPair, ...]
    trials: dict[Probe, list[tuple[LabelledPair, LabelledPair]]]
    """Each chosen pair that the probe applies to, before and after."""
    left_out: dict[Probe, Counter[str]]

    @property
    def pairs(self) -> list[LabelledPair]:
        """Every pair to grade, once. A question's pairs stand far apart, since some evaluators grade a few together and
        should not compare a pair with its changed form."""
        after = [after for trials in self.trials.values() for _, after in trials]
        return list({_pair(one): one for one in (*self.chosen, *after)}.values())


def run(
    evaluator: Evaluator,
    files: Sequence[LabelledSet],
    on_done: OnDone,
    thresholds: Thresholds | None = None,
    name: str = "",
) -> list[ProbeReport]:
    """Grade one relevant and one irrelevant pair of each question, as they are and as each probe changes them.

    `on_done` counts the pairs of all files; `thresholds` None: the evaluator's own; `name`: for the reports, if not the
    evaluator's.
    """
    used = thresholds or evaluator.thresholds
    require_match(used, evaluator.name)
    plans = [_planned(file) for file in files]
    batches = in_turn(evaluator, [plan.pairs for plan in plans], on_done)
    shown = name or evaluator.name
    return [_report(plan, shown, made, used) for plan, made in zip(plans, batches, strict=True)]


def _planned(file: LabelledSet) -> _Plan:
    lent, chosen = probes.stock(file.pairs), _chosen(file.pairs)
    plan = _Plan(file, chosen, {probe: [] for probe in PROBES}, {probe: Counter() for probe in PROBES})
    for probe in PROBES:
        for pair in (pair for pair in chosen if pair.label == probe.label):
            made = probes.perturbed(probe, pair, lent)
            if isinstance(made, str):
                plan.left_out[probe][made] += 1
            else:
                plan.trials[probe].append((pair, made))
    return plan


def _chosen(pairs: Iterable[LabelledPair]) -> tuple[LabelledPair, ...]:
    """For each question and label, the pair whose passage id hashes lowest."""
    similar: dict[tuple[str, int], list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        similar[pair.question_id, pair.label].append(pair)
    return tuple(min(mine, key=lambda pair: hashed(pair.passage.id)) for mine in similar.values())


def _report(plan: _Plan, evaluator: str, made: Graded, thresholds: Thresholds) -> ProbeReport:
    grades = {_pair(pair): grade for pair, grade in zip(plan.pairs, made.grades, strict=True)}
    numbers = dict(zip((pair.question_id for pair in plan.file.pairs), plan.file.numbers(), strict=True))
    counts, labels = draws(plan.file), Counter(pair.label for pair in plan.chosen)
    findings = tuple(_finding(probe, plan, grades, numbers, counts, thresholds) for probe in PROBES)
    return ProbeReport(plan.file.path, evaluator, labels[1], labels[0], findings, made.degraded)


def _finding(
    probe: Probe,
    plan: _Plan,
    grades: Mapping[Pair, Grade],
    numbers: Mapping[str, int],
    counts: npt.NDArray[np.uint16],
    thresholds: Thresholds,
) -> ProbeFinding:
    trials = plan.trials[probe]
    each = [(numbers[before.question_id], grades[_pair(before)], grades[_pair(after)]) for before, after in trials]
    scores = [(n, b.score, a.score) for n, b, a in each if b.score is not None and a.score is not None]
    chances = [(n, b.probability, a.probability) for n, b, a in each]
    sure = [(n, b, a) for n, b, a in chances if b is not None and a is not None]
    moves = [(label(b, thresholds), label(a, thresholds)) for _, b, a in scores]
    missing = (b.reason if b.score is None else a.reason for _, b, a in each if b.score is None or a.score is None)
    return ProbeFinding(
        probe=probe.name,
        expects=probe.expects,
        pairs=len(scores),
        left_out=dict(plan.left_out[probe].most_common()),
        ungraded=dict(Counter(missing).most_common()),
        score_change=_change(scores, counts, "the probe applies to no pair that could be graded"),
        probability_change=_change(sure, counts, "no grade has a probability"),
        upper=flips(moves, Action.CORRECT.__eq__),
        lower=flips(moves, Action.INCORRECT.__ne__),
        as_expected=_as_expected(probe.expects, moves),
    )


def _change(each: Sequence[tuple[int, float, float]], counts: npt.NDArray[np.uint16], undefined: str) -> Figure:
    changes = [after - before for _, before, after in each]
    questions = np.array([number for number, _, _ in each], dtype=np.int64)
    return figures.figure(replace(figures.mean(changes, questions), undefined=undefined), counts)[0]


def flips(moves: Moves, above: Callable[[Action], bool]) -> Paired:
    """How many pairs fell below a threshold, and how many rose to it, by McNemar's test."""
    return mcnemar([above(before) for before, _ in moves], [above(after) for _, after in moves])


def _as_expected(expects: Expectation, moves: Moves) -> Share | None:
    correct = Action.CORRECT
    could = {
        "falls": [after is not correct for before, after in moves if before is correct],
        "low": [after is not correct for before, after in moves if before is not correct],
        "holds": [after is before for before, after in moves],
    }.get(expects)
    return None if could is None else counted(sum(could), len(could))


def _pair(pair: LabelledPair) -> Pair:
    return pair.question, pair.passage
