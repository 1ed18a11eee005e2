"""Surefoot in a chain: a retriever whose documents carry grades, a compressor that leaves what helps, and two tools.

Needs the extra `langchain`. A grade stands in a document's metadata under "surefoot": label, probability, score and
reason. An evaluator that fails is a ComponentError here too, never an empty list: that would read as "nothing helps".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from surefoot.config import correction
from surefoot.integrations._passages import KEY, answered, as_json, corrected, metadata, numbered, remains, retrieved
from surefoot.pipeline import Pipeline
from surefoot.text.quoting import answer_in_words, grade_in_words
from surefoot.types import Grade, Passage, Source, Trace
from surefoot.types.errors import Cancelled, MissingExtra, SurefootError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document as Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import Field, InstanceOf
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations", "langchain") from error

MOST_TEXTS = 100
"""Texts of a call of the tool that grades, at most."""


def document(passage: Passage, grade: Grade) -> Document:
    """The passage with its fields, title, address (`source`) and grade in the metadata."""
    return Document(id=passage.id, page_content=passage.text, metadata=metadata(passage, grade))


def passages(documents: Sequence[Document], source: Source = "corpus") -> tuple[Passage, ...]:
    """A passage for each document. Its id is its place, from 1, since documents need no id, and two may share one."""
    return numbered(((one.page_content, one.metadata) for one in documents), source)


def graded(documents: Sequence[Document], grades: Sequence[Grade]) -> list[Document]:
    """The documents with these grades in their metadata."""
    pairs = zip(documents, grades, strict=True)
    return [_with(one, one.page_content, as_json(grade)) for one, grade in pairs]


def kept_documents(documents: Sequence[Document], trace: Trace) -> list[Document]:
    """The parts that the trace keeps of the documents from which `passages` made its passages, most helpful first.

    Each has its kept strips as text, a line each, and their offsets beside its grade, as `kept`.
    """
    return [_with(documents[place], text, about) for place, text, about in remains(trace)]


def _with(one: Document, text: str, grade: dict[str, Any]) -> Document:
    return Document(id=one.id, page_content=text, metadata={**one.metadata, KEY: grade})


class SurefootRetriever(BaseRetriever):
    """The `k` best passages of a pipeline's retriever, each with its grade in the metadata, best first.

    Those that do not help are there too, so that a chain can decide; `useful=True` leaves them out, and those that
    could not be graded. As many are graded as the pipeline says, or `k` if that is more. Raises what retriever and
    evaluator raise.
    """

    pipeline: InstanceOf[Pipeline]
    k: int = Field(5, ge=1)
    useful: bool = False

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        found = retrieved(self.pipeline, query, self.k if k is None else k, self.useful)
        return [document(*one) for one in found]


class SurefootCompressor(BaseDocumentCompressor):
    """Leaves of retrieved documents those that help to answer, the most helpful first, without orders to a model.

    A pipeline whose refiner cuts leaves their sentences that help. Nothing is left where none helps: search elsewhere
    then. `pipeline` None: the shipped evaluator at its own thresholds, as in `surefoot.correct`. Raises ComponentError
    where the evaluator fails.
    """

    pipeline: InstanceOf[Pipeline] | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Each document that helps, cut to the strips that do."""
        return kept_documents(documents, corrected(self.pipeline, query, passages(documents)))


QuestionText = Annotated[str, "The question, complete in itself: no earlier message is known."]
Texts = Annotated[list[str], f"From 1 to {MOST_TEXTS} texts."]


class SurefootAskTool(BaseTool):
    """The checked answer of a pipeline, or its refusal, in words; the artifact is the `Trace`.

    Words of documents stand between marks that are new with each call. What the model can mend, and a part that fails,
    is told to it in place of an answer.
    """

    name: str = "ask_documents"
    description: str = (
        "Answer a question from the user's own documents. Passages are found and graded, and each sentence of the "
        "answer is checked against them; where they do not answer it, it is refused. Ask before you guess, and cite "
        "what it cites."
    )
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool | str | Callable[[ToolException], str] | None = True
    pipeline: InstanceOf[Pipeline]

    def _run(self, question: QuestionText) -> tuple[str, Trace]:
        with _tool_errors():
            trace = self.pipeline.run(question)
            return in_words(trace), trace

    async def _arun(self, question: QuestionText) -> tuple[str, Trace]:
        with _tool_errors():
            trace = await self.pipeline.arun(question)
            return in_words(trace), trace


class SurefootGradeTool(BaseTool):
    """A grade for each of the given texts, in words; the artifact is the tuple of `Grade`. `pipeline` None: as in
    `surefoot.grade`."""

    name: str = "grade_texts"
    description: str = "Judge which of the given texts hold the answer to a question. Nothing is searched."
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: bool | str | Callable[[ToolException], str] | None = True
    pipeline: InstanceOf[Pipeline] | None = None

    def _run(self, question: QuestionText, texts: Texts) -> tuple[str, tuple[Grade, ...]]:
        if not 1 <= len(texts) <= MOST_TEXTS:
            raise ToolException(f"texts must be a list of 1 to {MOST_TEXTS} texts")
        with _tool_errors():
            grades = (self.pipeline or correction).grade(question, texts)
        return "\n".join(f"{one.passage_id}. {grade_in_words(one)}" for one in grades), grades


@contextmanager
def _tool_errors() -> Iterator[None]:
    """Raise an error as a model reads it. Nobody waits for the end of a question that was cancelled."""
    try:
        yield
    except Cancelled:
        raise
    except SurefootError as error:
        raise ToolException(str(error)) from error


def in_words(trace: Trace) -> str:
    """The answer of a trace, with what it cites, for a language model to read. Raises ComponentError where there is
    none, and where a step failed before a refusal."""
    return answer_in_words(answered(trace), lambda one: one.url or "")
