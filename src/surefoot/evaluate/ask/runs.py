"""Runs of questions by several arms: each trace is kept as it comes, and several questions may run side by side."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot.evaluate.ask.choices import Posed, task
from surefoot.evaluate.ask.questions import Example
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.run.recorder import safely
from surefoot.run.store import Run
from surefoot.types import Trace
from surefoot.types.protocols import TaskAware

OnDone = Callable[[int, int], None]
"""Called with the number of finished questions and the number of all."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of answering questions, compared with others over the same questions."""

    name: str
    """Unique among the arms that are compared."""
    ask: Callable[[Pipeline, Example], Trace]


Spread = Callable[[Arm, Sequence[Example]], Iterator[tuple[str, Trace]]]
"""Asks questions in any order; yields the id and trace of each as soon as it is answered."""


def run(
    arms: Sequence[Arm],
    examples: Sequence[Example],
    spread: Spread,
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
) -> Iterator[tuple[Arm, list[Trace]]]:
    """Yield each arm with the traces of all questions, in order; only questions without a trace on disk are asked.

    Each arm has a folder in `folder` (`place`), with `about` and the arm's name as `method` on record. Each trace is on
    disk before the next is awaited, so a killed run loses only questions in flight. `on_done` counts questions times
    arms. Raises UsageError where another process runs the same.
    """
    total, before = len(arms) * len(examples), 0
    for arm in arms:
        run_file = Run(folder / place(arm.name), {**about, "method": arm.name})
        with run_file.held():
            done = run_file.done()
            missing = [example for example in examples if example.id not in done]
            on_done(before + len(examples) - len(missing), total)
            for number, (id, trace) in enumerate(spread(arm, missing), start=1):
                run_file.append(id, trace)
                done[id] = trace
                on_done(before + len(examples) - len(missing) + number, total)
        before += len(examples)
        yield arm, [done[example.id] for example in examples]


def place(name: str) -> str:
    """The name of an arm's folder."""
    return "".join(letter if letter.isalnum() or letter in "+-._" else "-" for letter in name)


def threads(pipeline: Pipeline, workers: int = 1) -> Spread:
    """Ask so many questions at a time in this process; an interrupt begins no further question."""

    def spread(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        pool = ThreadPoolExecutor(workers)
        try:
            pending = {pool.submit(answered, pipeline, arm, example): example.id for example in examples}
            yield from ((pending[future], future.result()) for future in as_completed(pending))
        finally:
            pool.shutdown(cancel_futures=True)

    def one_by_one(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        return ((example.id, answered(pipeline, arm, example)) for example in examples)

    return spread if workers > 1 else one_by_one


def answered(pipeline: Pipeline, arm: Arm, example: Example) -> Trace:
    """The trace of one question; it holds the error if the question failed."""
    return safely(lambda: arm.ask(_for(pipeline, example), example), example.question, pipeline.config)


def _for(pipeline: Pipeline, example: Example) -> Pipeline:
    """The pipeline for this question, with the texts that came with it if it reads those."""
    parts: dict[str, Any] = {}
    if isinstance(pipeline.retriever, Given):
        parts["retriever"] = Given(example.passages)
    if isinstance(pipeline.searcher, Given):
        parts["searcher"] = Given(example.outside)
    if (kind := task(example)) != "qa":
        parts["generator"] = Posed(pipeline.generator, example)
        if isinstance(pipeline.rewriter, TaskAware):
            parts["rewriter"] = pipeline.rewriter.with_task(kind)
    return replace(pipeline, **parts)
