"""LangChain's retrievers, vector stores and chat models as components of ours: correct the system that you have.

    surefoot.load({}, parts={"retriever": LangChainRetriever(store), "llm": LangChainLLM(model)})

Needs the extra `langchain`. Their clients go wherever they were set up to go: `[network]` does not bind them.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from surefoot.integrations._foreign import ForeignRetriever, Row, operand
from surefoot.integrations._foreign_llm import ForeignLLM, event
from surefoot.llms._base import Call
from surefoot.text.words import encodable
from surefoot.types.errors import ConfigError, MissingExtra
from surefoot.types.metadata import Filter

try:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages.ai import AIMessage, add_usage
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore, VectorStoreRetriever
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations.from_langchain", "langchain") from error

Where = Callable[[Filter], Mapping[str, Any]]
"""From a filter to the keyword arguments with which a store searches within it."""

_DOLLARS = {"in": "$in", "not in": "$nin", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


def mongo_filter(filter: Filter) -> dict[str, Any]:
    """`where` for stores that filter in MongoDB's operators: Chroma, Pinecone, pgvector, MongoDB."""
    conditions = [{one.key: {_DOLLARS[one.operator]: operand(one)}} for one in filter.conditions]
    return {"filter": {"$and": conditions} if len(conditions) > 1 else conditions[0]}


class LangChainRetriever(ForeignRetriever):
    """The passages of a vector store or a retriever of LangChain's.

    A store, or its `as_retriever()`, finds as many as the pipeline asks for, whatever `k` stands in `search_kwargs`;
    any other retriever as many as it is set up for. LangChain has no filter that all stores understand: `where` makes
    of ours what a store takes, and what its search lets through besides is left out.
    """

    name = "langchain"

    def __init__(self, source: VectorStore | BaseRetriever, where: Where | None = None) -> None:
        super().__init__(source, "LangChain's", VectorStore, BaseRetriever)
        self._where, self._options = where, {}
        if isinstance(source, VectorStoreRetriever) and source.search_type == "similarity":
            self.source, self._options = source.vectorstore, source.search_kwargs

    def among(self, filter: Filter) -> Mapping[str, Any]:
        """What `where` makes of it."""
        if self._where is None or not isinstance(self.source, VectorStore):
            raise ConfigError(
                f"{self.what} cannot filter as it is; ask without a filter, or give LangChainRetriever a vector store "
                "and `where`, a function that makes of a filter what its search takes (`mongo_filter` for Chroma)"
            )
        among = self._where(filter)
        if both := self._options.keys() & among.keys():
            raise ConfigError(f"a filter would replace `{min(both)}` in the search_kwargs of {self.what}; ask without")
        return among

    def rows(self, question: str, k: int, among: Mapping[str, Any]) -> Iterator[Row]:
        """With the store's own scores; `k` goes to stores only."""
        if not isinstance(self.source, VectorStore):
            count = {"k": k} if isinstance(self.source, VectorStoreRetriever) else {}
            return (Row(one.id, one.page_content, one.metadata) for one in self.source.invoke(question, **count))
        options = {**self._options, **among, "k": k}
        try:
            pairs = self.source.similarity_search_with_score(question, **options)
        except NotImplementedError:
            pairs = [(one, None) for one in self.source.similarity_search(question, **options)]
        return (Row(one.id, one.page_content, one.metadata, score) for one, score in pairs)


class LangChainLLM(ForeignLLM):
    """A chat model of LangChain's. A schema goes through `with_structured_output`, where the model has it."""

    framework = "LangChain"

    def __init__(self, model: BaseChatModel) -> None:
        super().__init__(model, BaseChatModel)

    @staticmethod
    def model_name(model: Any) -> str:
        """As its provider calls it, else its class."""
        names = (getattr(model, key, None) for key in ("model_name", "model", "model_id"))
        return next((name for name in names if name and isinstance(name, str)), type(model).__name__)

    def events(self, model: Any, call: Call) -> Iterator[Any]:
        """The reply as events."""
        messages = [(one.role, encodable(one.content)) for one in call.messages]
        options = {"stop": [*call.stop]} if call.stop else {}
        if call.schema is not None and (structured := self._structured(model, call.schema)):
            both = structured.invoke(messages)
            yield _event(both["raw"], json.dumps(both["parsed"], ensure_ascii=False) if both["parsed"] else None)
        elif call.on_text:
            usage = None
            for piece in model.stream(messages, **options):
                usage = add_usage(usage, piece.usage_metadata)
                yield _event(piece, usage=usage)
        else:
            yield _event(model.invoke(messages, **options))

    def _structured(self, model: Any, schema: Mapping[str, Any]) -> Any:
        try:
            return model.with_structured_output({"title": "answer", "description": "-", **schema}, include_raw=True)
        except NotImplementedError:
            return self.cannot("schema")


def _event(message: AIMessage, text: str | None = None, usage: Any = None) -> Any:
    spent = usage or message.usage_metadata
    tokens = (spent["input_tokens"], spent["output_tokens"]) if spent else None
    thoughts = message.additional_kwargs.get("reasoning_content")
    return event(str(message.text) if text is None else text, message.response_metadata, tokens, thoughts)
