"""The pages of a website: those of its sitemap, else those to which its links lead, as far as robots.txt allows."""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from html.parser import HTMLParser
from pathlib import PurePosixPath
from typing import NoReturn
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from surefoot.documents.loaders import MAX_BYTES, formats
from surefoot.documents.loaders._suffixes import LANGUAGES
from surefoot.documents.mirrors import Incomplete, Item, Tell
from surefoot.network import Network, Reply
from surefoot.network.robots import Robots
from surefoot.types.errors import NetworkError

MOST_PAGES = 2_000
"""Pages that are fetched in one run, at most."""
_SECONDS = 60.0
_TYPES = {"text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/plain": ".txt"}
_HTML = (".html", ".htm", ".xhtml")
_MOST_SITEMAPS = 100
_GONE, _CLOSED = (404, 410), (401, 403)

Get = Callable[[str], Reply]


class _Addresses(HTMLParser):
    """The links of a page, or the addresses of a sitemap with the days on which they changed. In Python alone: another
    machine wrote it, and this process has no limits."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.listed: dict[str, str] = {}
        self._within = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a link, unless it asks not to be followed."""
        own, self._within = dict(attrs), tag
        if tag == "a" and own.get("href") and "nofollow" not in (own.get("rel") or ""):
            self.links.append(str(own["href"]))

    def handle_data(self, data: str) -> None:
        """Note an address of a sitemap, or when the last one changed."""
        if self._within == "loc" and data.strip():
            self.listed[data.strip()] = ""
        elif self._within == "lastmod" and self.listed and data.strip():
            self.listed[next(reversed(self.listed))] = data.strip()


def items(source: str, network: Network, tell: Tell) -> Iterator[Item]:
    """The pages at or below the address, without those behind a `?`. A page that its sitemap dates is fetched only once
    it has another date. Raises NetworkError where the first page cannot be had."""
    robots = Robots(network)

    def get(url: str, *others: int) -> Reply:
        reply = network.get(url, most=MAX_BYTES, seconds=_SECONDS, keep=False, leave=robots.ask)
        if reply.status not in (200, *others):
            raise NetworkError(f"{url} answers HTTP {reply.status}")
        return reply

    start = urldefrag(get(source).url).url  # it may redirect
    below = start[: start.rindex("/") + 1] if urlsplit(start).path else f"{start}/"
    listed = _sitemap(get, urljoin(start, "/sitemap.xml"), below, tell)
    waiting = deque(listed or [start])
    known, fetched, failed = set(waiting), 0, 0
    while waiting:
        url = waiting.popleft()
        if day := listed.get(url):
            yield Item(_path(url, below, "") or _path(url, below, ".html"), day, partial(_body, get, url))
            continue
        if fetched == MOST_PAGES:
            raise Incomplete(f"it has more than {MOST_PAGES:,} pages; index a part of it")
        fetched += 1
        try:
            robots.ask(url)
        except NetworkError as error:
            tell(url, str(error))
            continue
        try:
            reply = get(url, *_GONE, *_CLOSED)
        except NetworkError as error:
            failed += 1
            yield Item(_path(url, below, "") or _path(url, below, ".html"), "", partial(_raise, error))
            continue
        if reply.status != 200:
            if reply.status in _CLOSED:
                tell(url, f"is not open to everybody (HTTP {reply.status})")
            continue
        suffix = _TYPES.get(reply.headers.get("content-type", "").partition(";")[0].strip().lower(), "")
        if suffix == ".html" and not listed:
            for link in _Addresses(reply.text()).links:
                found = urldefrag(urljoin(reply.url, link)).url
                if found.startswith(below) and "?" not in found and found not in known:
                    known.add(found)
                    waiting.append(found)
        if path := _path(url, below, suffix):
            yield Item(path, blake2b(reply.body, digest_size=16).hexdigest(), partial(bytes, reply.body))
        elif url in listed or url == start:
            tell(url, "is of a kind that is not read")
    if failed and not listed:
        raise Incomplete(f"{failed} of its pages could not be read, and others may stand behind them")


def _sitemap(get: Get, address: str, below: str, tell: Tell) -> dict[str, str]:
    """The pages of a sitemap and of those that it lists, with their dates; empty: there is none."""
    found: dict[str, str] = {}
    waiting = [address]
    for n, each in enumerate(waiting):
        if n == _MOST_SITEMAPS:
            tell(address, f"lists more than {n} sitemaps; the others are not read")
            break
        try:
            listed = _Addresses(get(each).text()).listed
        except NetworkError:
            if n:
                raise
            return {}
        for url, day in listed.items():
            if urlsplit(url).path.endswith(".xml") and "sitemap" in url:
                waiting.append(url)
            elif url.startswith(below) and "?" not in url:
                found[url] = day
    return found


def _body(get: Get, url: str) -> bytes:
    return get(url).body


def _raise(error: NetworkError) -> NoReturn:
    raise error


def _path(url: str, below: str, suffix: str) -> str:
    """The path of a page's file: as its address, with this suffix; "": its own. Empty: that is none of a document."""
    path = unquote(url.removeprefix(below)) or "index"
    path = f"{path}index" if path.endswith("/") else path
    own = PurePosixPath(path).suffix.lower()
    if not suffix:
        return path if own in formats().keys() - LANGUAGES.keys() else ""
    return path if own == suffix or (suffix == ".html" and own in _HTML) else path + suffix
