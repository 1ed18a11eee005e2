"""Opens the pages behind a searcher's hits and cuts them into paragraphs (CRAG paper, section 4.5)."""

import re
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.util import find_spec
from operator import itemgetter
from typing import Literal
from urllib.parse import urldefrag, urlsplit

from surefoot.documents.loaders import Unreadable
from surefoot.documents.reading import Request
from surefoot.documents.storable import CutDocument
from surefoot.index.readers import READERS
from surefoot.network import Network, Reply
from surefoot.network.pace import left
from surefoot.network.robots import Robots
from surefoot.run import cancel, meter
from surefoot.text.words import content_words, stem, words
from surefoot.types import Passage
from surefoot.types.errors import ComponentError, MissingExtra, SearchError
from surefoot.types.protocols import Searcher
from surefoot.types.ranges import Count, Positive

Mode = Literal["all", "wiki"]
"""The hits that are opened: all of them, or only pages of Wikipedia."""

_DECLARED = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/pdf": "pdf",
    "text/plain": "txt",
    "text/markdown": "txt",
}
_HTML = rb"(?i)<(?:!doctype\s+html|html|head|body)\b"

_Page = tuple[tuple[Passage, ...], str]
"""The passages of a hit, and the reason why they are only its snippet; empty: they are those of the page."""


@dataclass(eq=False)
class Pages:
    """Opens the hits of another searcher, web pages, PDFs and plain texts, and gives their paragraphs.

    `of` is that searcher. `mode` "all" opens every hit; "wiki" opens pages of Wikipedia and drops other hits (the paper
    has both). `hits` are opened at most, side by side, within `seconds` in all, where robots.txt allows it; a page may
    have `most` bytes. Its first bytes decide its type before its header does. A page that does not open, is too slow,
    or says less than its hit's snippet is replaced by that snippet, and the step says why.
    """

    of: Searcher
    network: Network
    mode: Mode = "all"
    hits: Count = 8
    seconds: Positive = 15.0
    most: int = 5_000_000

    def __post_init__(self) -> None:
        if find_spec("trafilatura") is None:
            raise MissingExtra("pages, which reads the main text of what a search found,", "web")
        self.name = f"pages:{self.of.name}"
        self._robots = Robots(self.network)
        self._wiki = self.mode == "wiki"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """At most `k` paragraphs, page after page in the order of the hits, each page's in the order of its text. Where
        there are more, each page in turn gives the paragraph that shares most words with the query."""
        pages = self._visited(self._wanted(self.of.search(query, self.hits)))
        if reasons := [error for _, error in pages if error]:
            named = "; ".join(dict.fromkeys(reasons))
            meter.degrade(
                f"{len(reasons)} of {len(pages)} pages did not open, their snippets took their place: {named}"
            )
        return _best(query, _once([found for found, _ in pages]), k)

    def _wanted(self, hits: Sequence[Passage]) -> list[Passage]:
        by_address: dict[str, Passage] = {}
        for hit in hits:
            by_address.setdefault(urldefrag(hit.url or hit.id).url.rstrip("/"), hit)
        wanted = [hit for hit in by_address.values() if not self._wiki or _is_wikipedia(hit.url)]
        if hits and not wanted:
            meter.degrade(f"none of {len(hits)} hits of {self.of.name} is a page of Wikipedia")
        return wanted[: self.hits]

    def _visited(self, hits: Sequence[Passage]) -> list[_Page]:
        ends = time.monotonic() + min(self.seconds, left())
        READERS.warm(len(hits))  # while the pages are on their way
        futures = [cancel.beside(self._read, hit, ends) for hit in hits]
        return [_awaited(future, hit, ends) for future, hit in zip(futures, hits, strict=True)]

    def _read(self, hit: Passage, ends: float) -> tuple[Passage, ...]:
        if not _web_host(hit.url):
            raise SearchError(f"'{hit.url or ''}' is no web address")
        seconds = ends - time.monotonic()
        url, most, leave = hit.url or "", self.most, self._robots.ask
        reply = self.network.get(url, most=most, seconds=seconds, retries=0, leave=leave)
        if self._wiki and not _is_wikipedia(reply.url):
            raise SearchError(f"{_host(url)} leads away from Wikipedia, to {_host(reply.url)}")
        if reply.status != 200:
            raise SearchError(f"{_host(reply.url)} answers HTTP {reply.status}")
        found = _document(reply, hit, ends).passages
        # A cookie wall, or a page that scripts would fill.
        if sum(len(passage.text.split()) for passage in found) < len(hit.text.split()):
            raise Unreadable("says less than its snippet")
        return tuple(replace(passage, source="external", via="page", trust="web") for passage in found)


def _awaited(future: Future[tuple[Passage, ...]], hit: Passage, ends: float) -> _Page:
    try:
        return cancel.result(future, ends - time.monotonic()), ""
    except TimeoutError:
        why = f"{_host(hit.url)} was not read in time"
    except Unreadable as failed:
        why = f"{_host(hit.url)} {failed.why}"
    except ComponentError as failed:
        why = str(failed)
    return ((replace(hit, source="external", via=hit.via or "snippet"),) if hit.text.strip() else ()), why


def _document(reply: Reply, hit: Passage, ends: float) -> CutDocument:
    """The page as a document, under its own title or else its hit's."""
    kind = _kind(reply)
    name = f"{hit.title.replace('/', ' ').strip() or _host(reply.url)}.{kind}"
    body = reply.body if kind == "pdf" else _text(reply)
    return READERS.page(Request(name, reply.url, len(body), body=body), ends - time.monotonic())


def _kind(reply: Reply) -> str:
    """The suffix to read it by; servers declare an error page as a PDF, and a PDF as plain bytes."""
    declared = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    head = reply.body[:1024]
    if b"%PDF-" in head:
        return "pdf"
    if re.search(_HTML, head):
        return "html"
    if declared not in _DECLARED:
        raise Unreadable(
            f"gives {declared[:60] or 'something of no declared type'}, which is neither HTML, PDF nor text"
        )
    return _DECLARED[declared]


def _text(reply: Reply) -> bytes:
    """The text in UTF-8 where the header says in what it is; the reader finds out what else it may be."""
    text = reply.text()
    if "\0" in text:
        raise Unreadable("gives binary data that it declares as text")
    return text.encode() if reply.charset else reply.body


def _once(pages: Sequence[tuple[Passage, ...]]) -> list[list[Passage]]:
    """The pages without paragraphs that came before, since two addresses may lead to one page."""
    first = {passage.id: page for page, found in reversed([*enumerate(pages)]) for passage in found}
    return [[passage for passage in found if first[passage.id] == page] for page, found in enumerate(pages)]


def _best(query: str, pages: Sequence[Sequence[Passage]], k: int) -> tuple[Passage, ...]:
    wanted = {stem(word) for word in content_words(query)}
    turns = []
    for page, paragraphs in enumerate(pages):
        shared = [len(wanted & {stem(word) for word in words(paragraph.text)}) for paragraph in paragraphs]
        order = sorted(range(len(paragraphs)), key=lambda n: -shared[n])
        turns += [(turn, page, n) for turn, n in enumerate(order)]
    chosen = sorted(sorted(turns)[:k], key=itemgetter(1, 2))
    return tuple(pages[page][n] for _, page, n in chosen)


def _web_host(url: str | None) -> str:
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in ("http", "https") and parts.username is None else ""


def _host(url: str | None) -> str:
    return _web_host(url) or url or "a hit"


def _is_wikipedia(url: str | None) -> bool:
    return _web_host(url).endswith(".wikipedia.org")
