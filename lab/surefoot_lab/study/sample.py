"""The sample: so many pairs of each action, spread over answers, relations and questions, by seed."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import pstdev

from surefoot.evaluate.ask.questions import hashed
from surefoot.evidence.policies import label
from surefoot.text.subject import subject_of
from surefoot.text.words import fold
from surefoot.types import Action, Grade, Thresholds
from surefoot_lab.datasets.pairs import LabelledPair, holds

OPINIONS = frozenset({"yes", "no", "maybe", "true", "false"})
"""Answers that a passage holds only by chance."""
ELSE = "other"
"""The relation of questions of no known form."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A graded pair with its strata."""

    pair: LabelledPair
    score: float
    action: Action
    """The label of the passage alone."""
    holds_answer: bool
    relation: str

    @property
    def key(self) -> str:
        """Its name in the study."""
        return f"{self.pair.question_id}/{self.pair.passage.id}"


@dataclass(frozen=True, slots=True)
class Stratum:
    """Pairs of one kind: how many there are, and how many were taken."""

    action: Action
    holds_answer: bool
    available: int
    taken: int
    questions: int
    """Of those taken."""
    relations: int


@dataclass(frozen=True, slots=True)
class PairSample:
    """The pairs of a study."""

    candidates: tuple[Candidate, ...]
    """Action by action, in the order of the draw."""
    strata: tuple[Stratum, ...]
    spread: float
    """The standard deviation of the scores of all pairs that were graded."""
    graded: int
    too_long: int
    """Pairs whose passage has too many words; they were not graded."""
    ungraded: int
    """Pairs that the evaluator could not grade."""


def eligible(pairs: Iterable[LabelledPair], longest: int) -> tuple[list[LabelledPair], int]:
    """Each pair once, without answers that are mere opinions; and how many were too long."""
    first = {(pair.question_id, pair.passage.id): _plain(pair) for pair in reversed(list(pairs))}
    every = list(reversed(first.values()))
    short = [pair for pair in every if len(pair.passage.text.split()) <= longest]
    return short, len(every) - len(short)


def drawn(
    pairs: Sequence[LabelledPair],
    grades: Sequence[Grade],
    thresholds: Thresholds,
    per_action: int,
    seed: int,
    too_long: int = 0,
) -> PairSample:
    """So many pairs of each action, or all there are; pure."""
    every = [
        Candidate(
            pair,
            grade.score,
            label(grade.score, thresholds),
            holds(pair.passage, pair.answers),
            fold(subject_of(pair.question).relation) or ELSE,
        )
        for pair, grade in zip(pairs, grades, strict=True)
        if grade.score is not None
    ]
    taken = {action: dealt([one for one in every if one.action is action], seed)[:per_action] for action in Action}
    return PairSample(
        tuple(one for action in Action for one in taken[action]),
        tuple(_stratum(every, taken[action], action, held) for action in Action for held in (True, False)),
        pstdev([one.score for one in every]) if every else 0.0,
        len(every),
        too_long,
        len(pairs) - len(every),
    )


def dealt(candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """The candidates in an order that begins with as even a mix as can be of answer or none, of relations, and of
    questions; else random."""
    order = sorted(candidates, key=lambda one: hashed(f"{seed}/{one.key}"))
    order = _by_turns(order, lambda one: one.pair.question_id)
    order = _by_turns(order, lambda one: (one.holds_answer, one.relation))
    return _by_turns(order, lambda one: one.holds_answer)


def _by_turns(items: Sequence[Candidate], kind: Callable[[Candidate], Hashable]) -> list[Candidate]:
    """The first of each kind, then the second of each, and so on; those of a turn keep their order."""
    seen: Counter[Hashable] = Counter()
    turns = []
    for item in items:
        turns.append(seen[kind(item)])
        seen[kind(item)] += 1
    return [item for _, item in sorted(zip(turns, items, strict=True), key=lambda pair: pair[0])]


def _plain(pair: LabelledPair) -> LabelledPair:
    return replace(pair, answers=tuple(answer for answer in pair.answers if fold(answer.strip(" .")) not in OPINIONS))


def _stratum(every: Sequence[Candidate], taken: Sequence[Candidate], action: Action, holds: bool) -> Stratum:
    mine = [one for one in taken if one.holds_answer is holds]
    there = sum(one.action is action and one.holds_answer is holds for one in every)
    questions, relations = {one.pair.question_id for one in mine}, {one.relation for one in mine}
    return Stratum(action, holds, there, len(mine), len(questions), len(relations))
