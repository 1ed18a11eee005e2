"""LlamaIndex's indexes, retrievers and chat models as components of ours: correct the system that you have.

    surefoot.load({}, parts={"retriever": LlamaIndexRetriever(index), "llm": LlamaIndexLLM(llm)})

Needs the extra `llamaindex`. Their clients go wherever they were set up to go: `[network]` does not bind them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from surefoot.integrations._foreign import ForeignRetriever, Row, operand
from surefoot.integrations._foreign_llm import ForeignLLM, event
from surefoot.llms._base import Call
from surefoot.text.words import encodable
from surefoot.types.errors import ConfigError, MissingExtra
from surefoot.types.metadata import FieldCondition, Filter

try:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import LLM, ChatMessage, ChatResponse
    from llama_index.core.schema import MetadataMode
    from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations.from_llamaindex", "llamaindex") from error

_OPERATORS = {
    "in": FilterOperator.IN,
    "not in": FilterOperator.NIN,
    "<": FilterOperator.LT,
    "<=": FilterOperator.LTE,
    ">": FilterOperator.GT,
    ">=": FilterOperator.GTE,
}
_OF_ONE = {"in": FilterOperator.EQ, "not in": FilterOperator.NE}
"""Which more stores have."""


class LlamaIndexRetriever(ForeignRetriever):
    """The passages of an index over vectors, or of any retriever of LlamaIndex's.

    An index finds as many as the pipeline asks for, and within a filter; a retriever as many as its `similarity_top_k`
    says, which is 2 unless you set it. Over a vector store: `VectorStoreIndex.from_vector_store(store)`.
    """

    name = "llamaindex"

    def __init__(self, source: VectorStoreIndex | BaseRetriever) -> None:
        super().__init__(source, "LlamaIndex's", VectorStoreIndex, BaseRetriever)

    def among(self, filter: Filter) -> Mapping[str, Any]:
        """In the operators that LlamaIndex has for all stores."""
        if not isinstance(self.source, VectorStoreIndex):
            raise ConfigError(f"{self.what} cannot filter; give its index itself, or ask without a filter")
        return {"filters": MetadataFilters(filters=[_condition(one) for one in filter.conditions])}

    def rows(self, question: str, k: int, among: Mapping[str, Any]) -> Iterator[Row]:
        """The text of a node without its metadata."""
        retriever = self.source
        if isinstance(retriever, VectorStoreIndex):
            retriever = retriever.as_retriever(similarity_top_k=k, **among)
        for one in retriever.retrieve(question):
            text = one.node.get_content(metadata_mode=MetadataMode.NONE)
            yield Row(one.node.node_id, text, one.node.metadata, one.score)


def _condition(one: FieldCondition) -> MetadataFilter:
    if any(isinstance(value, bool) for value in one.values):
        raise ConfigError(f"LlamaIndex's filters hold no true or false, as for {one.key}; ask without it")
    operator, value = _OPERATORS[one.operator], operand(one)
    if len(one.values) == 1 and one.operator in _OF_ONE:
        operator, value = _OF_ONE[one.operator], one.values[0]
    return MetadataFilter(key=one.key, operator=operator, value=value)


class LlamaIndexLLM(ForeignLLM):
    """A model of LlamaIndex's. These take neither a schema nor words to stop at in one way for all: the prompt says the
    form, and a reply is cut at the words here."""

    framework = "LlamaIndex"
    stops = False

    def __init__(self, model: LLM) -> None:
        super().__init__(model, LLM)

    @staticmethod
    def model_name(model: Any) -> str:
        """As its metadata call it."""
        return str(model.metadata.model_name)

    def events(self, model: Any, call: Call) -> Iterator[Any]:
        """The reply as events."""
        if call.schema is not None:
            self.cannot("schema")
        messages = [ChatMessage(role=one.role, content=encodable(one.content)) for one in call.messages]
        if call.on_text:
            yield from (_event(piece, piece.delta) for piece in model.stream_chat(messages))
        else:
            reply = model.chat(messages)
            yield _event(reply, reply.message.content)


def _event(reply: ChatResponse, text: str | None) -> Any:
    raw = reply.raw.model_dump() if hasattr(reply.raw, "model_dump") else reply.raw
    about = raw if isinstance(raw, Mapping) else {}
    choice = next(iter(about.get("choices") or [about]), about)
    spent = reply.additional_kwargs
    tokens = spent and "prompt_tokens" in spent and (spent["prompt_tokens"], spent.get("completion_tokens", 0))
    return event(text or "", choice, tokens or None)
