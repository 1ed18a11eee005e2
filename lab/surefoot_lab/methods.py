"""The methods that are compared: corrective RAG with and without a search, RAG that believes what it retrieves, both
of them with a critique that chooses among several answers, and the model's own memory."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, runtime_checkable

from surefoot.evaluate.ask.choices import Posed
from surefoot.evaluate.ask.runs import Arm
from surefoot.index.bounds import bounded
from surefoot.pipeline import Pipeline
from surefoot.run.recorder import Recorder
from surefoot.searchers.nowhere import Nowhere
from surefoot.text.questions import checked
from surefoot.types import Answer, Passage, Strip, Trace
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Generator

Method = Callable[[Pipeline, str], Trace]
"""(pipeline, question) -> trace."""

TOP = 3
"""Passages that plain RAG reads by default."""


@runtime_checkable
class SelfCritic(Protocol):
    """A generator that criticises its own answers."""

    def with_critique(self, paragraphs: Any) -> Any:
        """The generator, answering from "each" passage alone, or from "three" paragraphs: those of the corpus, those
        from outside, and both."""


def crag(pipeline: Pipeline, question: str) -> Trace:
    """Corrective RAG without its search: wherever it would search it finds nothing, whatever searcher is configured."""
    return (pipeline if isinstance(pipeline.searcher, Nowhere) else pipeline.but(searcher=Nowhere())).run(question)


def self_crag(pipeline: Pipeline, question: str, ask: Method = crag) -> Trace:
    """A method with the generator's own critique, which chooses among answers from what the corpus has, what came from
    outside, and both, as in the paper's Self-CRAG. Raises ConfigError for a generator without one."""
    return ask(_critiqued(pipeline, "three"), question)


def rag(pipeline: Pipeline, question: str, top: int = TOP) -> Trace:
    """Plain RAG: the same generator reads the first `top` passages, whole and ungraded; its answer is held against them
    as that of corrective RAG is against its strips."""
    run, passages = retrieved(pipeline, question)
    read = [(Strip(p.id, 0, len(p.text), p.text, p.score, kept=True), p) for p in passages[:top]]
    run.set("strips", tuple(strip for strip, _ in read))
    return _generated(pipeline, run, read)


def self_rag(pipeline: Pipeline, question: str, top: int = TOP) -> Trace:
    """Self-RAG: `rag` with an answer from each of its passages alone, of which the generator's own critique chooses
    one. Raises ConfigError for a generator without one."""
    return rag(_critiqued(pipeline, "each"), question, top)


def retrieved(pipeline: Pipeline, question: str) -> tuple[Recorder, tuple[Passage, ...]]:
    """The recorder of a question for which only the retriever was asked so far, and the passages that it found."""
    run = Recorder(checked(question), pipeline.config)
    find = pipeline.retriever.retrieve
    passages = run.step("retrieve", bounded, find, run.standalone, pipeline.k, fallback=(), instead="nothing retrieved")
    run.set("passages", passages)
    return run, passages


def none(pipeline: Pipeline, question: str) -> Trace:
    """The generator's answer without any source."""
    return _generated(pipeline, Recorder(checked(question), pipeline.config), [])


READS: dict[str, Callable[[Pipeline, str, int], Trace]] = {"rag": rag, "self-rag": self_rag}
"""The methods that may say how many passages they read."""

METHODS: dict[str, Method] = {
    "none": none,
    "rag": rag,
    "self-rag": self_rag,
    "crag": crag,
    "crag+search": Pipeline.run,
    "self-crag": self_crag,
    "self-crag+search": partial(self_crag, ask=Pipeline.run),
}


def arms(names: Sequence[str], searches: bool, top: int = TOP) -> tuple[Arm, ...]:
    """Arms for the named methods, in order; "rag:10" reads ten passages, "rag" reads `top`, and so does "self-rag". No
    names: "crag+search" if `searches` (a searcher is configured), else "crag". Raises ConfigError for an unknown name,
    one named twice, and a search without a searcher."""
    found = [_arm(name, searches, top) for name in names or ["crag+search" if searches else "crag"]]
    named = [arm.name for arm in found]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ConfigError(f"the method '{twice[0]}' is named twice")
    return tuple(found)


def _critiqued(pipeline: Pipeline, paragraphs: str) -> Pipeline:
    """The pipeline with its generator's own critique. Raises ConfigError for a generator that has none."""
    posed = pipeline.generator
    own = posed.generator if isinstance(posed, Posed) else posed
    if not isinstance(own, SelfCritic):
        raise ConfigError("self-rag and self-crag need a generator that criticises its answers: generator.use=self_rag")
    critic: Generator = own.with_critique(paragraphs)
    return replace(pipeline, generator=replace(posed, generator=critic) if isinstance(posed, Posed) else critic)


def _generated(pipeline: Pipeline, run: Recorder, knowledge: list[tuple[Strip, Passage]]) -> Trace:
    answer: Answer | None = run.step(
        "generate", pipeline.generator.generate, run.standalone, knowledge, fallback=None, instead="no answer"
    )
    if answer:
        run.set("answer", pipeline.checking(run, knowledge).held(answer))
    return run.finish(error=None if answer else "the generator failed")


def _arm(name: str, searches: bool, top: int) -> Arm:
    method, colon, number = name.partition(":")
    if method not in METHODS or (colon and not (method in READS and number.isdecimal() and int(number) > 0)):
        known, reading = ", ".join(METHODS), " and ".join(READS)
        raise ConfigError(
            f"no method called '{name}'; there are: {known}; {reading} may say how many passages, as in rag:10"
        )
    if method.endswith("+search") and not searches:
        raise ConfigError(
            f"{name} needs a searcher, and none is configured; name one, as in --set searcher.use=wikipedia"
        )
    if method in READS:
        read = int(number) if colon else top
        return Arm(f"{method}:{read}", lambda pipeline, example: READS[method](pipeline, example.question, read))
    return Arm(method, lambda pipeline, example: METHODS[method](pipeline, example.question))
