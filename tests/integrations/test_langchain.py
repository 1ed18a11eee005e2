"""Retriever, compressor and tools in LangChain's own suites, and what these do not ask."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_tests", reason="needs the package langchain-tests")

from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from shelf import pipeline as built
from surefoot.integrations.langchain import (
    SurefootAskTool,
    SurefootCompressor,
    SurefootGradeTool,
    SurefootRetriever,
    passages,
)
from surefoot.pipeline import Pipeline
from surefoot.types import Action, Passage, Trace
from surefoot.types.errors import ComponentError

QUESTION = "Who built the Ruvel Bridge?"
GOOD = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
POOR = "Boil the dumplings until they float."
SHELF = built.__wrapped__() if hasattr(built, "__wrapped__") else built.__pytest_wrapped__.obj()


class Many:
    """Finds what was asked for, as often as it is wanted."""

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        return tuple(
            Passage(str(n), f"{GOOD} It has {n} arches.", "Ruvel Bridge", score=1 / n) for n in range(1, k + 1)
        )


def call(tool: Any, **arguments: Any) -> ToolMessage:
    message: ToolMessage = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments})
    return message


class TestRetriever(RetrieversIntegrationTests):
    retriever_constructor = SurefootRetriever
    retriever_constructor_params = {"pipeline": SHELF.but(retriever=Many())}
    retriever_query_example = QUESTION


class AskTool:
    tool_constructor = SurefootAskTool
    tool_constructor_params = {"pipeline": SHELF}
    tool_invoke_params_example = {"question": QUESTION}


class GradeTool:
    tool_constructor = SurefootGradeTool
    tool_invoke_params_example = {"question": QUESTION, "texts": [GOOD, POOR]}


class TestAskTool(AskTool, ToolsUnitTests):
    pass


class TestAskToolRuns(AskTool, ToolsIntegrationTests):
    pass


class TestGradeTool(GradeTool, ToolsUnitTests):
    pass


class TestGradeToolRuns(GradeTool, ToolsIntegrationTests):
    pass


def test_a_retrieved_document_carries_its_grade(pipeline: Pipeline) -> None:
    """Beside title and address; the best first, and those that do not help too, unless only useful ones are wanted."""
    found = SurefootRetriever(pipeline=pipeline).invoke(QUESTION)
    assert [one.id for one in found] == ["b", "h#2"]
    assert found[0].metadata["title"] == "Ruvel Bridge"
    assert found[0].metadata["surefoot"]["label"] == "correct"
    assert set(found[0].metadata["surefoot"]) == {"label", "probability", "score", "reason"}
    useful = SurefootRetriever(pipeline=pipeline, useful=True).invoke(QUESTION)
    assert [one.metadata["surefoot"]["label"] != "incorrect" for one in found] == [True] * len(useful) + [False] * (
        2 - len(useful)
    )


def test_a_compressor_leaves_the_documents_that_help() -> None:
    """Of documents without ids or with equal ones; what else they carry stays. Nothing is left where none helps."""
    documents = [
        Document(POOR, id="same"),
        Document(GOOD, id="same", metadata={"source": "bridge.md", "pages": [1]}),
        Document(POOR),
    ]
    [one] = SurefootCompressor().compress_documents(documents, QUESTION)
    assert (one.id, one.page_content) == ("same", GOOD)
    assert (one.metadata["source"], one.metadata["pages"]) == ("bridge.md", [1])
    assert one.metadata["surefoot"]["label"] == "correct"
    assert one.metadata["surefoot"]["kept"] == [[0, len(GOOD)]]
    assert "surefoot" not in documents[1].metadata
    assert SurefootCompressor().compress_documents([Document(POOR)], QUESTION) == []
    assert passages([Document("a", metadata={"title": 3, "source": ["b"]})]) == (Passage("1", "a"),)


def test_an_evaluator_that_fails_is_neither_an_empty_list_nor_a_refusal(failing: Pipeline) -> None:
    """They would read as: nothing helps."""
    with pytest.raises(ComponentError, match="out of memory"):
        SurefootRetriever(pipeline=failing).invoke(QUESTION)
    with pytest.raises(ComponentError, match=r"the step 'grade' failed: .*out of memory"):
        SurefootCompressor(pipeline=failing).compress_documents([Document(GOOD)], QUESTION)
    message = call(SurefootAskTool(pipeline=failing), question=QUESTION)
    assert (message.status, "the step 'grade' failed" in message.content) == ("error", True)


def test_the_model_reads_an_answer_between_marks_and_the_program_has_the_trace(pipeline: Pipeline) -> None:
    """Content for the one, artifact for the other; a refusal says so in its first sentence."""
    message = call(SurefootAskTool(pipeline=pipeline), question=QUESTION)
    assert message.content.startswith("An answer, checked against the documents. Between <quoted ")
    assert '[1] Ruvel Bridge: "' in message.content
    assert isinstance(message.artifact, Trace)
    assert message.artifact.answer
    assert message.artifact.answer.text in message.content
    refused = call(SurefootAskTool(pipeline=pipeline), question="How many moons has Jupiter?")
    assert refused.artifact.answer.refused
    assert refused.content.startswith("The documents do not answer this.")


def test_a_mistake_is_told_to_the_model(pipeline: Pipeline) -> None:
    """It can mend an empty question, and too many texts."""
    refused = call(SurefootAskTool(pipeline=pipeline), question=" ")
    assert (refused.status, "the question is empty" in refused.content) == ("error", True)
    assert "the question is empty" in asyncio.run(SurefootAskTool(pipeline=pipeline).ainvoke({"question": ""}))
    graded = call(SurefootGradeTool(), question=QUESTION, texts=[POOR] * 101)
    assert (graded.status, graded.content) == ("error", "texts must be a list of 1 to 100 texts")


def test_texts_are_graded_in_words_and_in_values() -> None:
    """A line a text, by its number from 1."""
    message = call(SurefootGradeTool(), question=QUESTION, texts=[GOOD, POOR])
    assert [line.split(",")[0] for line in message.content.splitlines()] == ["1. correct", "2. incorrect"]
    assert [grade.label for grade in message.artifact] == [Action.CORRECT, Action.INCORRECT]


def test_the_host_s_configuration_is_not_read(beside_a_broken_toml: Any) -> None:
    """A `surefoot.toml` that would fail lies where the host was started."""
    code = (
        "from langchain_core.documents import Document\n"
        "from surefoot.integrations.langchain import SurefootCompressor\n"
        f"print(SurefootCompressor().compress_documents([Document({GOOD!r})], {QUESTION!r})[0].page_content)"
    )
    assert beside_a_broken_toml(code) == GOOD
