"""Questions asked in several ways: each question once a way, kept as it is answered, and side by side where wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot.datasets.choices import Choosing
from surefoot.datasets.given import inside, outside
from surefoot.datasets.questions import Example
from surefoot.pipeline import Pipeline, safely
from surefoot.retrievers._given import Given
from surefoot.store import Run
from surefoot.types import Trace

OnDone = Callable[[int, int], None]
"""Is told how many are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of answering questions, which is compared with others over the same questions."""

    name: str
    """Distinct among those that are compared."""
    ask: Callable[[Pipeline, Example], Trace]


Spread = Callable[[Arm, Sequence[Example]], Iterator[tuple[str, Trace]]]
"""Asks questions in whatever order: the id of each with its trace, as soon as it is there."""


def run(
    arms: Sequence[Arm],
    examples: Sequence[Example],
    spread: Spread,
    folder: Path,
    about: dict[str, Any],
    on_done: OnDone,
) -> Iterator[tuple[Arm, list[Trace]]]:
    """Of each arm, the traces of all questions, in their order; asked is what its folder does not hold yet.

    `folder` gets a folder an arm (`place`), with what it is `about` and the arm's name as `method`. A trace is on disk
    before the next one is waited for, so that a run that is killed loses what was in work and nothing else, and asks
    no question twice. `on_done` is told of questions times arms. Raises UsageError where another process runs the same.
    """
    total, before = len(arms) * len(examples), 0
    for arm in arms:
        kept = Run(folder / place(arm.name), {**about, "method": arm.name})
        with kept.held():
            done = kept.done()
            missing = [example for example in examples if example.id not in done]
            on_done(before + len(examples) - len(missing), total)
            for number, (id, trace) in enumerate(spread(arm, missing), start=1):
                kept.append(id, trace)
                done[id] = trace
                on_done(before + len(examples) - len(missing) + number, total)
        before += len(examples)
        yield arm, [done[example.id] for example in examples]


def place(name: str) -> str:
    """What an arm's folder is called."""
    return "".join(letter if letter.isalnum() or letter in "+-._" else "-" for letter in name)


def threads(pipeline: Pipeline, workers: int = 1) -> Spread:
    """So many questions at a time in this process; what is interrupted is not begun again."""

    def spread(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        pool = ThreadPoolExecutor(workers)
        try:
            asked = {pool.submit(answered, pipeline, arm, example): example.id for example in examples}
            yield from ((asked[future], future.result()) for future in as_completed(asked))
        finally:
            pool.shutdown(cancel_futures=True)

    def one_by_one(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        return ((example.id, answered(pipeline, arm, example)) for example in examples)

    return spread if workers > 1 else one_by_one


def answered(pipeline: Pipeline, arm: Arm, example: Example) -> Trace:
    """The trace of one question; of one that fails, with its error."""
    return safely(lambda: arm.ask(_for(pipeline, example), example), example.question, pipeline.config)


def _for(pipeline: Pipeline, example: Example) -> Pipeline:
    """The pipeline for this question: with the texts that came with it where it reads these, and with its choices shown
    to who answers. Passages are found and graded without the choices, as in the paper."""
    parts: dict[str, Any] = {}
    if isinstance(pipeline.retriever, Given):
        parts["retriever"] = Given(inside(example))
    if isinstance(pipeline.searcher, Given):
        parts["searcher"] = Given(outside(example))
    if example.choices:
        parts["generator"] = Choosing(pipeline.generator, example)
    return replace(pipeline, **parts)
