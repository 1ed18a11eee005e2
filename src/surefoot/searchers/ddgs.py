"""DuckDuckGo, through its page for browsers without scripts."""

from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import parse_qs, urljoin, urlsplit

from lxml import etree, html

from surefoot.network import Network, Reply
from surefoot.network.credentials import address
from surefoot.searchers._web import Found, passages, refused, requested, sendable
from surefoot.types import Passage
from surefoot.types.errors import SearchError, Throttled

_SPACING = 1.0  # seconds; whoever asks faster is soon sent away
_LONGEST_QUERY = 490  # characters; DuckDuckGo finds nothing for more than 499
_REMEDY = "wait an hour, or use another searcher: searxng"
_THROTTLES = (202, 403, 418, 429)
_TURNED_AWAY = "//form[@id='challenge-form'] | //*[contains(@class, 'anomaly-modal')]"
_RESULTS = "//*[contains(@class, 'result__body')][not(ancestor-or-self::*[contains(@class, 'result--ad')])]"
_TITLE = ".//a[contains(@class, 'result__a')]"
_SNIPPET = ".//*[contains(@class, 'result__snippet')]"
_NOTHING = "//*[contains(@class, 'no-results')]"


@dataclass(eq=False)
class Ddgs:
    """Asks DuckDuckGo without a key; soon throttled, so only for a person's own questions, a few a minute.

    `region` is one of DuckDuckGo's, such as "us-en", or "wt-wt" for none. This does not use the package ddgs, which
    poses as a browser chosen at random, goes past our guard, and turns a refusal into "no results".
    """

    name: ClassVar[str] = "ddgs"
    network: Network
    region: str = "us-en"
    base_url: str = "https://html.duckduckgo.com/html"

    def __post_init__(self) -> None:
        self._url = f"{address(self.base_url)}/"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """The snippets of its first page, about ten, without advertisements. Raises Throttled where DuckDuckGo takes us
        for a robot, SearchError for a page of an unknown form."""
        if not (text := sendable(query, _LONGEST_QUERY)):
            return ()
        params = {"q": text, "kl": self.region}
        found = requested(self.network.get, self._found, self._url, params, spacing=_SPACING, retries=0)
        return passages(found, k)

    def _found(self, reply: Reply) -> list[Found]:
        return [
            (
                self._target(link.get("href", "")),
                _text(link),
                " ".join(map(_text, found.xpath(_SNIPPET)[:1])),
                "snippet",
            )
            for found in _read(reply).xpath(_RESULTS)
            for link in found.xpath(_TITLE)[:1]
        ]

    def _target(self, href: str) -> str:
        """The target of a link, from `uddg` where it goes through DuckDuckGo's counter; empty where it has none."""
        try:
            url = urljoin(self._url, href)
            by_way = "/l/" in url and parse_qs(urlsplit(url).query).get("uddg")
        except ValueError:
            return ""
        return by_way[0] if by_way else url


def _read(reply: Reply) -> html.HtmlElement:
    """The page. Raises unless it has results or says that there are none."""
    if reply.status != 200:
        raise refused("DuckDuckGo", reply, dict.fromkeys(_THROTTLES, _REMEDY), _THROTTLES)
    try:
        page = html.document_fromstring(reply.text().encode(), parser=html.HTMLParser(encoding="utf-8"))
    except etree.ParserError as error:
        raise SearchError(f"DuckDuckGo sent an empty page; {_REMEDY}") from error
    if page.xpath(_TURNED_AWAY):
        raise Throttled(f"DuckDuckGo takes us for a robot and shows a captcha; {_REMEDY}", reply.wait)
    if not page.xpath(_RESULTS) and not page.xpath(_NOTHING):
        raise SearchError("DuckDuckGo sent a page with neither results nor 'no results'; has it changed? use searxng")
    return page


def _text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())
