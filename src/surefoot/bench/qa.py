"""Question answering: how often is the answer right, which action was taken, what did it cost?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, Literal

from surefoot.bench.choices import RULES, Choosing, rules
from surefoot.bench.datasets import Example
from surefoot.bench.methods import METHODS
from surefoot.bench.metrics import Paired, Share, counted, mcnemar, recall_at
from surefoot.errors import ConfigError, UsageError
from surefoot.pipeline import Pipeline
from surefoot.recorder import Recorder
from surefoot.store import Run, to_json
from surefoot.types import Action, Trace

OnDone = Callable[[int, int], None]
"""Is told how many questions are done, and how many there are."""

RANKS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Row:
    """How the questions that took one action fared."""

    action: str
    questions: Share
    match_lower: Share
    answered: Share
    match: Share


@dataclass(frozen=True, slots=True)
class Report:
    """What a run of one method over one file comes to. The JSON form is stable: fields are added, never changed."""

    method: str
    questions: int
    match: Share
    """A gold alias is in the answer, case and all. Refused and failed questions count as wrong."""
    match_lower: Share
    """The same in lower case."""
    answered: Share
    """Not refused, and not failed."""
    right_when_answered: Share
    """`match_lower` among the answered."""
    failed: int
    actions: tuple[Row, ...]
    """Empty for methods that decide nothing."""
    recall: dict[str, Share]
    """By rank: a gold passage is among the first k retrieved, over the questions whose gold passages are known."""
    seconds: float | None
    """Median a question."""
    stages: dict[str, float]
    """Median seconds of each step, over the questions that took it, summed within a question."""
    outcomes: tuple[dict[str, Any], ...]
    """One a question: id, action, answer, each rule of `choices.rules` that fits it, refused, seconds."""
    rules: dict[str, Share] = field(default_factory=dict)
    """By rule: how often the answer is right by those that only multiple choice and claims have, over these."""


def run(pipeline: Pipeline, examples: Sequence[Example], method: str, top: int, folder: Run, on_done: OnDone) -> Report:
    """Ask every question that the folder does not hold yet, one after the other, and report on all of them."""
    if method not in METHODS:
        raise ConfigError(f"no method called '{method}'; there are: {', '.join(METHODS)}")
    done = folder.done()
    for number, example in enumerate(examples):
        on_done(number, len(examples))
        if example.id not in done:
            done[example.id] = _ask(pipeline, example, method, top)
            folder.append(example.id, done[example.id])
    on_done(len(examples), len(examples))
    return report(method, examples, [done[example.id] for example in examples])


def report(method: str, examples: Sequence[Example], traces: Sequence[Trace]) -> Report:
    """The figures of these traces; pure, so that they can be counted again from a run folder."""
    outcomes = tuple(_outcome(example, trace) for example, trace in zip(examples, traces, strict=True))
    answered = [outcome for outcome in outcomes if not outcome["refused"]]
    return Report(
        method,
        len(examples),
        _share(outcomes, "match"),
        _share(outcomes, "match_lower"),
        counted(len(answered), len(outcomes)),
        _share(answered, "match_lower"),
        sum(trace.error is not None for trace in traces),
        tuple(_row(action, outcomes) for action in Action if any(o["action"] for o in outcomes)),
        {str(k): _recall(k, examples, traces) for k in RANKS},
        median(outcome["seconds"] for outcome in outcomes) if outcomes else None,
        _stages(traces),
        outcomes,
        {name: _share(fitting, name) for name in RULES if (fitting := [one for one in outcomes if name in one])},
    )


def compared(one: Report, other: Report, rule: Literal["match", "match_lower"]) -> Paired:
    """Which of two runs has more of the questions right that both were asked, and whether that may be chance."""
    right = {outcome["id"]: outcome[rule] for outcome in other.outcomes}
    both = [outcome for outcome in one.outcomes if outcome["id"] in right]
    return mcnemar([outcome[rule] for outcome in both], [right[outcome["id"]] for outcome in both])


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    data: dict[str, Any] = to_json(report)
    return data


def _ask(pipeline: Pipeline, example: Example, method: str, top: int) -> Trace:
    if example.choices:
        pipeline = replace(pipeline, generator=Choosing(pipeline.generator, example))
    try:
        return METHODS[method](pipeline, example.question, top)
    except UsageError as error:
        return Recorder(example.question, pipeline.config).trace(error=str(error))


def _outcome(example: Example, trace: Trace) -> dict[str, Any]:
    text = trace.answer.text if trace.answer and not trace.answer.refused else ""
    return {
        "id": example.id,
        "action": trace.decision.action.value if trace.decision else None,
        "answer": text,
        **{rule: RULES[rule](text, example) for rule in rules(example)},
        "refused": not text,
        "seconds": sum(step.seconds for step in trace.steps),
    }


def _row(action: Action, outcomes: Sequence[dict[str, Any]]) -> Row:
    mine = [outcome for outcome in outcomes if outcome["action"] == action.value]
    answered = sum(not outcome["refused"] for outcome in mine)
    shares = counted(len(mine), len(outcomes)), _share(mine, "match_lower"), counted(answered, len(mine))
    return Row(action.value, *shares, _share(mine, "match"))


def _recall(k: int, examples: Sequence[Example], traces: Sequence[Trace]) -> Share:
    retrieves = any(step.name == "retrieve" for trace in traces for step in trace.steps)
    known = [
        (e.gold, [p.id for p in t.passages]) for e, t in zip(examples, traces, strict=True) if e.gold and retrieves
    ]
    return counted(sum(recall_at(k, retrieved, gold) for gold, retrieved in known), len(known))


def _share(outcomes: Sequence[dict[str, Any]], key: str) -> Share:
    return counted(sum(outcome[key] for outcome in outcomes), len(outcomes))


def _stages(traces: Sequence[Trace]) -> dict[str, float]:
    spent: dict[str, list[float]] = {}
    for trace in traces:
        for name in dict.fromkeys(step.name for step in trace.steps):
            spent.setdefault(name, []).append(sum(step.seconds for step in trace.steps if step.name == name))
    return {name: median(seconds) for name, seconds in spent.items()}
