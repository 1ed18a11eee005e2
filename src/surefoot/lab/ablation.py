"""Each stage of the pipeline taken out: what did it earn?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from surefoot.act import Threshold
from surefoot.datasets.questions import Example
from surefoot.errors import UsageError
from surefoot.evaluate.ask.methods import crag, crag_search
from surefoot.evaluate.ask.runs import Arm, OnDone, Spread
from surefoot.lab import qa
from surefoot.lab.qa import MethodComparison, QAReport
from surefoot.pipeline import Pipeline
from surefoot.protocols import Pair
from surefoot.rewriters.verbatim import Verbatim
from surefoot.searchers.nowhere import Nowhere
from surefoot.stats.figures import RESAMPLES, SEED
from surefoot.store import to_json
from surefoot.text.screen import unscreened
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds, Trace

WHOLE = "whole"
"""The name of the pipeline with all of its stages."""

NEVER = 1e9
"""A score that no passage has. Infinity will not do: a trace holds the thresholds, and JSON has none."""

_NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Earned:
    """The gain that a stage brings."""

    stage: str
    instead: str
    """Its replacement."""
    earned: tuple[MethodComparison, ...]
    """One for each rule that fits: the whole pipeline against the one without the stage."""
    changed: int
    """Questions whose answer has other words, or is there in one of both only."""


class Alike:
    """An evaluator for which all passages are equally good: they stay in the order in which they were retrieved."""

    name: ClassVar[str] = "alike"
    thresholds: ClassVar[Thresholds] = Thresholds(0.0, -NEVER, -NEVER, "alike")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """1 each."""
        return tuple(Grade(passage.id, 1.0, reason="not graded") for _, passage in pairs)


class Whole:
    """A refiner that keeps every passage whole."""

    def refine(self, question: str, passages: Sequence[Passage]) -> tuple[Strip, ...]:
        """One strip a passage."""
        return tuple(Strip(p.id, 0, len(p.text), p.text, None, kept=True) for p in passages)


def grading(pipeline: Pipeline, question: str) -> Trace:
    """Passages are not graded; the evaluator still chooses strips and answer."""
    return _changed(pipeline, "grading", evaluator=Alike(), policy=Threshold(Alike.thresholds)).run(question)


def correct(pipeline: Pipeline, question: str) -> Trace:
    """Without the action CORRECT (the paper, table 3)."""
    return _decided(pipeline, "correct", upper=NEVER).run(question)


def ambiguous(pipeline: Pipeline, question: str) -> Trace:
    """Without the action AMBIGUOUS (the paper, table 3, which does not say where its one threshold lies)."""
    middle = (pipeline.policy.thresholds.upper + pipeline.policy.thresholds.lower) / 2
    return _decided(pipeline, "ambiguous", upper=middle, lower=middle).run(question)


def incorrect(pipeline: Pipeline, question: str) -> Trace:
    """Without the action INCORRECT (the paper, table 3)."""
    return _decided(pipeline, "incorrect", lower=-NEVER).run(question)


def refinement(pipeline: Pipeline, question: str) -> Trace:
    """Without strips."""
    return pipeline.but(refiner=Whole()).run(question)


def search(pipeline: Pipeline, question: str) -> Trace:
    """Without knowledge from outside."""
    return pipeline.but(searcher=Nowhere()).run(question)


def rewriting(pipeline: Pipeline, question: str) -> Trace:
    """Without queries of its own."""
    return pipeline.but(rewriter=Verbatim()).run(question)


def selection(pipeline: Pipeline, question: str) -> Trace:
    """Everything found outside is kept, except for duplicates."""
    return pipeline.but(external_keep=_NO_LIMIT).run(question)


def screening(pipeline: Pipeline, question: str) -> Trace:
    """Passages are not searched for orders to the machine."""
    with unscreened():
        return _changed(pipeline, "screening").run(question)


def checking(pipeline: Pipeline, question: str) -> Trace:
    """Answers that the sources do not support are not refused."""
    trace = _changed(pipeline, "checking").run(question)
    if trace.answer and trace.answer.refused and trace.answer.withheld:
        return replace(trace, answer=Answer(trace.answer.withheld, model=trace.answer.model))
    return trace


STAGES: dict[str, tuple[Callable[[Pipeline, str], Trace], str]] = {
    "grading": (grading, "every passage counts as CORRECT, in the order of the retrieval; nothing is searched for"),
    "correct": (correct, "no passage counts as CORRECT: at best AMBIGUOUS, and searched for too"),
    "ambiguous": (ambiguous, "one threshold, in the middle between both: CORRECT or INCORRECT"),
    "incorrect": (incorrect, "no passage counts as INCORRECT: at worst AMBIGUOUS, and refined too"),
    "refinement": (refinement, "passages are read whole"),
    "search": (search, "nothing is searched for"),
    "rewriting": (rewriting, "the question itself is searched for"),
    "selection": (selection, "all that was found outside is refined, and not the best of it only"),
    "screening": (screening, "orders to the machine in retrieved texts are read as any sentence"),
    "checking": (checking, "what the generator says is passed on, whether or not it stands in what was read"),
}
"""By stage: how to run without it, and its replacement in words."""
OUTSIDE = ("correct", "search", "rewriting", "selection")
"""Stages that do nothing without a searcher."""


def stages(names: Sequence[str], searches: bool) -> tuple[str, ...]:
    """The stages of these names; without names, all that do anything. Raises UsageError for an unknown stage, and for
    one that does nothing without a searcher."""
    there = tuple(name for name in STAGES if searches or name not in OUTSIDE)
    if unknown := [name for name in names if name not in STAGES]:
        raise UsageError(f"no stage called '{unknown[0]}'; there are: {', '.join(STAGES)}")
    if idle := [name for name in names if name not in there]:
        raise UsageError(f"'{idle[0]}' does nothing without a searcher; configure one, or leave it out")
    return tuple(dict.fromkeys(names)) or there


def measured(
    names: Sequence[str],
    searches: bool,
    examples: Sequence[Example],
    spread: Spread,
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
) -> tuple[list[QAReport], list[Earned]]:
    """The reports of the whole pipeline and of the one without each stage, and the gain of each stage, in order."""
    whole = crag_search if searches else crag
    every = [Arm(WHOLE, lambda pipeline, example: whole(pipeline, example.question))]
    reports = qa.run([*every, *map(_without, names)], examples, spread, folder, about, on_done)
    return reports, [_earned(name, reports[0], report) for name, report in zip(names, reports[1:], strict=True)]


def as_json(reports: Sequence[QAReport], found: Sequence[Earned], about: dict[str, Any]) -> dict[str, Any]:
    """As plain data: the keys of `about`, the fields of the whole pipeline's report, `without`: the reports of those
    without a stage, `stages`: what each earned, `seed` and `resamples`."""
    whole, *others = to_json(reports)
    return {**about, **whole, "without": others, "stages": to_json(found), "seed": SEED, "resamples": RESAMPLES}


def _without(name: str) -> Arm:
    return Arm(f"without {name}", lambda pipeline, example: STAGES[name][0](pipeline, example.question))


def _earned(name: str, whole: QAReport, without: QAReport) -> Earned:
    pairs = zip(whole.outcomes, without.outcomes, strict=True)
    changed = sum(one["answer"] != other["answer"] for one, other in pairs)
    earned = tuple(qa.compared(whole, without, rule) for rule in whole.fitting)
    return Earned(name, STAGES[name][1], earned, changed)


def _decided(pipeline: Pipeline, stage: str, **thresholds: Any) -> Pipeline:
    policy = pipeline.policy
    moved = replace(policy, thresholds=replace(policy.thresholds, **thresholds))  # type: ignore[type-var]
    return _changed(pipeline, stage, policy=moved)


def _changed(pipeline: Pipeline, stage: str, **parts: Any) -> Pipeline:
    """The pipeline with these parts; its traces name the stage, which no part of the configuration does."""
    return replace(pipeline, config={**pipeline.config, "without": {"stage": stage}}, **parts)
