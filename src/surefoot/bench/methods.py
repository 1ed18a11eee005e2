"""What is compared: corrective RAG, RAG that believes whatever it retrieves, and the model's own memory."""

from __future__ import annotations

from collections.abc import Callable

from surefoot.pipeline import Pipeline, checked
from surefoot.recorder import Recorder
from surefoot.types import Answer, Passage, Strip, Trace

Method = Callable[[Pipeline, str, int], Trace]
"""(pipeline, question, passages that plain RAG reads) -> trace."""


def crag(pipeline: Pipeline, question: str, top: int) -> Trace:
    """Corrective RAG: the pipeline itself. `top` is not used."""
    return pipeline.run(question)


def rag(pipeline: Pipeline, question: str, top: int) -> Trace:
    """The first `top` passages, whole and ungraded, go to the same generator; its answer is taken as it is."""
    run = Recorder(checked(question), pipeline.config)
    passages = run.step(
        "retrieve", pipeline.retriever.retrieve, run.question, pipeline.k, fallback=(), instead="nothing retrieved"
    )
    run.set("passages", passages)
    read = [(Strip(p.id, 0, len(p.text), p.text, p.score, kept=True), p) for p in passages[:top]]
    run.set("strips", tuple(strip for strip, _ in read))
    return _generated(pipeline, run, read)


def none(pipeline: Pipeline, question: str, top: int) -> Trace:
    """What the generator says without any source. `top` is not used."""
    return _generated(pipeline, Recorder(checked(question), pipeline.config), [])


def _generated(pipeline: Pipeline, run: Recorder, knowledge: list[tuple[Strip, Passage]]) -> Trace:
    answer: Answer | None = run.step(
        "generate", pipeline.generator.generate, run.question, knowledge, fallback=None, instead="no answer"
    )
    if answer:
        run.set("answer", answer)
    return run.trace(error=None if answer else "the generator failed")


METHODS: dict[str, Method] = {"crag": crag, "rag": rag, "none": none}
