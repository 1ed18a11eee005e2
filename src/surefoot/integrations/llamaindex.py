"""Surefoot in LlamaIndex: a retriever whose nodes carry grades, a postprocessor that leaves what helps, and a query
engine whose answers are checked. None of them blocks an event loop.

Needs the extra `llamaindex`. A grade stands in a node's metadata under "surefoot", and no prompt or embedding sees it.
An evaluator that fails is a ComponentError here too, never an empty list: that would read as "nothing helps".
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from surefoot.integrations import _passages as shared
from surefoot.pipeline import Pipeline
from surefoot.types import Grade, Passage, Trace
from surefoot.types.errors import MissingExtra, UsageError

try:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.response.schema import Response
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
    from pydantic import Field, InstanceOf
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations", "llamaindex") from error

HIDDEN = (shared.KEY, "source")
"""Keys of the metadata that stay out of prompts and embeddings."""


def node(passage: Passage, grade: Grade) -> NodeWithScore:
    """The passage with its fields, title, address (`source`) and grade in the metadata; the score is the grade's
    probability."""
    return _scored(TextNode(id_=passage.id, text=passage.text, metadata=shared.metadata(passage, grade)))


def _scored(one: BaseNode) -> NodeWithScore:
    one.excluded_llm_metadata_keys = [*dict.fromkeys([*one.excluded_llm_metadata_keys, *HIDDEN])]
    one.excluded_embed_metadata_keys = [*dict.fromkeys([*one.excluded_embed_metadata_keys, *HIDDEN])]
    return NodeWithScore(node=one, score=shared.worth(one.metadata[shared.KEY]))


class SurefootRetriever(BaseRetriever):
    """The `k` best passages of a pipeline's retriever, each with its grade in the metadata, best first.

    Those that do not help are there too; `useful=True` leaves them out, and those that could not be graded. The order
    heeds grade and retrieval, the score of a node its grade alone. Raises what retriever and evaluator raise.
    """

    def __init__(
        self, pipeline: Pipeline, k: int = 5, useful: bool = False, callback_manager: CallbackManager | None = None
    ) -> None:
        self.pipeline, self.k, self.useful = pipeline, k, useful
        super().__init__(callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [node(*one) for one in shared.retrieved(self.pipeline, query_bundle.query_str, self.k, self.useful)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class SurefootPostprocessor(BaseNodePostprocessor):
    """Leaves of retrieved nodes those that help to answer, the most helpful first, without orders to a model.

    A pipeline whose refiner cuts leaves their sentences that help. Nothing is left where none helps: search elsewhere
    then. `pipeline` None: the shipped evaluator at its own thresholds, as in `surefoot.correct`. Raises ComponentError
    where the evaluator fails.
    """

    pipeline: InstanceOf[Pipeline] | None = Field(None, exclude=True)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex knows it."""
        return "SurefootPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise UsageError("SurefootPostprocessor grades nodes against a question; give query_str or query_bundle")
        texts = shared.numbered((one.node.get_content(), one.node.metadata) for one in nodes)
        trace = shared.corrected(self.pipeline, query_bundle.query_str, texts)
        return [_cut(nodes[place].node, text, about) for place, text, about in shared.remains(trace)]


def _cut(whole: BaseNode, text: str, about: dict[str, Any]) -> NodeWithScore:
    part = whole.model_copy(update={"metadata": {**whole.metadata, shared.KEY: about}})
    part.set_content(text)
    return _scored(part)


@dataclass
class SurefootResponse(Response):
    """A checked answer, or a refusal. [n] in it cites `source_nodes[n - 1]`; `metadata["surefoot"]` says how sure
    it is, in plain values, and `trace` how it came about."""

    trace: Trace | None = None


class SurefootQueryEngine(BaseQueryEngine):
    """The whole method: retrieve, grade, search elsewhere where needed, answer with checked citations, or refuse.

    Raises QuestionError for an empty or over-long question, and ComponentError where a step failed and there is
    nothing to answer: a refusal always says that the documents do not answer.
    """

    def __init__(self, pipeline: Pipeline, callback_manager: CallbackManager | None = None) -> None:
        self.pipeline = pipeline
        super().__init__(callback_manager)

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}

    def _query(self, query_bundle: QueryBundle) -> SurefootResponse:
        return _response(self.pipeline.run(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> SurefootResponse:
        return _response(await self.pipeline.arun(query_bundle.query_str))


def _response(trace: Trace) -> SurefootResponse:
    cited = [node(*one) for one in shared.sources(trace)]
    return SurefootResponse(shared.answered(trace).text, cited, {shared.KEY: shared.summary(trace)}, trace)
