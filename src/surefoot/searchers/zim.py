"""A ZIM file: a whole encyclopedia on this machine (Kiwix has them at library.kiwix.org)."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
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
from surefoot.searchers._web import Found, external, sendable
from surefoot.text.subject import Subject, bears, fit, spellings, subject_of
from surefoot.text.words import bare, content_words, fold
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, SearchError

_TITLES = 100  # suggestions that are looked at for a name; a common name has as many pages
_PAGES = 12  # pages of a list or a search that are opened
_MOST = 5_000_000  # bytes of a page, as for one of the web
_SECONDS = 60.0  # seconds for the pages of one search. A page of a megabyte takes two, and some twenty may be opened
_LONGEST = 250  # characters of a query; a longer one is no title


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
        READERS.warm(1)  # while the titles are looked up
        lookup = Lookup(self._archive, self._file.name, self._lock, subject_of(line))
        try:
            found = lookup.paragraphs()
        except (RuntimeError, KeyError) as error:  # raised by libzim on damaged bytes
            raise SearchError(f"{self._file.name} is damaged ({error}); download it again") from error
        once = {passage.id: passage for passage in (external(*parts, "plain") for parts in found)}
        return tuple(islice(once.values(), k))


class Lookup:
    """One search of an archive. It reads each page once, and all of them within its time."""

    def __init__(self, archive: Archive, file: str, lock: Lock, about: Subject) -> None:
        self._archive, self._file, self._lock, self._about = archive, file, lock, about
        self._read: dict[str, Article | None] = {}
        """By address; None: the page was left out."""
        self.unread: list[str] = []
        """The pages that were left out, and why."""
        self._suggested: list[str] = []
        """Titles that hold the words of the name, or begin with them."""
        self._ends = monotonic() + min(_SECONDS, left())

    def paragraphs(self) -> Iterable[Found]:
        """The paragraphs of the pages that may be meant. Raises SearchError."""
        with self._lock:  # libzim is safe between threads, but for its searches
            paths = list(SuggestionSearcher(self._archive).suggest(self._about.entity).getResults(0, _TITLES))
        self._suggested = [self._archive.get_entry_by_path(path).title for path in paths]
        pages = looked_up(self._about, self._named, self._linked, self._extended, self._mentioning)
        left_out = f"pages of {self._file} were left out: {'; '.join(self.unread)}" if self.unread else ""
        if not pages and left_out:
            raise SearchError(left_out)
        if not pages and not self._archive.has_fulltext_index:
            raise SearchError(f"{self._file} has no page of that title, and no full-text index to look further")
        if left_out:
            meter.degrade(left_out)
        best = self._read[pages[0].url] if pages else None
        return laid_out(pages, best.extract, self._about) if best else ()

    def _named(self, _: Sequence[Page]) -> list[Page]:
        folded = {fold(spelling) for spelling in spellings(self._about)}
        plain = [*spellings(self._about), *(title for title in self._suggested if fold(title) in folded)]
        typed = [f"{self._about.entity} ({kind})" for kind in ("disambiguation", *self._about.kinds)]
        return [*self._titled(plain, DIRECT), *self._titled(typed, SUFFIX)]

    def _linked(self, pages: Iterable[Page]) -> list[Page]:
        """Pages that disambiguation pages link to, and that bear the name."""
        links = [link for page in pages if page.ambiguous for link in self._links(page)]
        links.sort(key=lambda link: (not bears(link[0], link[1], self._about), -fit(link[0], link[1], self._about)))
        return self._bearing(self._titled((title for title, _ in links[:_PAGES]), AMBIGUOUS))

    def _extended(self, _: Sequence[Page]) -> list[Page]:
        """Titles that are the name and something more, in brackets or after a comma; likeliest first."""
        name = fold(self._about.entity)
        same = (title for title in self._suggested if fold(bare(title)) == name or fold(title).startswith(f"{name}, "))
        longer = sorted(same, key=lambda title: -fit(title, "", self._about))
        return list(self._titled(longer[:_PAGES], SUFFIX))

    def _mentioning(self, _: Sequence[Page]) -> list[Page]:
        if not self._archive.has_fulltext_index:
            meter.degrade(f"{self._file} has no full-text index: only its titles were searched")
            return []
        query = Query().set_query(" ".join(content_words(self._about.entity)))
        with self._lock:
            paths = list(Searcher(self._archive).search(query).getResults(0, _PAGES))
        return self._bearing(self._at(paths, TEXT))

    def _bearing(self, pages: Iterable[Page]) -> list[Page]:
        return [page for page in pages if bears(page.title, page.lead, self._about)]

    def _titled(self, titles: Iterable[str], via: str) -> Iterator[Page]:
        there = (title for title in dict.fromkeys(titles) if self._archive.has_entry_by_title(title))
        return self._at((self._archive.get_entry_by_title(title).path for title in there), via)

    def _at(self, paths: Iterable[str], via: str) -> Iterator[Page]:
        """The pages at these paths that can be read, redirects followed."""
        for path in paths:
            item = self._archive.get_entry_by_path(path).get_item()
            url = f"{self._file}/{quote(item.path)}"
            if item.mimetype.startswith("text/html") and (article := self.article(url, item)):
                ambiguous = article.ambiguous or self._disambiguates(item.title, item.path)
                lead = f"\n{article.extract}".partition("\n== ")[0]
                yield Page(item.title, lead, url, via, ambiguous)

    def _disambiguates(self, title: str, path: str) -> bool:
        """True where "X (disambiguation)" leads to the page, as on Wikipedia for every disambiguation page."""
        longer = f"{title.removesuffix(' (disambiguation)')} (disambiguation)"
        there = self._archive.has_entry_by_title(longer)
        return bool(there and self._archive.get_entry_by_title(longer).get_item().path == path)

    def _links(self, page: Page) -> Iterator[tuple[str, str]]:
        """The title behind the first link of each line, and the line."""
        path, article = unquote(page.url.removeprefix(f"{self._file}/")), self._read[page.url]
        for address, line in article.links if article else ():
            href = address.partition("#")[0]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(href)))
            if href and self._archive.has_entry_by_path(target):
                yield self._archive.get_entry_by_path(target).title, line

    def article(self, url: str, item: Item) -> Article | None:
        """The article at this address; None: it is over a limit."""
        if url not in self._read:
            self._read[url] = None
            try:
                if item.size > _MOST:
                    raise Unreadable(
                        f"has {item.size / 1e6:.1f} MB, and only pages of up to {_MOST / 1e6:.1f} MB are read"
                    )
                body = bytes(item.content)
                request = Request("article.html", url, len(body), body=body, article=True)
                self._read[url] = READERS.article(request, self._ends - monotonic())
            except Unreadable as error:
                self.unread.append(f"“{item.title}” {error.why}")
        return self._read[url]
