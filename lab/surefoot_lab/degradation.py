"""Retrieval made worse in steps: how much accuracy does each method lose?

A hash of question id and passage id picks the passages: the same in every run, and those of a smaller step are among
those of a larger one. (Probes of the evaluator alone are in `robustness`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from surefoot.evaluate.ask.questions import Example, hashed
from surefoot.evaluate.ask.runs import Arm
from surefoot.pipeline import Pipeline
from surefoot.run.store import to_json
from surefoot.stats.figures import RESAMPLES, SEED, Figure
from surefoot.text.words import places_of
from surefoot.types import Passage, Trace
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Retriever
from surefoot_lab import qa
from surefoot_lab.figures import Share, difference

STEPS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the passages that are changed, by default."""

Change = Callable[[tuple[Passage, ...], Example, float], tuple[Passage, ...]]
"""(retrieved passages, question, share) -> what is left of them."""

_FULL = 2**64


@dataclass(frozen=True, slots=True)
class Degraded:
    """A retriever whose results are made worse."""

    inner: Retriever
    worse: Callable[[tuple[Passage, ...]], tuple[Passage, ...]]

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """The inner retriever's passages, made worse; raises what it raises."""
        return self.worse(self.inner.retrieve(question, k))


@dataclass(frozen=True, slots=True)
class DegradationStep:
    """One method's accuracy with this share of the passages changed."""

    kind: str
    share: float
    """0: nothing changed."""
    method: str
    right: Share
    answered: Share
    changed: int
    """Questions whose passages differ from step 0."""
    lost: Figure
    """Share right at step 0 less the share here."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference between two methods at one step."""

    kind: str
    share: float
    first: str
    second: str
    ahead: Figure
    """Share that the first has right less the second's."""
    spared: Figure
    """The second's loss less the first's; above 0, the first loses less."""


@dataclass(frozen=True, slots=True)
class DegradationReport:
    """Each method at each step. The JSON form is stable: fields are added, never changed."""

    rule: str
    questions: int
    methods: tuple[str, ...]
    steps: tuple[DegradationStep, ...]
    """Kind by kind, method by method, the shares rising from 0."""
    gaps: tuple[Gap, ...]
    """Kind by kind, each pair of methods, the shares rising from 0."""


_Fared = tuple[qa.QAReport, list[int]]
"""An arm's report, and for each question a hash of its passages' words."""


def fewer(passages: tuple[Passage, ...], example: Example, share: float) -> tuple[Passage, ...]:
    """Each passage goes with this chance."""
    return tuple(passage for passage in passages if not _meant(example, passage, share))


def lost(passages: tuple[Passage, ...], example: Example, share: float) -> tuple[Passage, ...]:
    """Each passage with an accepted answer in title or text goes with this chance, as in CRAG's experiments."""
    goes = [_meant(example, p, share) and places_of(example.answers, f"{p.title} … {p.text}") for p in passages]
    return tuple(passage for passage, gone in zip(passages, goes, strict=True) if not gone)


KINDS: dict[str, Change] = {"fewer": fewer, "lost": lost}
"""Changes to passages, by name."""


def arms(
    methods: Sequence[Arm], kinds: Sequence[str] = tuple(KINDS), steps: Sequence[float] = STEPS
) -> tuple[Arm, ...]:
    """Each method as it is, and at each step of each kind. Raises UsageError for an unknown kind or share."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"nothing called '{unknown[0]}' can be done to passages; there are: {', '.join(KINDS)}")
    if odd := [share for share in steps if not 0 < share <= 1]:
        raise UsageError(f"a step is a share of the passages above 0 and up to 1, not {odd[0]:g}")
    worse = [_arm(one, kind, KINDS[kind], share) for one in methods for kind in kinds for share in steps]
    return (*methods, *worse)


def report(
    methods: Sequence[Arm],
    examples: Sequence[Example],
    queries: Iterable[tuple[Arm, Sequence[Trace]]],
    kinds: Sequence[str] = tuple(KINDS),
    steps: Sequence[float] = STEPS,
) -> DegradationReport:
    """The figures of these methods, from what `runs.run` yields for the `arms` of the same kinds and steps."""
    fared = {
        arm.name: (qa.report(arm.name, examples, traces), [_seen(trace) for trace in traces]) for arm, traces in queries
    }
    rule = qa.telling([one for one, _ in fared.values()])
    names, shares = [method.name for method in methods], [0.0, *sorted(steps)]
    return DegradationReport(
        rule,
        len(examples),
        tuple(names),
        tuple(_step(kind, s, name, fared, rule) for kind in kinds for name in names for s in shares),
        tuple(_gap(kind, s, *two, fared, rule) for kind in kinds for two in combinations(names, 2) for s in shares),
    )


def as_json(report: DegradationReport, about: dict[str, Any]) -> dict[str, Any]:
    """The report as plain data: the keys of `about`, the fields of `DegradationReport`, `seed` and `resamples`."""
    return {**about, **to_json(report), "seed": SEED, "resamples": RESAMPLES}


def _arm(method: Arm, kind: str, change: Change, share: float) -> Arm:
    def ask(pipeline: Pipeline, example: Example) -> Trace:
        worse = Degraded(pipeline.retriever, lambda passages: change(passages, example, share))
        return method.ask(pipeline.but(retriever=worse), example)

    return Arm(_named(method.name, kind, share), ask)


def _named(method: str, kind: str, share: float) -> str:
    return f"{method} {kind} {share:g}" if share else method


def _meant(example: Example, passage: Passage, share: float) -> bool:
    drawn = int.from_bytes(hashed(f"{SEED}/{example.id}/{passage.id}", 8))
    return drawn < share * _FULL


def _seen(trace: Trace) -> int:
    return hash(tuple((passage.title, passage.text) for passage in trace.passages))


def _right(report: qa.QAReport, rule: str) -> list[bool]:
    return [outcome.get(rule, False) for outcome in report.outcomes]


def _step(kind: str, share: float, name: str, fared: dict[str, _Fared], rule: str) -> DegradationStep:
    (before, seen), (here, sees) = fared[name], fared[_named(name, kind, share)]
    changed = sum(one != other for one, other in zip(seen, sees, strict=True))
    gone = difference(_right(before, rule), _right(here, rule))
    return DegradationStep(kind, share, name, here.right(rule), here.answered, changed, gone)


def _gap(kind: str, share: float, first: str, second: str, fared: dict[str, _Fared], rule: str) -> Gap:
    one, other = (_right(fared[_named(name, kind, share)][0], rule) for name in (first, second))
    losses = [
        [float(a) - float(b) for a, b in zip(_right(fared[name][0], rule), here, strict=True)]
        for name, here in ((first, one), (second, other))
    ]
    return Gap(kind, share, first, second, difference(one, other), difference(losses[1], losses[0]))
