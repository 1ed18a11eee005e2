"""Tavily: a search service made for language models."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, ClassVar, Literal

from surefoot.index.splitter import split
from surefoot.network import Network, Reply
from surefoot.network.credentials import address, key
from surefoot.searchers._web import Found, answered, field, passages, refused, requested, rows, sendable
from surefoot.types import Passage

Depth = Literal["basic", "advanced"]
"""The depth of Tavily's search; "advanced" costs two of its credits instead of one."""

_MOST_RESULTS = 20  # of one search; more is an error there
_LONGEST_QUERY = 400  # characters; a longer one is an error there
_REMEDIES = {
    401: "check the key in the environment variable {key_env}",
    403: "check what the key in the environment variable {key_env} is allowed",
    429: "wait, or use another searcher",
    432: "the plan's credits are used up: wait for the next month, or change the plan",
    433: "the limit of pay-as-you-go is reached: raise it",
}


@dataclass(eq=False)
class Tavily:
    """Asks Tavily; needs a key.

    `depth` is "basic" or "advanced". `raw_content` adds the pages' whole text, cut into passages, after the snippets.
    Passages have Tavily's score. `key_env` names the environment variable that holds the key, which goes to `base_url`
    alone. Raises ConfigError where there is no key.
    """

    name: ClassVar[str] = "tavily"
    network: Network
    depth: Depth = "basic"
    raw_content: bool = False
    key_env: str = "TAVILY_API_KEY"
    base_url: str = "https://api.tavily.com"

    def __post_init__(self) -> None:
        self._key = key(f"searcher '{self.name}'", self.key_env)
        self._url = f"{address(self.base_url)}/search"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """Its snippets, best first; then, with `raw_content`, the pages' passages, one of each page in turn. Raises
        SearchError where Tavily refuses, as Throttled where a limit is reached."""
        if not (text := sendable(query, _LONGEST_QUERY)):
            return ()
        request = {
            "query": text,
            "search_depth": self.depth,
            "max_results": min(k, _MOST_RESULTS),
            "include_raw_content": "text" if self.raw_content else False,
        }
        secret = {"Authorization": f"Bearer {self._key}"}
        return requested(self.network.post, lambda reply: self._passages(reply, k), self._url, request, secret=secret)

    def _passages(self, reply: Reply, k: int) -> tuple[Passage, ...]:
        if reply.status != 200:
            remedies = {status: remedy.format(key_env=self.key_env) for status, remedy in _REMEDIES.items()}
            raise refused("Tavily", reply, remedies, quota=(429, 432, 433), secret=self._key)
        found = rows(answered("Tavily", reply, "results"), "results")
        scores = {field(row, "url"): _score(row.get("score")) for row in reversed(found)}
        return tuple(replace(passage, score=scores.get(passage.url or "")) for passage in passages(_found(found), k))


def _score(value: Any) -> float | None:
    """Tavily's score of how well a row fits the query, in [0, 1]; None: it does not say."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _found(found: list[dict[str, Any]]) -> Iterator[Found]:
    pages = []
    for row in found:
        url, title, raw = field(row, "url"), field(row, "title"), field(row, "raw_content")
        yield url, title, field(row, "content"), "snippet"
        pages.append([(url, title, raw[start:end], "page") for start, end in split(raw)])
    yield from (piece for turn in zip_longest(*pages) for piece in turn if piece)
