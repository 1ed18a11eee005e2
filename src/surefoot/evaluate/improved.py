"""The loop that ends in proof: ask, score, diagnose, try what is proposed, and keep what helps on questions that nobody
had looked at.

The questions are split by hash. On the development half the configuration is run and diagnosed, and each proposed patch
is run; on the held-out half the best patch, and the best together, are run once, beside the configuration as it was and
beside two controls of as many settings. All runs share questions, index, judges and seeds, which `run.json` records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any, Literal

from surefoot import manifest
from surefoot.bench import given, runs
from surefoot.bench.choices import RULES, rules
from surefoot.bench.datasets import Example, hashed
from surefoot.bench.methods import crag, crag_search
from surefoot.bench.runs import Arm, OnDone, Spread
from surefoot.config import Config
from surefoot.errors import TraceFault, UsageError
from surefoot.evaluate import levers
from surefoot.evaluate.patched import Patch, joined, shown, size, tried
from surefoot.evaluate.proven import Control, Difference, Verdict, adjusted, needed, paired, values, verdict
from surefoot.protocols import Judge
from surefoot.store import Run, from_json, to_json, write_text
from surefoot.types import ActionItem, Diagnosis, Gain, Passage, Record, Score, Summary, Trace

Half = Literal["development", "held-out"]
Kind = Literal["item", "combination", "placebo", "random lever"]

BASELINE = "baseline"
LEAST = 8
"""Questions that each half needs at least: with fewer, not even a change that turns all of them right is significant."""

LEDGER, DIAGNOSIS = "ledger.jsonl", "diagnosis.json"

Scores = Callable[[Sequence[Record], Path], Sequence[Score]]
"""Scores of these records; the folder is theirs, where what was paid for can be kept. Called again when a run is
resumed."""
Diagnose = Callable[[Sequence[Record], Sequence[Score], Sequence[Summary], Config], Diagnosis]
Summarise = Callable[[Sequence[Score]], Sequence[Summary]]
Spreading = Callable[[Config], AbstractContextManager[Spread]]
"""How the questions are asked of the pipeline that a configuration describes."""
Watching = Callable[[str], AbstractContextManager[OnDone]]
"""Shows how far the run of this name is."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Who says how good an answer is."""

    metric: str
    """That decides."""
    judges: tuple[str, ...]
    """Names that the run records."""
    scores: Scores


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be improved, on which questions, and by whose word."""

    examples: Sequence[Example]
    config: Config
    folder: Path
    scoring: Scoring
    spreading: Spreading
    watching: Watching
    diagnose: Diagnose = levers.proposed
    summarise: Summarise = lambda scores: ()
    """For the diagnosis."""
    own: Mapping[str, Patch] = field(default_factory=dict)
    """Patches that are tried beside those of the diagnosis, by name."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """What the run records of its data."""
    together: int = 3
    """At most so many patches are combined."""
    alpha: float = 0.05
    seed: int = 0
    """Of the split, of the controls and of the test."""
    outside: bool = False
    """Whether a patch may name components that ask other machines."""

    def half(self, name: Half) -> list[Example]:
        """The questions of this half, in their order."""
        return [example for example in self.examples if side(example, self.seed) == name]


@dataclass(frozen=True, slots=True)
class Cost:
    """What running one half once is expected to take, at the baseline's pace."""

    questions: int
    seconds: float
    """One question at a time; grading counts by the number of passages asked for."""
    calls: int
    """Of a language model."""
    tokens: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """A patch after its dry run."""

    name: str
    title: str
    patch: Patch
    predicted: float | None
    config: Config | None
    """With the patch; None: it may not be tried, or cannot be built."""
    refused: str
    """Why not; empty: it can be tried."""
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A change that was tried: a line of the ledger."""

    name: str
    kind: Kind
    title: str
    patch: dict[str, dict[str, Any]]
    predicted: float | None
    """Gain of the metric that the diagnosis expected; None: it expected none."""
    development: Gain | None
    """On the half that it was chosen on; None: it was not run there."""
    realised: Gain | None
    """On the held-out half; None: it was not run there."""
    p: float | None
    """Of `realised`, after Holm's correction over all arms of the held-out half."""
    seconds: float | None
    """Median a question, in the run that counts most; of the baseline, `Outcome.seconds`."""
    changed: int | None
    """Held-out questions that are answered otherwise than by the baseline."""
    kept: bool
    because: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    metric: str
    questions: dict[str, int]
    """Of each half."""
    proposals: tuple[Proposal, ...]
    trials: tuple[Trial, ...]
    kept: dict[str, dict[str, Any]]
    """The patch that is shown to help; empty: none is."""
    seconds: float
    """Median a question of the baseline, on the held-out half; where that was not run, on the other."""
    alpha: float
    needed: int
    """Questions that a change would have had to turn right, at least, among these arms."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """One configuration on one half."""

    records: list[Record]
    scores: dict[str, float | None]
    seconds: float
    given: Sequence[Score]


def side(example: Example, seed: int) -> Half:
    """The half that a question belongs to: by a hash of its words, so that it is the same whatever other questions there
    are, and that a question which is there twice is on one side."""
    words = " ".join(example.question.split()).casefold()
    return "held-out" if hashed(f"{seed}\n{words}", 16)[0] & 1 else "development"


def golds(examples: Sequence[Example]) -> Scoring:
    """By the gold answers: "strict" where all questions are choices or claims, else "match_lower"; 1 for right, 0 for
    wrong, refused or failed. Raises UsageError where a question has no gold answer."""
    if bare := [example.id for example in examples if not any(answer.strip() for answer in example.answers)]:
        raise UsageError(f"{len(bare)} questions have no gold answer, the first is {bare[0]}; give --golds, or a judge")
    rule = "strict" if all("strict" in rules(example) for example in examples) else "match_lower"
    by_id = {example.id: example for example in examples}

    def scores(records: Sequence[Record], folder: Path) -> list[Score]:
        right = {r.id: RULES[rule](r.answer or "", by_id[r.id]) for r in records}
        return [Score(id, rule, float(one), reason=f"by the rule {rule}", judge=rule) for id, one in right.items()]

    return Scoring(rule, (rule,), scores)


def judged(judges: Sequence[Judge], metric: str = "") -> Scoring:
    """By judges, one record after the other, each time anew; what decides is `metric`, or the first judge's."""
    return Scoring(
        metric or judges[0].metric,
        tuple(judge.name for judge in judges),
        lambda records, folder: [judge.judge(record) for judge in judges for record in records],
    )


