"""Surefoot in a chain: a retriever whose documents carry grades, a compressor that leaves what helps, and two tools.

Needs the extra `langchain`. A grade stands in a document's metadata under "surefoot": label, probability, score and
reason. An evaluator that fails is a ComponentError here too, never an empty list: that would read as "nothing helps".
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from surefoot.config import correction
from surefoot.evidence.ranking import order
from surefoot.pipeline import Pipeline
from surefoot.text.quoting import answer_in_words, grade_in_words
from surefoot.types import Action, Grade, Passage, Source, Strip, Trace
from surefoot.types.errors import Cancelled, ComponentError, MissingExtra, SurefootError, UsageError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document as Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import Field, InstanceOf
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations", "langchain") from error

KEY = "surefoot"
"""Of the grade in a document's metadata."""
MOST_TEXTS = 100
"""Texts of a call of the tool that grades, at most."""


def document(passage: Passage, grade: Grade) -> Document:
    """The passage with its fields, title, address (`source`) and grade in the metadata."""
    about = {"title": passage.title, "source": passage.url, KEY: as_json(grade)}
    return Document(id=passage.id, page_content=passage.text, metadata={**passage.meta, **about})


def as_json(grade: Grade) -> dict[str, Any]:
    """A grade in plain values; `label` is "correct", "ambiguous", "incorrect", or None where it could not be graded."""
    label = grade.label and grade.label.value
    return {"label": label, "probability": grade.probability, "score": grade.score, "reason": grade.reason}


def passages(documents: Sequence[Document], source: Source = "corpus") -> tuple[Passage, ...]:
    """A passage for each document. Its id is its place, from 1, since documents need no id, and two may share one."""
    return tuple(
        Passage(str(place), one.page_content, _text(one, "title"), source, _text(one, "source") or None)
        for place, one in enumerate(documents, start=1)
    )


def _text(one: Document, key: str) -> str:
    value = one.metadata.get(key)
    return value if isinstance(value, str) else ""


def graded(documents: Sequence[Document], grades: Sequence[Grade]) -> list[Document]:
    """The documents with these grades in their metadata."""
    pairs = zip(documents, grades, strict=True)
    return [_with(one, one.page_content, as_json(grade)) for one, grade in pairs]


def kept_documents(documents: Sequence[Document], trace: Trace) -> list[Document]:
    """The parts that the trace keeps of the documents from which `passages` made its passages, most helpful first.

    Each has its kept strips as text, a line each, and their offsets beside its grade, as `kept`.
    """
    found: dict[str, list[Strip]] = {}
    for strip in trace.kept_strips:
        found.setdefault(strip.passage_id, []).append(strip)
    grades = {grade.passage_id: as_json(grade) for grade in trace.grades}
    return [
        _with(
            documents[int(id) - 1],
            "\n".join(strip.text for strip in strips),
            {**grades[id], "kept": [[strip.start, strip.end] for strip in strips]},
        )
        for id, strips in found.items()
    ]


def _with(one: Document, text: str, grade: dict[str, Any]) -> Document:
    return Document(id=one.id, page_content=text, metadata={**one.metadata, KEY: grade})


def sound(trace: Trace) -> Trace:
    """The trace, if no step of it failed; raises ComponentError."""
    if broken := next((step for step in trace.steps if step.error), None):
        raise ComponentError(f"the step '{broken.name}' failed: {broken.error}")
    return trace


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
        wanted = self.k if k is None else k
        if wanted < 1:
            raise UsageError("k must be 1 or more")
        found = self.pipeline.retriever.retrieve(query, max(wanted, self.pipeline.k))
        grades = self.pipeline.grade(query, found)
        aside = (None, Action.INCORRECT) if self.useful else ()
        places = [n for n in order(found, grades) if grades[n].label not in aside]
        return [document(found[n], grades[n]) for n in places[:wanted]]


class SurefootCompressor(BaseDocumentCompressor):
    """Leaves of retrieved documents the sentences that help to answer, the most helpful document first.

    Nothing is left where none helps: search elsewhere then. `pipeline` None: the shipped evaluator at its own
    thresholds, as in `surefoot.correct`. Raises ComponentError where the evaluator fails.
    """

    pipeline: InstanceOf[Pipeline] | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Each document that helps, cut to the strips that do."""
        return kept_documents(documents, sound((self.pipeline or correction).correct(query, passages(documents))))


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
    """The answer of a trace, with what it cites, for a language model to read."""
    if trace.answer is None:
        return f"The question ended without an answer: {trace.error}"
    return answer_in_words(trace.answer, lambda one: one.url or "")
