"""Methods with a part taken away: a stage of the pipeline, or passages that were retrieved.

What is taken away stands in the name of the arm, behind a space: "crag without grading", "rag:10 fewer 0.5".
(Probes of the evaluator alone are in `robustness`.)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from surefoot.evaluate.ask.questions import Example, hashed
from surefoot.evaluate.ask.runs import Arm
from surefoot.evidence.policies import Threshold
from surefoot.pipeline import Pipeline
from surefoot.rewriters.verbatim import Verbatim
from surefoot.searchers.nowhere import Nowhere
from surefoot.stats.figures import SEED
from surefoot.text.screen import unscreened
from surefoot.text.words import places_of
from surefoot.types import Answer, Grade, Passage, Strip, Thresholds, Trace
from surefoot.types.errors import UsageError
from surefoot.types.protocols import Pair, Retriever

NEVER = 1e9
"""A score that no passage has. Infinity will not do: a trace holds the thresholds, and JSON has none."""
STEPS = (0.25, 0.5, 0.75, 1.0)
"""Shares of the passages that are taken away where none is named."""

_NO_LIMIT = 1_000_000
_FULL = 2**64

Asking = Callable[[Pipeline, Example], Trace]


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
class Degraded:
    """A retriever whose results are made worse."""

    inner: Retriever
    worse: Callable[[tuple[Passage, ...]], tuple[Passage, ...]]

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        """The inner retriever's passages, made worse; raises what it raises."""
        return self.worse(self.inner.retrieve(question, k))


@dataclass(frozen=True, slots=True)
class Removal:
    """A stage of the pipeline, and how to run without it."""

    instead: str
    """Its replacement, in words."""
    removed: Callable[[Pipeline], Pipeline] = lambda pipeline: pipeline
    """The pipeline without it."""
    outside: bool = False
    """It does nothing without a searcher."""
    around: Callable[[Asking, Pipeline, Example], Trace] = lambda ask, pipeline, example: ask(pipeline, example)
    """Asks the question without it, where that takes more than another pipeline."""


def _decided(pipeline: Pipeline, **thresholds: Any) -> Pipeline:
    policy = pipeline.policy
    return replace(pipeline, policy=replace(policy, thresholds=replace(policy.thresholds, **thresholds)))  # type: ignore[type-var]


def _with_one_threshold(pipeline: Pipeline) -> Pipeline:
    """The threshold lies in the middle between both; the paper does not say where its one lies."""
    middle = (pipeline.policy.thresholds.upper + pipeline.policy.thresholds.lower) / 2
    return _decided(pipeline, upper=middle, lower=middle)


def _unscreened(ask: Asking, pipeline: Pipeline, example: Example) -> Trace:
    with unscreened():
        return ask(pipeline, example)


def _unchecked(ask: Asking, pipeline: Pipeline, example: Example) -> Trace:
    trace = ask(pipeline, example)
    if trace.answer and trace.answer.refused and trace.answer.withheld:
        return replace(trace, answer=Answer(trace.answer.withheld, model=trace.answer.model))
    return trace


STAGES: dict[str, Removal] = {
    # The evaluator still chooses strips and answer.
    "grading": Removal(
        "every passage counts as CORRECT, in the order of the retrieval; nothing is searched for",
        lambda p: replace(p, evaluator=ConstantEvaluator(), policy=Threshold(ConstantEvaluator.thresholds)),
    ),
    # The paper's table 3 takes out each of the three actions.
    "correct": Removal(
        "no passage counts as CORRECT: at best AMBIGUOUS, and searched for too",
        lambda p: _decided(p, upper=NEVER),
        outside=True,
    ),
    "ambiguous": Removal("one threshold, in the middle between both: CORRECT or INCORRECT", _with_one_threshold),
    "incorrect": Removal(
        "no passage counts as INCORRECT: at worst AMBIGUOUS, and refined too", lambda p: _decided(p, lower=-NEVER)
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
        around=_unscreened,
    ),
    "checking": Removal(
        "what the generator says is passed on, whether or not it stands in what was read", around=_unchecked
    ),
}


KINDS = ("fewer", "lost")
"""Ways to take passages away. "fewer": each passage goes with this chance; "lost": each that holds an accepted answer,
as in CRAG's experiments."""


def changed(arms: Sequence[Arm], without: Sequence[str], worse: Sequence[str]) -> tuple[Arm, ...]:
    """The arms as they are; then each corrective one without each of these stages, and each arm with passages taken
    away.

    `without`: names of `STAGES`, or "all" that do anything. `worse`: a name of `KINDS`, with a share as in "fewer:0.5",
    or without for each of `STEPS`. Raises UsageError for what there is not, and for a stage that does nothing.
    """
    degraded = [(kind, share, one) for kind, share in map(_worse, worse) for one in arms]
    return (
        *arms,
        *(_without(one, stage) for one in arms if "crag" in one.name for stage in stages(without, one.name)),
        *(_degraded(one, kind, step) for kind, share, one in degraded for step in share),
    )


def stages(names: Sequence[str], method: str) -> tuple[str, ...]:
    """The named stages, each once; of "all", those that do anything in this method."""
    there = [name for name, stage in STAGES.items() if method.endswith("+search") or not stage.outside]
    if unknown := [name for name in names if name not in (*STAGES, "all")]:
        raise UsageError(f"no stage called '{unknown[0]}'; there are: {', '.join(STAGES)}, or all")
    if idle := [name for name in names if name not in (*there, "all")]:
        raise UsageError(f"'{idle[0]}' does nothing in {method}, which searches nowhere; try {method}+search")
    return tuple(dict.fromkeys(there if "all" in names else names))


def _worse(name: str) -> tuple[str, Sequence[float]]:
    kind, _, share = name.partition(":")
    if kind not in KINDS:
        raise UsageError(f"nothing called '{kind}' can be done to passages; there are: {', '.join(KINDS)}")
    try:
        steps = [float(share)] if share else STEPS
    except ValueError:
        steps = [0.0]
    if not 0 < steps[0] <= 1:
        raise UsageError(f"'{name}' needs a share of the passages above 0 and up to 1, as in {kind}:0.5")
    return kind, steps


def _without(arm: Arm, stage: str) -> Arm:
    removal = STAGES[stage]

    def ask(pipeline: Pipeline, example: Example) -> Trace:
        # No part of the configuration names the stage, and the run must.
        bare = replace(removal.removed(pipeline), config={**pipeline.config, "without": {"stage": stage}})
        return removal.around(arm.ask, bare, example)

    return Arm(f"{arm.name} without {stage}", ask)


def _degraded(arm: Arm, kind: str, share: float) -> Arm:
    def ask(pipeline: Pipeline, example: Example) -> Trace:
        def left(passages: tuple[Passage, ...]) -> tuple[Passage, ...]:
            return remaining(passages, example, kind, share)

        return arm.ask(pipeline.but(retriever=Degraded(pipeline.retriever, left)), example)

    return Arm(f"{arm.name} {kind} {share:g}", ask)


def remaining(passages: tuple[Passage, ...], example: Example, kind: str, share: float) -> tuple[Passage, ...]:
    """What is left of the passages. A hash of question id and passage id picks those that go: the same in every run,
    and those of a smaller share are among those of a larger one."""

    def goes(one: Passage) -> bool:
        drawn = int.from_bytes(hashed(f"{SEED}/{example.id}/{one.id}", 8))
        held = kind == "fewer" or bool(places_of(example.answers, f"{one.title} … {one.text}"))
        return held and drawn < share * _FULL

    return tuple(passage for passage in passages if not goes(passage))
