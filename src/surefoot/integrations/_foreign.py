"""What other frameworks give, as values of ours: their documents as passages, their errors as EndpointError."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from math import isfinite
from numbers import Real
from pathlib import PureWindowsPath
from typing import Any

from surefoot.llms._replies import OVERFLOW
from surefoot.network.credentials import excerpt
from surefoot.retrievers.hybrid import CONSTANT
from surefoot.run import meter
from surefoot.text.ids import of_text
from surefoot.text.places import anchored
from surefoot.text.words import encodable
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, ContextOverflow, EndpointError, SurefootError
from surefoot.types.metadata import NO_FILTER, FieldCondition, Filter, usable

FEWEST = 10
"""Documents that are fetched at least: of one alone nobody sees whether its number is a similarity or a distance."""
_ADDRESSES = ("url", "file_path", "source", "file_name")
_SCORES = ("relevance_score", "score", "_score")
_LONGEST_ID = 200  # characters


@contextmanager
def foreign(what: str) -> Iterator[None]:
    """Turn what another project's code raises into an EndpointError, or a ContextOverflow, whose text has no key, login
    or address with one. Errors of ours pass."""
    try:
        yield
    except SurefootError:
        raise
    except Exception as error:  # the border to code that raises what it likes
        reason = encodable(excerpt(str(error))) or "it does not say why"
        message = (
            f"{what} failed with {type(error).__name__}: {reason}; make the same call without Surefoot to see more"
        )
        if OVERFLOW.search(str(error)):
            raise ContextOverflow(message) from error
        status = getattr(error, "status_code", None)
        raise EndpointError(message, status if isinstance(status, int) else None) from error


@dataclass(frozen=True, slots=True)
class Row:
    """A document of another framework."""

    id: str | None
    text: str | None
    metadata: Mapping[str, Any]
    score: Any = None
    """A similarity or a distance; None: the metadata may hold it, as those of rerankers do."""


class ForeignRetriever(ABC):
    """A retriever of another framework."""

    name: str

    def __init__(self, source: Any, what: str, *kinds: type) -> None:
        if not isinstance(source, kinds):
            wanted = " or a ".join(kind.__name__ for kind in kinds)
            raise ConfigError(f"{type(self).__name__} takes a {wanted}, not a {type(source).__name__}")
        self.source: Any = source
        self.what = f"{what} {type(source).__name__}"

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages; none for a blank question. Raises ConfigError where it cannot filter, EndpointError for
        whatever the framework raises."""
        among = self.among(filter) if filter else {}
        if not question.strip():
            return ()
        with foreign(self.what):
            return found(self.rows(encodable(question), max(k, FEWEST), among), k, filter)

    @abstractmethod
    def among(self, filter: Filter) -> Mapping[str, Any]:
        """The arguments of a search within the filter. Raises ConfigError where there are none."""

    @abstractmethod
    def rows(self, question: str, k: int, among: Mapping[str, Any]) -> Iterable[Row]:
        """At least `k` documents, best first, where there are as many and the framework can be told how many."""


def operand(one: FieldCondition) -> Any:
    """What a condition compares with: a list for "in" and "not in", else a value."""
    return [*one.values] if one.operator in ("in", "not in") else one.values[0]


def found(rows: Iterable[Row], k: int, filter: Filter) -> tuple[Passage, ...]:
    """The first `k` different passages of the rows, which come best first, that `filter` lets through.

    Scores that fall are kept, distances d become 1 / (1 + d), and without either a passage has the worth of its rank.
    Of one document twice the first stays. A row without a text is left out, and the step says so.
    """
    listed = [*rows]
    full = [row for row in listed if row.text and row.text.strip()]
    if lost := len(listed) - len(full):
        meter.degrade(f"{lost} of {len(listed)} documents hold no text and were left out")
    passages: dict[str, Passage] = {}
    for row, score in zip(full, _scores([_score(row) for row in full]), strict=True):
        one = _passage(row, score)
        if (twin := passages.get(one.id)) and twin.text != one.text:
            one = replace(one, id=_made_id(one))
        if filter.matches(one.meta):
            passages.setdefault(one.id, one)
    return tuple(islice(passages.values(), k))


def _score(row: Row) -> Any:
    return (
        row.score
        if row.score is not None
        else next((row.metadata[key] for key in _SCORES if key in row.metadata), None)
    )


def _scores(values: Sequence[Any]) -> list[float]:
    numbers = [float(value) for value in values if isinstance(value, Real) and isfinite(value)]
    if len(numbers) == len(values):
        if all(one >= other for one, other in pairwise(numbers)):
            return numbers
        if numbers[0] >= 0 and all(one <= other for one, other in pairwise(numbers)):
            return [1 / (1 + distance) for distance in numbers]
    return [1 / (CONSTANT + rank) for rank in range(1, len(values) + 1)]


def _passage(row: Row, score: float) -> Passage:
    """`url` has the page behind "#" where the metadata names one; fields that a filter cannot hold are not kept."""
    metadata, address = row.metadata, _text(row.metadata, *_ADDRESSES)
    title = _text(metadata, "title") or PureWindowsPath(address).stem  # which knows both slashes
    url = anchored(address, _page(metadata)) if address else None
    one = Passage("", encodable(row.text or ""), title, url=url, score=score, meta=usable(metadata)[0])
    named = row.id or metadata.get("_id")  # Qdrant's and Elasticsearch's adapters leave it in the metadata; it may be 0
    own = "" if named is None else str(named)
    fit = own.isprintable() and len(own) <= _LONGEST_ID
    return replace(one, id=own if own and fit else _made_id(one))


def _made_id(one: Passage) -> str:
    return of_text(one.url or "", one.title, 0, one.text)


def _text(metadata: Mapping[str, Any], *keys: str) -> str:
    """The first of these that is a text on one line."""
    texts = (metadata.get(key) for key in keys)
    return encodable(next((" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip()), ""))


def _page(metadata: Mapping[str, Any]) -> str:
    """Where a reader finds it in its file. LangChain's loaders, which write `total_pages` too, count from 0."""
    number, label = metadata.get("page_number", metadata.get("page")), metadata.get("page_label")
    if isinstance(number, int):
        return f"page={number + ('page_number' not in metadata and 'total_pages' in metadata)}"
    return f"page={label}" if isinstance(label, str) and label.isdecimal() else ""
