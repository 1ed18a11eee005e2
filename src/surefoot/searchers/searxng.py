"""SearXNG (or searx): a search engine of search engines that you can run yourself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from surefoot.network import Network, Reply
from surefoot.network.credentials import address
from surefoot.run import meter
from surefoot.searchers._web import Found, answered, field, passages, refused, requested, rows, sendable
from surefoot.types import Passage
from surefoot.types.errors import SearchError, Throttled

_JSON = (
    "its JSON output is off; on an instance of your own write 'formats: [html, json]' under 'search:' in settings.yml "
    "and restart it; others mostly keep it off"
)
_LIMITER = "its limiter holds us off: wait; on an instance of your own 'limiter: false' under 'server:' switches it off"
_THROTTLES = ("captcha", "too many requests", "access denied", "suspended", "ratelimit", "rate limit")


@dataclass(eq=False)
class Searxng:
    """Asks a SearXNG instance, which must have its JSON output on; no key.

    `engines` and `categories` are names with commas between them, as the instance has them; empty: its defaults.
    `language` is a code like "en" or "de-CH", or "all".
    """

    name: ClassVar[str] = "searxng"
    network: Network
    base_url: str = "http://127.0.0.1:8888"
    engines: str = ""
    categories: str = ""
    language: str = "en"

    def __post_init__(self) -> None:
        self._url = f"{address(self.base_url)}/search"
        chosen = {"engines": self.engines, "categories": self.categories, "language": self.language}
        self._chosen = {name: value for name, value in chosen.items() if value}

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """Its infoboxes, then the snippets of all its engines in its order.

        The step names each engine that did not answer. Raises SearchError where JSON is off or every engine failed, as
        Throttled where they failed for too many requests.
        """
        if not (text := sendable(query)):
            return ()
        params = {"q": text, "format": "json", **self._chosen}
        answer = requested(
            self.network.get, self._read, self._url, params, worth=lambda answer: passages(_found(answer), 1)
        )
        found = passages(_found(answer), k)
        _tell(answer, found)
        return found

    def _read(self, reply: Reply) -> dict[str, Any]:
        if reply.status != 200:
            raise refused(f"searxng at {self._url}", reply, {403: _JSON, 429: _LIMITER})
        if "html" in reply.headers.get("content-type", ""):
            raise SearchError(f"searxng at {self._url} answered with a page; {_JSON}")
        return answered(f"searxng at {self._url}", reply, "results")


def _found(answer: dict[str, Any]) -> Iterator[Found]:
    for box in rows(answer, "infoboxes"):
        address = next((field(row, "url") for row in rows(box, "urls")), "")
        attributes = [f"{field(row, 'label')}: {field(row, 'value')}." for row in rows(box, "attributes")]
        text = " ".join(part for part in (field(box, "content"), *attributes) if part)
        yield address or field(box, "id"), field(box, "infobox"), text, "infobox"
    for row in rows(answer, "results"):
        yield field(row, "url"), field(row, "title"), field(row, "content"), "snippet"


def _tell(answer: dict[str, Any], found: tuple[Passage, ...]) -> None:
    """Name the engines that failed; where nothing was found, raise, since that is no empty result."""
    named = answer.get("unresponsive_engines")
    pairs = [pair for pair in named if isinstance(pair, list) and pair] if isinstance(named, list) else []
    silent = ", ".join(f"{pair[0]} ({', '.join(map(str, pair[1:]))})" for pair in pairs)
    if silent and found:
        meter.degrade(f"searxng went without {silent}")
    elif silent:
        message = f"searxng found nothing because its engines failed: {silent}; wait, or name other engines"
        throttled = any(sign in message.casefold() for sign in _THROTTLES)
        raise Throttled(message) if throttled else SearchError(message)
