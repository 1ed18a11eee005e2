"""What corrective RAG is compared with: plain RAG, and the model's own memory."""

from __future__ import annotations

import pytest

from surefoot.bench.methods import METHODS, crag, none, rag
from surefoot.errors import EndpointError, QuestionError
from surefoot.pipeline import Pipeline
from surefoot.types import Answer, Passage, Strip

WHO = "Who built the Ruvel Bridge?"
UNKNOWN = "Why?"


class Down:
    """A server that does not answer."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        raise EndpointError("the server is down")


def test_crag_is_the_pipeline(pipeline: Pipeline) -> None:
    """It grades, decides, and checks the answer."""
    trace = crag(pipeline, WHO, 1)
    assert trace.decision is not None
    assert trace.answer is not None
    assert trace.answer.citations[0].verified


def test_rag_believes_what_it_retrieves(pipeline: Pipeline) -> None:
    """The first passages go to the generator whole; nothing is graded, decided or checked."""
    trace = rag(pipeline, f"  {WHO} ", 1)
    bridge, _ = trace.passages
    assert trace.question == WHO
    assert trace.strips == (Strip("b", 0, len(bridge.text), bridge.text, 2.0, kept=True),)
    assert trace.answer == Answer("tomas aldwin [1]", model="scripted")
    assert (trace.grades, trace.decision, trace.error) == ((), None, None)
    assert [step.name for step in trace.steps] == ["retrieve", "generate"]
    assert trace.config == pipeline.config


def test_rag_reads_the_first_passages_only(pipeline: Pipeline) -> None:
    """As many as it is told to; all that was retrieved stays in the trace."""
    trace = rag(pipeline, WHO, 2)
    assert [strip.passage_id for strip in trace.strips] == ["b", "h#2"]
    assert len(rag(pipeline, WHO, 1).passages) == 2


def test_rag_passes_on_what_is_made_up(pipeline: Pipeline) -> None:
    """Which corrective RAG refuses to."""
    question = "Who closed the Ruvel Bridge?"
    assert rag(pipeline, question, 1).answer == Answer("A troll.", model="scripted")
    refused = crag(pipeline, question, 1).answer
    assert refused is not None
    assert (refused.refused, refused.withheld) == (True, "A troll.")


def test_none_asks_the_model_alone(pipeline: Pipeline) -> None:
    """No source is read, so it may say something else."""
    trace = none(pipeline, WHO, 3)
    assert trace.answer == Answer("Nobody did.", model="scripted")
    assert (trace.passages, trace.strips) == ((), ())
    assert [step.name for step in trace.steps] == ["generate"]


def test_a_generator_that_fails_is_an_error_not_an_answer(pipeline: Pipeline) -> None:
    """The step says why."""
    for method in (rag, none):
        trace = method(pipeline, UNKNOWN, 1)
        assert (trace.answer, trace.error) == (None, "the generator failed")
        assert (trace.steps[-1].error, trace.steps[-1].degraded) == ("out of memory", "no answer")


def test_a_retriever_that_fails_shows_in_the_step(pipeline: Pipeline) -> None:
    """Plain RAG goes on without."""
    step = rag(pipeline.but(retriever=Down()), WHO, 1).steps[0]
    assert (step.error, step.degraded) == ("the server is down", "nothing retrieved")


@pytest.mark.parametrize("method", METHODS)
def test_every_method_refuses_an_empty_question(pipeline: Pipeline, method: str) -> None:
    """In the same words."""
    with pytest.raises(QuestionError, match="the question is empty"):
        METHODS[method](pipeline, "  ", 1)
