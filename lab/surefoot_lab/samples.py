"""Questions of each action, drawn by seed, each with its best graded passage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from surefoot.evaluate.ask.questions import hashed
from surefoot.evidence.exclusions import Evidence
from surefoot.types import Action, Grade, Passage, Trace
from surefoot.types.protocols import Evaluator

EACH = 3
"""Of each action, as the paper's figure has it."""


@dataclass(frozen=True, slots=True)
class ActionSample:
    """A question, its action, and its best passage as the evaluator was given it."""

    id: str
    question: str
    passage: Passage
    action: Action


def of_run(traces: dict[str, Trace], evaluator: Evaluator, seed: int, each: int = EACH) -> tuple[ActionSample, ...]:
    """So many questions of each action, CORRECT first, of a run; fewer where it has fewer. The evaluator grades
    nothing: it only decides which parts of a passage were blanked out."""
    found = (_of_trace(key, traces[key], evaluator) for key in _drawn(traces, seed))
    return _first(found, each)


def _drawn(keys: Iterable[str], seed: int) -> list[str]:
    return sorted(keys, key=lambda key: hashed(f"{seed} {key}"))


def _of_trace(key: str, trace: Trace, evaluator: Evaluator) -> ActionSample | None:
    if trace.decision is None:
        return None
    evidence = Evidence.for_question(evaluator, trace.standalone_question)
    passages = [evidence.masked(passage) for passage in trace.passages]
    return _sample(key, trace.standalone_question, passages, trace.grades[: len(passages)], trace.decision.action)


def _sample(
    key: str, question: str, passages: Sequence[Passage], grades: Sequence[Grade], action: Action
) -> ActionSample | None:
    """None: nothing was graded, so that there is nothing to explain."""
    scores = [-math.inf if grade.score is None else grade.score for grade in grades]
    if not scores or max(scores) == -math.inf:
        return None
    return ActionSample(key, question, passages[scores.index(max(scores))], action)


def _first(found: Iterator[ActionSample | None], each: int) -> tuple[ActionSample, ...]:
    selected: dict[Action, list[ActionSample]] = {action: [] for action in Action}
    for sample in found:
        if sample and len(selected[sample.action]) < each:
            selected[sample.action].append(sample)
        if all(len(samples) == each for samples in selected.values()):
            break
    return tuple(sample for samples in selected.values() for sample in samples)