def record(example: Example, trace: Trace) -> Record:
    """The answered question, as a judge may see it; what was read are the strips that were kept."""
    origin = {passage.id: passage for passage in trace.passages + trace.external}
    read = tuple(_strip(origin[s.passage_id], s.text, s.start) for s in trace.strips if s.kept)
    said = trace.answer.text if trace.answer and not trace.answer.refused else ""
    return Record(example.id, example.question, read, None if trace.error else said, example.answers, trace=trace)


def proposals(plan: Plan) -> tuple[Proposal, ...]:
    """Run and diagnose the configuration on the development half, and try what is proposed as far as it costs nothing:
    may it be changed, can it be built, what would it take? Resumes what was begun in the plan's folder."""
    with _claimed(plan):
        return _proposals(plan, _ran(plan, "development", BASELINE, plan.config))


def improve(plan: Plan) -> Outcome:
    """The whole loop, resumed where it was cut off; the ledger and the diagnosis are in the plan's folder.

    Asks each question of the development half once for the baseline, for each proposal and for each combination that is
    tried (one fewer than `together`, at most); each of the held-out half once for at most five arms: baseline, best,
    combination, placebo and random lever. Where nothing is better on the development half, the held-out half is left
    alone. Raises UsageError for too few questions, or where index or settings are not those of the run in the folder.
    """
    with _claimed(plan):
        before = _ran(plan, "development", BASELINE, plan.config)
        found = _proposals(plan, before)
        trials = [_tried(plan, one, before) for one in found]
        arms = _arms(plan, trials, before)
        outcome = _held_out(plan, arms) if arms else ({}, {}, {}, before.seconds)
        done = _outcome(plan, found, trials, arms, *outcome)
        _unchanged(plan)
        _written(plan, done)
        return done


def _strip(passage: Passage, text: str, start: int) -> Passage:
    return replace(passage, text=text, start=passage.start + start)
