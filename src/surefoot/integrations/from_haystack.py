"""Haystack's document stores, behind any of their retrievers, as a retriever of ours: correct the system that you have.

    surefoot.load({}, parts={"retriever": HaystackRetriever(InMemoryBM25Retriever(store))})

Needs the extra `haystack`. Their clients go wherever they were set up to go: `[network]` does not bind them.
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from inspect import signature
from operator import and_
from typing import Any

from surefoot.integrations._foreign import ForeignRetriever, Row, foreign, operand
from surefoot.types.errors import ConfigError, FieldFault, MissingExtra
from surefoot.types.metadata import NO_FILTER, FieldCondition, Filter
from surefoot.types.protocols import Embedder, embedded_questions

try:
    from haystack.core.component import Component
except ModuleNotFoundError as error:
    raise MissingExtra("surefoot.integrations.from_haystack", "haystack") from error


class HaystackRetriever(ForeignRetriever):
    """The passages that a retriever component finds in its document store, by words, by vectors, or by both.

    One that wants the question's vector needs `embedder`, by which the documents were embedded: a text embedder of
    Haystack's, or an `Embedder` of ours.
    """

    name = "haystack"

    def __init__(self, component: Component, embedder: Any = None) -> None:
        super().__init__(component, "Haystack's", Component)
        self._embedder, self._takes = embedder, {*signature(component.run).parameters}
        if not self._takes & {"query", "query_embedding"}:
            raise ConfigError(f"{self.what} takes no query; give a retriever, such as InMemoryBM25Retriever(store)")
        if "query_embedding" in self._takes and embedder is None:
            raise ConfigError(f"{self.what} wants the question's vector; give HaystackRetriever an `embedder` too")

    def among(self, filter: Filter) -> Mapping[str, Any]:
        """The filter, beside the component's own, which many components would let it replace."""
        if "filters" not in self._takes:
            raise ConfigError(f"{self.what} cannot filter; ask without a filter")
        with foreign(self.what):
            own = self.source.to_dict()["init_parameters"].get("filters")
        return {
            "filters": {"operator": "AND", "conditions": [*([own] if own else []), *map(_condition, filter.conditions)]}
        }

    def rows(self, question: str, k: int, among: Mapping[str, Any]) -> Iterator[Row]:
        """Costs an embedding where the component wants one."""
        vector = self._vector(question) if "query_embedding" in self._takes else None
        inputs = {"query": question, "query_embedding": vector, "top_k": k}
        found = self.source.run(**{key: inputs[key] for key in inputs if key in self._takes}, **among)
        return (Row(one.id, one.content, one.meta, one.score) for one in found["documents"])

    def _vector(self, question: str) -> Any:
        if isinstance(self._embedder, Embedder):
            return embedded_questions(self._embedder, [question])[0].tolist()
        if hasattr(self._embedder, "warm_up"):
            self._embedder.warm_up()
        return self._embedder.run(text=question)["embedding"]


def filter_of(filters: Mapping[str, Any] | None) -> Filter:
    """A filter as Haystack writes it: a comparison, or conditions that all must hold. Raises FieldFault for any
    other."""
    if not filters:
        return NO_FILTER
    match filters:
        case {"field": str(field), "operator": operator, "value": value}:
            return Filter.of({field.removeprefix("meta."): {"=" if operator == "==" else operator: value}})
        case {"operator": "AND", "conditions": [*conditions]}:
            return reduce(and_, map(filter_of, conditions), NO_FILTER)
    raise FieldFault("a filter has field, operator and value, or conditions joined by AND; no others are known")


def _condition(one: FieldCondition) -> dict[str, Any]:
    return {"field": f"meta.{one.key}", "operator": one.operator, "value": operand(one)}
