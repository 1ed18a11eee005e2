"""The time, calls and tokens of each stage, as the traces and the passes of an evaluation recorded them."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from surefoot.evaluate.score.scoring import PASSES, Pass
from surefoot.run.store import values
from surefoot.types import Record


@dataclass(frozen=True, slots=True)
class StageCost:
    """The mean cost of one stage."""

    stage: str
    """A step of the pipeline, or "judge " and a metric."""
    of: int
    """Records that it is the mean of."""
    seconds: float
    calls: float
    """Of a language model."""
    tokens: float


def costs(folder: Path, records: Iterable[Record]) -> tuple[StageCost, ...]:
    """The steps of the pipeline, where records have traces, then the judges. A score that was there is in no pass."""
    spent: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0])

    def add(stage: str, *more: float) -> None:
        spent[stage] = [one + other for one, other in zip(spent[stage], more, strict=True)]

    traces = [record.trace for record in records if record.trace]
    for trace in traces:
        for step in trace.steps:
            add(step.name, 0, step.seconds, step.calls, step.tokens)
    for name in spent:
        spent[name][0] = len(traces)  # also those that did without the step, so that the stages add up
    for one in values(folder / PASSES, Pass).values():
        for stage in one.stages:
            add(f"judge {stage.metric}", stage.judged, stage.seconds, stage.calls, stage.tokens)
    return tuple(StageCost(stage, int(of), *(each / of for each in sums)) for stage, (of, *sums) in spent.items() if of)
