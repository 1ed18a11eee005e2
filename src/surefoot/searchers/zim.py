"""A ZIM file: a whole encyclopedia on this machine (Kiwix has them at library.kiwix.org)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import ClassVar
from urllib.parse import quote, unquote

from libzim.reader import Archive, Item
from libzim.search import Query, Searcher
from libzim.suggestion import SuggestionSearcher

from surefoot.documents.loaders import Unreadable
from surefoot.documents.reading import Article, Request
from surefoot.index.readers import READERS
from surefoot.network.pace import left
from surefoot.run import meter
from surefoot.searchers._encyclopedia import AMBIGUOUS, DIRECT, SUFFIX, TEXT, Page, laid_out, looked_up
from surefoot.searchers._web import external, sendable
from surefoot.text.subject import Subject, bears, fit, spellings, subject_of
from surefoot.text.words import bare, content_words, fold
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, SearchError

_TITLES = 100
"""Suggestions that are looked at for a name; a common name has as many pages."""
_PAGES = 12
"""Pages of a list or a search that are opened."""
_MOST = 5_000_000
"""Bytes of a page, as for one of the web."""
_SECONDS = 60.0
"""Seconds for the pages of one search. A page of a megabyte takes two, and some twenty may be opened."""
_LONGEST = 250
"""Characters of a query; a longer one is no title."""


class Zim:
    """Searches a ZIM file, such as Kiwix's of Wikipedia, as `wikipedia` searches Wikipedia; nothing leaves the machine.

    It tries in turn, until a page is what the relation asks for: the title, in any case and through redirects, and the
    title with a kind behind it ("X (politician)"); the links of a disambiguation page; titles that begin with the name;
    the file's full-text index. A disambiguation page is one whose markup, or a redirect from "X (disambiguation)", says
    so. Raises ConfigError for a file that cannot be opened.
    """

    name: ClassVar[str] = "zim"

    def __init__(self, path: str | Path) -> None:
        self._file = Path(path)
        try:
            self._archive = Archive(self._file)
        except RuntimeError as error:
            raise ConfigError(f"{path} is no ZIM file that can be read ({error}); download it again") from error
        self._lock = Lock()

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """Paragraphs of the best page and of others that may be meant, in the order of `wikipedia`.

        A page over a limit of the reading processes is left out, and the step says why. Raises SearchError where
        nothing is found without it, for a damaged file, and where only a full-text index could help and there is none.
        """
        if not (line := sendable(query, _LONGEST)):
            return ()
        about = subject_of(line)
        articles = Articles()
        READERS.warm(1)  # while the titles are looked up
        with self._reading():
            pages = self._found(about, articles)
            found = laid_out(pages, articles.read[pages[0].url].extract, about) if pages else ()
        if why := articles.unread:
            meter.degrade(self._incomplete(why))
        once = {passage.id: passage for passage in (external(*parts, "plain") for parts in found)}
        return tuple(islice(once.values(), k))

    def _incomplete(self, why: Sequence[str]) -> str:
        return f"pages of {self._file.name} were left out: {'; '.join(why)}"

    def _found(self, about: Subject, articles: Articles) -> list[Page]:
        suggested = self._suggested(about.entity)
        chosen = looked_up(
            about,
            lambda _: self._named(about, suggested, articles),
            lambda pages: self._linked(about, [page for page in pages if page.ambiguous], articles),
            lambda _: self._extended(about, suggested, articles),
            lambda _: self._mentioning(about, articles),
        )
        if not chosen and articles.unread:
            raise SearchError(self._incomplete(articles.unread))
        if not chosen and not self._archive.has_fulltext_index:
            raise SearchError(f"{self._file.name} has no page of that title, and no full-text index to look further")
        return chosen

    def _named(self, about: Subject, suggested: Sequence[str], articles: Articles) -> list[Page]:
        folded = {fold(spelling) for spelling in spellings(about)}
        plain = [*spellings(about), *(title for title in suggested if fold(title) in folded)]
        typed = [f"{about.entity} ({kind})" for kind in ("disambiguation", *about.kinds)]
        return [*self._titled(plain, DIRECT, articles), *self._titled(typed, SUFFIX, articles)]

    def _linked(self, about: Subject, ambiguous: Iterable[Page], articles: Articles) -> list[Page]:
        links = [link for page in ambiguous for link in self._links(page, articles.read[page.url])]
        links.sort(key=lambda link: (not bears(link[0], link[1], about), -fit(link[0], link[1], about)))
        pages = self._titled((title for title, _ in links[:_PAGES]), AMBIGUOUS, articles)
        return [page for page in pages if bears(page.title, page.lead, about)]

    def _extended(self, about: Subject, suggested: Sequence[str], articles: Articles) -> list[Page]:
        """Titles that are the name and something more, in brackets or after a comma; likeliest first."""
        name = fold(about.entity)
        longer = [title for title in suggested if fold(bare(title)) == name or fold(title).startswith(f"{name}, ")]
        longer.sort(key=lambda title: -fit(title, "", about))
        return list(self._titled(longer[:_PAGES], SUFFIX, articles))

    def _mentioning(self, about: Subject, articles: Articles) -> list[Page]:
        if not self._archive.has_fulltext_index:
            meter.degrade(f"{self._file.name} has no full-text index: only its titles were searched")
            return []
        query = Query().set_query(" ".join(content_words(about.entity)))
        with self._lock:
            paths = list(Searcher(self._archive).search(query).getResults(0, _PAGES))
        return [page for page in self._at(paths, TEXT, articles) if bears(page.title, page.lead, about)]

    def _suggested(self, name: str) -> list[str]:
        """Titles that hold the words of a name, or begin with them."""
        with self._lock:  # libzim is safe between threads, but for its searches
            paths = list(SuggestionSearcher(self._archive).suggest(name).getResults(0, _TITLES))
        return [self._archive.get_entry_by_path(path).title for path in paths]

    def _titled(self, titles: Iterable[str], via: str, articles: Articles) -> Iterator[Page]:
        there = (title for title in dict.fromkeys(titles) if self._archive.has_entry_by_title(title))
        return self._at((self._archive.get_entry_by_title(title).path for title in there), via, articles)

    def _at(self, paths: Iterable[str], via: str, articles: Articles) -> Iterator[Page]:
        """The pages at these paths that can be read, redirects followed."""
        for path in paths:
            item = self._archive.get_entry_by_path(path).get_item()
            url = f"{self._file.name}/{quote(item.path)}"
            if item.mimetype.startswith("text/html") and (article := articles.at(url, item)):
                ambiguous = article.ambiguous or self._disambiguates(item.title, item.path)
                lead = f"\n{article.extract}".partition("\n== ")[0]
                yield Page(item.title, lead, url, via, ambiguous)

    def _disambiguates(self, title: str, path: str) -> bool:
        """True where "X (disambiguation)" leads to the page, as on Wikipedia for every disambiguation page."""
        longer = f"{title.removesuffix(' (disambiguation)')} (disambiguation)"
        if not self._archive.has_entry_by_title(longer):
            return False
        return bool(self._archive.get_entry_by_title(longer).get_item().path == path)

    def _links(self, page: Page, article: Article) -> Iterator[tuple[str, str]]:
        """The title behind the first link of each line, and the line."""
        path = unquote(page.url.removeprefix(f"{self._file.name}/"))
        for address, line in article.links:
            href = address.partition("#")[0]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(href)))
            if href and self._archive.has_entry_by_path(target):
                yield self._archive.get_entry_by_path(target).title, line

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (RuntimeError, KeyError) as error:  # raised by libzim on damaged bytes
            raise SearchError(f"{self._file.name} is damaged ({error}); download it again") from error


class Articles:
    """The articles that one search reads, each once, all within its time."""

    def __init__(self) -> None:
        self.read: dict[str, Article] = {}
        """By address."""
        self.unread: list[str] = []
        """The pages that were left out, and why."""
        self._asked: set[str] = set()
        self._ends = monotonic() + min(_SECONDS, left())

    def at(self, url: str, item: Item) -> Article | None:
        """The article at this address; None: it is over a limit."""
        if url not in self._asked:
            self._asked.add(url)
            try:
                self.read[url] = _article(url, item, self._ends - monotonic())
            except Unreadable as error:
                self.unread.append(f"“{item.title}” {error.why}")
        return self.read.get(url)


def _article(url: str, item: Item, seconds: float) -> Article:
    if item.size > _MOST:
        raise Unreadable(f"has {item.size / 1e6:.1f} MB, and only pages of up to {_MOST / 1e6:.1f} MB are read")
    body = bytes(item.content)
    return READERS.article(Request("article.html", url, len(body), body=body, article=True), seconds)
