"""Surefoot in Haystack: a grader that a ConditionalRouter branches on, a retriever, and the whole method as one
component.

Needs the extra `haystack`. It stands in this namespace because Haystack loads saved pipelines only from modules that it
trusts. A component is made from a configuration, the tables of a `surefoot.toml` as a dictionary; no file is read. A
grade stands in a document's `meta` under "surefoot". An evaluator that fails is a ComponentError, never an empty list.
"""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from surefoot.config import consent
from surefoot.config.builder import load
from surefoot.integrations import _passages as shared
from surefoot.integrations.from_haystack import filter_of
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.types import Grade, Passage, Trace
from surefoot.types.errors import MissingExtra, UsageError

try:
    from haystack import Document, GeneratedAnswer, component, default_from_dict, default_to_dict
except ModuleNotFoundError as error:
    raise MissingExtra("haystack_integrations.components.surefoot", "haystack") from error


class _Configured:
    """A component that builds its pipeline from its configuration, in `warm_up` or before its first question."""

    _parts: ClassVar[dict[str, Any]] = {}
    _saved: ClassVar[tuple[str, ...]] = ("config",)

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = config

    @cached_property
    def pipeline(self) -> Pipeline:
        """The pipeline of the configuration."""
        return load(self.config or {}, parts=self._parts)

    def warm_up(self) -> None:
        """Build the pipeline."""
        self.pipeline  # noqa: B018

    def to_dict(self) -> dict[str, Any]:
        """The component as it is saved."""
        saved: dict[str, Any] = default_to_dict(self, **{name: getattr(self, name) for name in self._saved})
        return saved

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component as it was saved. Raises UnagreedCode or UnagreedEndpoint where it names code, or machines that
        get questions and keys, and nobody agreed to these here: it may come from anybody, as a `surefoot.toml` may."""
        config, origin = data.get("init_parameters", {}).get("config") or {}, Path("this saved pipeline of Haystack")
        consent.require(consent.code(config), origin)
        consent.require_endpoints(config, config, origin)
        made: Self = default_from_dict(cls, data)
        return made


@component
class SurefootGrader(_Configured):
    """Grades documents, decides what to do with them, and tells those that help from the others.

    `config` None: the shipped evaluator at its own thresholds, as in `surefoot.correct`.
    """

    _parts: ClassVar = {"retriever": Given()}

    @component.output_types(documents=list[Document], rejected=list[Document], action=str, because=str)
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """`action` is "correct" (answer from `documents`), "ambiguous" (search beside them) or "incorrect" (search
        instead; there are none). `documents` help, the most helpful first, without orders to a model; `rejected` are
        the others. Raises UsageError for one without text, ComponentError where grading fails."""
        if bare := [one.id for one in documents if one.content is None]:
            raise UsageError(f"SurefootGrader grades texts, and document {bare[0]} has none; route it elsewhere")
        trace = shared.corrected(
            self.pipeline, query, shared.numbered((one.content or "", one.meta) for one in documents)
        )
        assert trace.decision  # a trace without an error has one  # noqa: S101  # nosec B101
        helpful = {
            place: _graded(documents[place], about, content=text) for place, text, about in shared.remains(trace)
        }
        pairs = enumerate(zip(documents, trace.grades, strict=True))
        return {
            "documents": [*helpful.values()],
            "rejected": [_graded(one, shared.as_json(grade)) for n, (one, grade) in pairs if n not in helpful],
            "action": trace.decision.action.value,
            "because": trace.decision.because,
        }


@component
class SurefootRetriever(_Configured):
    """The best passages of a pipeline's retriever, each with its grade, best first.

    Those that do not help are there too; `useful=True` leaves them out, and those that could not be graded. The order
    heeds grade and retrieval, the score of a document its grade alone.
    """

    _saved: ClassVar = ("config", "top_k", "useful")

    def __init__(self, config: dict[str, Any] | None = None, top_k: int = 5, useful: bool = False) -> None:
        self.config, self.top_k, self.useful = config, top_k, useful

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """At most `top_k` documents that fulfil `filters`. Raises what retriever and evaluator raise."""
        k = self.top_k if top_k is None else top_k
        found = shared.retrieved(self.pipeline, query, k, self.useful, filter_of(filters))
        return {"documents": [_document(*one) for one in found]}


@component
class SurefootRAG(_Configured):
    """The whole method: retrieve, grade, search elsewhere where needed, answer with checked citations, or refuse."""

    @component.output_types(answers=list[GeneratedAnswer], refused=bool, trace=Trace)
    def run(self, query: str, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """One answer, from documents that fulfil `filters`: [n] in it cites the n-th of its documents, and its `meta`
        says how sure it is. Raises QuestionError, and ComponentError where a step failed and there is nothing to
        answer."""
        return _outputs(self.pipeline.run(query, filter=filter_of(filters)))

    @component.output_types(answers=list[GeneratedAnswer], refused=bool, trace=Trace)
    async def run_async(self, query: str, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """The same without blocking the event loop; a task that is cancelled cancels the question."""
        return _outputs(await self.pipeline.arun(query, filter=filter_of(filters)))


def _outputs(trace: Trace) -> dict[str, Any]:
    answer, cited = shared.answered(trace), [_document(*one) for one in shared.sources(trace)]
    made = GeneratedAnswer(answer.text, trace.question, cited, {shared.KEY: shared.summary(trace)})
    return {"answers": [made], "refused": answer.refused, "trace": trace}


def _document(passage: Passage, grade: Grade) -> Document:
    meta = shared.metadata(passage, grade)
    return Document(id=passage.id, content=passage.text, meta=meta, score=shared.worth(meta[shared.KEY]))


def _graded(one: Document, about: dict[str, Any], **changes: str) -> Document:
    return replace(one, meta={**one.meta, shared.KEY: about}, score=shared.worth(about), **changes)
