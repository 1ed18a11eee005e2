"""Serper: Google's results as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from surefoot.network import Network, Reply
from surefoot.network.credentials import address, key
from surefoot.searchers._web import Found, answered, field, passages, refused, requested, rows, sendable
from surefoot.types import Passage
from surefoot.types.errors import Throttled

_MOST_RESULTS = 10  # of one search; one that asks for more costs twice as much
_LONGEST_QUERY = 2000  # characters; Google itself reads the first 32 words


@dataclass(eq=False)
class Serper:
    """Asks Google through Serper; needs a key.

    `country` and `language` are codes of two letters, as Google has them (gl and hl). `key_env` names the environment
    variable that holds the key, which goes to `base_url` alone. Raises ConfigError where there is no key.
    """

    name: ClassVar[str] = "serper"
    network: Network
    country: str = "us"
    language: str = "en"
    key_env: str = "SERPER_API_KEY"
    base_url: str = "https://google.serper.dev"

    def __post_init__(self) -> None:
        self._key = key(f"searcher '{self.name}'", self.key_env)
        self._url = f"{address(self.base_url)}/search"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """Google's direct answer and its knowledge box, where it has them, then the snippets. Raises SearchError where
        Serper refuses, as Throttled where a limit is reached."""
        if not (text := sendable(query, _LONGEST_QUERY)):
            return ()
        request = {"q": text, "num": min(k, _MOST_RESULTS), "gl": self.country, "hl": self.language}
        secret = {"X-API-KEY": self._key}
        return requested(
            self.network.post, lambda reply: passages(self._found(reply), k), self._url, request, secret=secret
        )

    def _found(self, reply: Reply) -> Iterator[Found]:
        if reply.status == 200:
            return _found(answered("Serper", reply, "organic"))
        if "not enough credits" in reply.text().casefold():  # it says so with HTTP 400
            raise Throttled(f"Serper has no credits left (HTTP {reply.status}); buy some, or use another searcher")
        wrong = f"check the key in the environment variable {self.key_env}"
        raise refused("Serper", reply, {401: wrong, 403: wrong, 429: "wait"}, secret=self._key)


def _found(answer: dict[str, Any]) -> Iterator[Found]:
    best, thing = answer.get("answerBox"), answer.get("knowledgeGraph")
    yield field(best, "link"), field(best, "title"), field(best, "snippet") or field(best, "answer"), "answer box"
    yield field(thing, "descriptionLink"), field(thing, "title"), _described(thing), "knowledge graph"
    for row in rows(answer, "organic"):
        yield field(row, "link"), field(row, "title"), field(row, "snippet"), "snippet"


def _described(thing: Any) -> str:
    """The knowledge box as sentences: title and type, description, attributes."""
    listed = thing.get("attributes") if isinstance(thing, dict) else None
    attributes = [f"{name}: {field(listed, name)}." for name in listed] if isinstance(listed, dict) else []
    kind = f"{field(thing, 'title')}: {field(thing, 'type')}." if field(thing, "type") else ""
    return " ".join(part for part in (kind, field(thing, "description"), *attributes) if part)
