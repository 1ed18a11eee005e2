"""Retrieval made worse in steps: how much accuracy is lost, and does one method lose less of it than another?

What is done to a passage follows from a hash of the question's and its own id: the same passages in every run, and
those of a smaller step are among those of a larger one. (Probes of the evaluator alone are in `robustness`.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from surefoot.datasets.pairs import LabelledPair
from surefoot.datasets.questions import Example, hashed
from surefoot.errors import UsageError
from surefoot.evaluate.ask.runs import Arm, OnDone, Spread, run
from surefoot.lab import qa
from surefoot.lab.probes import PROBES, Stock, perturbed, stock
from surefoot.pipeline import Pipeline
from surefoot.protocols import Retriever
from surefoot.stats.figures import RESAMPLES, SEED, Figure, Share, difference
from surefoot.store import to_json
from surefoot.text.words import places_of
from surefoot.types import Passage, Trace

STEPS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the passages that something is done to, unless others are asked for."""

Change = Callable[[tuple[Passage, ...], Example, float], tuple[Passage, ...]]
"""(what was retrieved, question, share) -> what is left of it."""

_SWAP = next(probe for probe in PROBES if probe.name == "entity in passage")
_FULL = 2**64


@dataclass(frozen=True, slots=True)
class Degraded:
    """A retriever whose finds are made worse."""

    inner: Retriever
    worse: Callable[[tuple[Passage, ...]], tuple[Passage, ...]]

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """What is left of the inner one's; raises what that raises."""
        return self.worse(self.inner.retrieve(question, k))


@dataclass(frozen=True, slots=True)
class DegradationStep:
    """How one method fared where something was done to this share of the passages."""

    kind: str
    share: float
    """0: as they were retrieved."""
    method: str
    right: Share
    answered: Share
    changed: int
    """Questions whose passages are others than without."""
    lost: Figure
    """Share right as retrieved less that here."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How two methods stand to each other at one step."""

    kind: str
    share: float
    first: str
    second: str
    ahead: Figure
    """Share that the first has right less the second's."""
    spared: Figure
    """What the second has lost to here less what the first has; above 0, the first loses less."""


@dataclass(frozen=True, slots=True)
class DegradationReport:
    """What became of each method at each step. The JSON form is stable: fields are added, never changed."""

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
    """Each goes with this chance."""
    return tuple(passage for passage in passages if not _meant(example, passage, share))


def lost(passages: tuple[Passage, ...], example: Example, share: float) -> tuple[Passage, ...]:
    """Each in whose title or text an accepted answer stands goes with this chance: what CRAG's authors did."""
    held = [bool(places_of(example.answers, f"{passage.title} … {passage.text}")) for passage in passages]
    meant = [_meant(example, passage, share) for passage in passages]
    return tuple(p for p, holds, goes in zip(passages, held, meant, strict=True) if not (holds and goes))


def shuffled(passages: tuple[Passage, ...], example: Example, share: float) -> tuple[Passage, ...]:
    """Those that are meant change places among themselves."""
    meant = [place for place, passage in enumerate(passages) if _meant(example, passage, share)]
    drawn = sorted(meant, key=lambda place: hashed(f"{example.id}/{passages[place].id}", 16))
    found = list(passages)
    for place, other in zip(meant, drawn, strict=True):
        found[place] = passages[other]
    return tuple(found)


def swapped(lent: Stock, passages: tuple[Passage, ...], example: Example, share: float) -> tuple[Passage, ...]:
    """Each that is meant speaks of another entity than the question's, as the evaluator's probe has it; one that does
    not name the question's stays."""
    return tuple(_of_another(p, example, lent) if _meant(example, p, share) else p for p in passages)


KINDS = ("fewer", "lost", "shuffled", "swapped")
"""What can be done to passages."""


def arms(
    methods: Sequence[Arm], examples: Sequence[Example], kinds: Sequence[str] = KINDS, steps: Sequence[float] = STEPS
) -> tuple[Arm, ...]:
    """Each method as it is, and at each step of each kind. Raises UsageError for a kind or a share that cannot be."""
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"nothing called '{unknown[0]}' can be done to passages; there are: {', '.join(KINDS)}")
    if odd := [share for share in steps if not 0 < share <= 1]:
        raise UsageError(f"a step is a share of the passages above 0 and up to 1, not {odd[0]:g}")
    known = stock(pair for example in examples for pair in _pairs(example))
    lent = replace(known, about={}, labels={})  # a swap needs neither, and an arm may have to travel
    changes: dict[str, Change] = {"fewer": fewer, "lost": lost, "shuffled": shuffled}
    changes["swapped"] = lambda passages, example, share: swapped(lent, passages, example, share)
    worse = [_arm(one, kind, changes[kind], share) for one in methods for kind in kinds for share in steps]
    return (*methods, *worse)


def measured(
    methods: Sequence[Arm],
    examples: Sequence[Example],
    spread: Spread,
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
    kinds: Sequence[str] = KINDS,
    steps: Sequence[float] = STEPS,
) -> DegradationReport:
    """Ask every question by every method at every step (that is methods × (1 + kinds × steps) times) and report."""
    every = arms(methods, examples, kinds, steps)
    fared = {
        arm.name: (qa.report(arm.name, examples, traces), [_seen(trace) for trace in traces])
        for arm, traces in run(every, examples, spread, folder, about, on_done)
    }
    rule = qa.telling([report for report, _ in fared.values()])
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


def _of_another(passage: Passage, example: Example, lent: Stock) -> Passage:
    made = perturbed(_SWAP, LabelledPair(example.id, example.question, passage, 1, example.answers), lent)
    return passage if isinstance(made, str) else replace(passage, title=made.passage.title, text=made.passage.text)


def _pairs(example: Example) -> list[LabelledPair]:
    """What is known of whom a question is about; without passages, its own words."""
    passages = example.passages or (Passage("", ""),)
    return [LabelledPair(example.id, example.question, p, int(p.id in example.gold), example.answers) for p in passages]


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
