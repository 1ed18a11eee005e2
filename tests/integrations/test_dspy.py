"""The retriever in DSPy's own retrieval, programs and tools."""

from typing import Any

import pytest

pytest.importorskip("dspy", reason="needs the extra dspy")

import dspy
from dspy.utils import DummyLM

from surefoot.integrations.dspy import SurefootRM
from surefoot.pipeline import Pipeline
from surefoot.types.errors import ComponentError, UsageError

QUESTION = "Who built the Ruvel Bridge?"
GOOD = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."


def test_a_passage_carries_its_grade(pipeline: Pipeline) -> None:
    """The best first, and those that do not help too, unless only useful ones are wanted."""
    found = SurefootRM(pipeline)(QUESTION)
    assert [(one.id, one.title) for one in found] == [("b", "Ruvel Bridge"), ("h#2", "Larrow Hut")]
    assert found[0].long_text == GOOD
    assert found[0].surefoot["label"] == "correct"
    assert [one.id for one in SurefootRM(pipeline, useful=True)(QUESTION)] == ["b"]


def test_dspy_retrieves_with_it(pipeline: Pipeline) -> None:
    """As many passages as the program says."""
    with dspy.context(rm=SurefootRM(pipeline)):
        assert dspy.Retrieve(k=1)(QUESTION).passages == [GOOD]
        assert len(dspy.Retrieve(k=2)(QUESTION).passages) == 2
    with pytest.raises(UsageError, match="k must be 1 or more"):
        SurefootRM(pipeline)(QUESTION, k=0)


def test_a_program_answers_from_it(pipeline: Pipeline) -> None:
    class RAG(dspy.Module):
        def __init__(self) -> None:
            super().__init__()
            self.retrieve, self.answer = dspy.Retrieve(k=1), dspy.Predict("context, question -> answer")

        def forward(self, question: str) -> Any:
            return self.answer(context=self.retrieve(question).passages, question=question)

    model = DummyLM([{"answer": "Tomas Aldwin"}])
    with dspy.context(rm=SurefootRM(pipeline), lm=model):
        assert RAG()(QUESTION).answer == "Tomas Aldwin"
    assert GOOD in str(model.history)


def test_it_is_a_tool_of_an_agent(pipeline: Pipeline) -> None:
    tool = dspy.Tool(SurefootRM(pipeline))
    assert "query" in tool.args
    assert GOOD in str(tool(query=QUESTION))


def test_an_evaluator_that_fails_is_no_empty_list(failing: Pipeline) -> None:
    with dspy.context(rm=SurefootRM(failing)), pytest.raises(ComponentError, match="out of memory"):
        dspy.Retrieve()(QUESTION)
