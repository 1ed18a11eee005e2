"""Ablation: the pipeline without each of its stages, and the answers that the stage earns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from surefoot.evaluate.ask.runs import Arm
from surefoot.evidence.policies import Threshold
from surefoot.pipeline import Pipeline
from surefoot.rewriters.verbatim import Verbatim
from surefoot.run.store import to_json
from surefoot.searchers.nowhere import Nowhere
from surefoot.stats.figures import RESAMPLES, SEED
from surefoot.text.screen import unscreened
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds, Trace
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Pair
from surefoot_lab import qa
from surefoot_lab.methods import crag, crag_search
from surefoot_lab.qa import MethodComparison, QAReport

WHOLE = "whole"
"""The name of the pipeline with all of its stages."""

NEVER = 1e9
"""A score that no passage has. Infinity will not do: a trace holds the thresholds, and JSON has none."""

_NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class StageGain:
    """The gain that a stage brings."""

    stage: str
    instead: str
    """Its replacement."""
    earned: tuple[MethodComparison, ...]
    """One for each rule that fits: the whole pipeline against the one without the stage."""
    changed: int
    """Questions that both answer in other words, or that only one of them answers."""


class ConstantEvaluator:
    """An evaluator for which all passages are equally good: they stay in the order in which they were retrieved."""

    name: ClassVar[str] = "alike"
    thresholds: ClassVar[Thresholds] = Thresholds(0.0, -NEVER, -NEVER, "alike")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """1 each."""
        return tuple(Grade(passage.id, 1.0, reason="not graded") for _, passage in pairs)


class KeepAll:
    """A refiner that keeps every passage whole."""

    def refine(self, question: str, passages: Sequence[Passage]) -> tuple[Strip, ...]:
        """One strip a passage."""
        return tuple(Strip(p.id, 0, len(p.text), p.text, None, kept=True) for p in passages)


@dataclass(frozen=True, slots=True)
class Removal:
    """A stage of the pipeline, and how to run without it."""

    instead: str
    """Its replacement, in words."""
    removed: Callable[[Pipeline], Pipeline]
    """The pipeline without it."""
    outside: bool = False
    """It does nothing without a searcher."""
    ask: Callable[[Pipeline, str], Trace] = Pipeline.run

    def run(self, pipeline: Pipeline, question: str) -> Trace:
        """The trace of the question by the pipeline without this stage."""
        return self.ask(self.removed(pipeline), question)


def _decided(pipeline: Pipeline, stage: str, **thresholds: Any) -> Pipeline:
    policy = pipeline.policy
    moved = replace(policy, thresholds=replace(policy.thresholds, **thresholds))  # type: ignore[type-var]
    return _changed(pipeline, stage, policy=moved)


def _with_one_threshold(pipeline: Pipeline) -> Pipeline:
    """The threshold lies in the middle between both; the paper does not say where its one lies."""
    middle = (pipeline.policy.thresholds.upper + pipeline.policy.thresholds.lower) / 2
    return _decided(pipeline, "ambiguous", upper=middle, lower=middle)


def _changed(pipeline: Pipeline, stage: str, **parts: Any) -> Pipeline:
    """The pipeline with these parts; its traces name the stage, which no part of the configuration does."""
    return replace(pipeline, config={**pipeline.config, "without": {"stage": stage}}, **parts)


def _unscreened(pipeline: Pipeline, question: str) -> Trace:
    with unscreened():
        return pipeline.run(question)


def _unchecked(pipeline: Pipeline, question: str) -> Trace:
    trace = pipeline.run(question)
    if trace.answer and trace.answer.refused and trace.answer.withheld:
        return replace(trace, answer=Answer(trace.answer.withheld, model=trace.answer.model))
    return trace


STAGES: dict[str, Removal] = {
    # The evaluator still chooses strips and answer.
    "grading": Removal(
        "every passage counts as CORRECT, in the order of the retrieval; nothing is searched for",
        lambda p: _changed(p, "grading", evaluator=ConstantEvaluator(), policy=Threshold(ConstantEvaluator.thresholds)),
    ),
    # The paper's table 3 takes out each of the three actions.
    "correct": Removal(
        "no passage counts as CORRECT: at best AMBIGUOUS, and searched for too",
        lambda p: _decided(p, "correct", upper=NEVER),
        outside=True,
    ),
    "ambiguous": Removal("one threshold, in the middle between both: CORRECT or INCORRECT", _with_one_threshold),
    "incorrect": Removal(
        "no passage counts as INCORRECT: at worst AMBIGUOUS, and refined too",
        lambda p: _decided(p, "incorrect", lower=-NEVER),
    ),
    "refinement": Removal("passages are read whole", lambda p: p.but(refiner=KeepAll())),
    "search": Removal("nothing is searched for", lambda p: p.but(searcher=Nowhere()), outside=True),
    "rewriting": Removal("the question itself is searched for", lambda p: p.but(rewriter=Verbatim()), outside=True),
    # Except for duplicates.
    "selection": Removal(
        "all that was found outside is refined, and not the best of it only",
        lambda p: p.but(external_keep=_NO_LIMIT),
        outside=True,
    ),
    "screening": Removal(
        "orders to the machine in retrieved texts are read as any sentence",
        lambda p: _changed(p, "screening"),
        ask=_unscreened,
    ),
    "checking": Removal(
        "what the generator says is passed on, whether or not it stands in what was read",
        lambda p: _changed(p, "checking"),
        ask=_unchecked,
    ),
}


def stages(names: Sequence[str], searches: bool) -> tuple[str, ...]:
    """The stages of these names; without names, all that do anything. Raises UsageError for an unknown stage, and for
    one that does nothing without a searcher."""
    there = tuple(name for name, stage in STAGES.items() if searches or not stage.outside)
    if unknown := [name for name in names if name not in STAGES]:
        raise UsageError(f"no stage called '{unknown[0]}'; there are: {', '.join(STAGES)}")
    if idle := [name for name in names if name not in there]:
        raise UsageError(f"'{idle[0]}' does nothing without a searcher; configure one, or leave it out")
    return tuple(dict.fromkeys(names)) or there


def arms(names: Sequence[str], searches: bool) -> list[Arm]:
    """The whole pipeline, and the one without each stage."""
    whole = crag_search if searches else crag
    return [Arm(WHOLE, lambda pipeline, example: whole(pipeline, example.question)), *map(_without, names)]


def earned(names: Sequence[str], reports: Sequence[QAReport]) -> list[StageGain]:
    """The gain of each stage, from the reports of the `arms`."""
    return [_earned(name, reports[0], report) for name, report in zip(names, reports[1:], strict=True)]


def as_json(reports: Sequence[QAReport], found: Sequence[StageGain], about: dict[str, Any]) -> dict[str, Any]:
    """As plain data: the keys of `about`, the fields of the whole pipeline's report, `without`: the reports of those
    without a stage, `stages`: what each earned, `seed` and `resamples`."""
    whole, *others = to_json(reports)
    return {**about, **whole, "without": others, "stages": to_json(found), "seed": SEED, "resamples": RESAMPLES}


def _without(name: str) -> Arm:
    return Arm(f"without {name}", lambda pipeline, example: STAGES[name].run(pipeline, example.question))


def _earned(name: str, whole: QAReport, without: QAReport) -> StageGain:
    pairs = zip(whole.outcomes, without.outcomes, strict=True)
    changed = sum(one["answer"] != other["answer"] for one, other in pairs)
    earned = tuple(qa.compared(whole, without, rule) for rule in whole.rules)
    return StageGain(name, STAGES[name].instead, earned, changed)
