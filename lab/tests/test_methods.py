"""What corrective RAG is compared with: plain RAG, and the model's own memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from surefoot.evaluate.ask.questions import Example
from surefoot.evidence.answer_policy import AnswerPolicy
from surefoot.pipeline import Pipeline
from surefoot.types import Answer, Passage, Strip, Trace
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Generator, Knowledge, OnText, Searcher
from surefoot_lab.methods import METHODS, arms, crag, none, rag, self_crag

WHO = "Who built the Ruvel Bridge?"
UNKNOWN = "Why?"


def test_crag_is_the_pipeline(pipeline: Pipeline) -> None:
    """It grades, decides, and checks the answer."""
    trace = crag(pipeline, WHO)
    assert trace.decision is not None
    assert trace.answer is not None
    assert trace.answer.citations[0].quoted


def test_rag_believes_what_it_retrieves(pipeline: Pipeline) -> None:
    """The first passages go to the generator whole; nothing is graded or decided."""
    trace = rag(pipeline, f"  {WHO} ", 1)
    bridge, _ = trace.passages
    assert trace.question == WHO
    assert trace.strips == (Strip("b", 0, len(bridge.text), bridge.text, 2.0, kept=True),)
    assert (trace.grades, trace.decision, trace.error) == ((), None, None)
    assert [step.name for step in trace.steps] == ["retrieve", "generate", "verify"]
    assert trace.config == pipeline.config


def test_every_method_is_checked_alike(pipeline: Pipeline) -> None:
    """What one may say the other may; only where there is no source at all is nothing withheld."""
    right, made_up = rag(pipeline, WHO, 1).answer, rag(pipeline, "Who closed the Ruvel Bridge?", 1).answer
    assert right
    assert made_up
    assert (right.text, [citation.quoted for citation in right.citations]) == ("tomas aldwin [1]", [True])
    assert (made_up.refused, made_up.withheld) == (True, "A troll.")
    marking = pipeline.but(answering=AnswerPolicy("mark"))
    for method in (rag, crag):
        marked = method(marking, "Who closed the Ruvel Bridge?").answer
        assert marked
        assert (marked.body, marked.refused, marked.uncited) == ("A troll.", False, ("A troll.",))


def test_none_asks_the_model_alone(pipeline: Pipeline) -> None:
    """No source is read, so it may say something else, and none of it is supported."""
    trace = none(pipeline, WHO)
    assert trace.answer == Answer("Nobody did.", model="scripted", uncited=("Nobody did.",), worded=True)
    assert (trace.passages, trace.strips) == ((), ())
    assert [step.name for step in trace.steps] == ["generate"]


def test_a_generator_that_fails_is_an_error_not_an_answer(pipeline: Pipeline) -> None:
    """The step says why."""
    for method in (rag, none):
        trace = method(pipeline, UNKNOWN)
        assert (trace.answer, trace.error) == (None, "the generator failed")
        assert (trace.steps[-1].error, trace.steps[-1].degraded) == ("out of memory", "no answer")


class Outside:
    """Finds one passage outside."""

    name = "outside"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        return (Passage("w", "The Iron Hut was built by Josef Ruhm.", "Iron Hut", "external"),)


ELSEWHERE = "Who built the Iron Hut?"


@pytest.mark.parametrize(("without", "with_search"), [(crag, Pipeline.run), (self_crag, METHODS["self-crag+search"])])
def test_only_a_method_that_says_so_searches(
    critical: Pipeline, without: Callable[[Pipeline, str], Trace], with_search: Callable[[Pipeline, str], Trace]
) -> None:
    """Whatever searcher is configured; the trace of the other says that it had none."""
    searcher: Searcher = Outside()
    searching = critical.but(searcher=searcher)
    assert with_search(searching, ELSEWHERE).external != ()
    trace = without(searching, ELSEWHERE)
    assert (trace.external, trace.config["searcher"]) == ((), {"use": "surefoot.searchers.nowhere:Nowhere"})


def test_methods_are_named_with_what_rag_reads() -> None:
    """A number of its own, or the one that holds where it has none."""
    assert [arm.name for arm in arms(["rag:1", "none", "rag"], searches=False, top=10)] == ["rag:1", "none", "rag:10"]


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["magic"], "no method called 'magic'; there are: none, rag, self-rag, crag, crag.search"),
        (["rag:0"], "no method called 'rag:0'"),
        (["rag:"], "no method called 'rag:'"),
        (["crag:3"], "no method called 'crag:3'"),
        (["rag", "rag:3"], "the method 'rag:3' is named twice"),
        (["crag+search"], "crag.search needs a searcher, and none is configured"),
    ],
)
def test_a_method_that_cannot_be_is_refused(names: list[str], says: str) -> None:
    """Before anything is asked."""
    with pytest.raises(ConfigError, match=says):
        arms(names, searches=False)


class Critic:
    """A generator that criticises its own answers."""

    def __init__(self, generator: Generator, paragraphs: str = "") -> None:
        self.generator, self.paragraphs = generator, paragraphs

    def with_critique(self, paragraphs: str) -> Critic:
        """Itself, with what it is to compare."""
        return Critic(self.generator, paragraphs)

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The inner one's."""
        return replace(self.generator.generate(question, knowledge, on_text), model=self.paragraphs)


@pytest.fixture
def critical(pipeline: Pipeline) -> Pipeline:
    """The pipeline with such a generator."""
    return pipeline.but(generator=Critic(pipeline.generator))


def test_self_crag_is_crag_but_for_the_answer(critical: Pipeline) -> None:
    """The same passages, grades and strips; the critique compares three contexts."""
    one, other = crag(critical, WHO), self_crag(critical, WHO)
    assert (one.grades, one.strips, one.decision) == (other.grades, other.strips, other.decision)
    assert other.answer is not None
    assert (other.answer.model, other.answer.citations[0].quoted) == ("three", True)


def test_self_rag_lets_the_generator_compare_each_passage_that_rag_reads(critical: Pipeline) -> None:
    """As many as it is told to, and nothing is graded."""
    (arm,) = arms(["self-rag:2"], searches=False)
    trace = arm.ask(critical, Example("1", WHO, (), frozenset()))
    assert (arm.name, len(trace.strips), trace.decision) == ("self-rag:2", 2, None)
    assert (trace.answer or Answer("")).model == "each"


def test_a_generator_without_a_critique_is_refused(pipeline: Pipeline) -> None:
    """With the one that has one."""
    with pytest.raises(ConfigError, match="a generator that criticises its answers"):
        self_crag(pipeline, WHO)
