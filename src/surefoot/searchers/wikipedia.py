"""Wikipedia, or any other MediaWiki, through its own action API."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from surefoot.network import Network, Reply
from surefoot.network.credentials import address
from surefoot.searchers._encyclopedia import AMBIGUOUS, DIRECT, SUFFIX, TEXT, Page, laid_out, looked_up
from surefoot.searchers._web import field, passages, refused, requested, rows, sendable
from surefoot.text.subject import Subject, bears, fit, spellings, subject_of
from surefoot.text.words import WORD, words
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, SearchError, Throttled

MOST_TITLES = 50  # titles that the API takes in one request
MOST_LEADS = 20  # leads that TextExtracts gives in one reply
LONGEST = 6000  # characters of titles in one address; servers take 8,000 in all
HITS = 10  # hits of a full-text search that are looked at; a wiki without a cache takes long to make each lead
LONGEST_QUERY = 300  # characters of a query, as Wikipedia's search takes them
_WAITS = ("maxlag", "ratelimited", "toomanyrequests")  # errors of the API that ask to wait
_REMEDIES = {
    403: "set [network] contact to an address that reaches you, as Wikipedia asks",
    404: "base_url must be the address of a MediaWiki's api.php",
}


@dataclass(eq=False)
class Wikipedia:
    """Finds pages of Wikipedia, or of any MediaWiki, by the thing that is asked about, and gives their paragraphs.

    It tries in turn, until a page is what the relation asks for (CRAG's reproduction, section 3.2): the title in its
    spellings, the title with a kind behind it ("X (politician)"), the links of a disambiguation page (one with the page
    property `disambiguation` or in one of the `disambiguation` categories), titles that begin with the name, full-text
    search: two to eight requests. `base_url` is the api.php of another wiki, which needs the extension TextExtracts.
    """

    name: ClassVar[str] = "wikipedia"
    network: Network
    language: str = "en"
    base_url: str | None = None
    disambiguation: Sequence[str] = ("Disambiguation pages", "All disambiguation pages", "All set index articles")

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]+(?:-[a-z]+)*", self.language):
            raise ConfigError(f"language must be a Wikipedia's code, such as 'en' or 'zh-yue', not {self.language!r}")
        self._url = address(self.base_url) if self.base_url else f"https://{self.language}.wikipedia.org/w/api.php"

    def search(self, query: str, k: int) -> tuple[Passage, ...]:
        """The first three paragraphs of the best page; the first of each other page that may be meant; then the rest of
        the best page, paragraphs that speak of the relation first. Raises Throttled, SearchError and NetworkError."""
        about = subject_of(sendable(query, LONGEST_QUERY))
        stages = (self._named, self._linked, self._extended, self._mentioning)
        pages = looked_up(about, *(partial(stage, about) for stage in stages)) if words(about.entity) else []
        return passages(laid_out(pages, self._extract(pages[0]), about), k, "plain") if pages else ()

    def _named(self, about: Subject, _: Sequence[Page]) -> list[Page]:
        plain = [title for title in spellings(about) if _valid(title)]
        typed = [f"{about.entity} ({kind})" for kind in ("disambiguation", *about.kinds)]
        titles = _together([*plain, *filter(_valid, typed)])
        if not titles:
            return []
        query = self._query(titles="|".join(titles))
        place = {_landed(query, title): n for n, title in reversed(list(enumerate(titles)))}
        pages = self._led(sorted(self._pages(query, SUFFIX), key=lambda page: place.get(page.title, len(titles))))
        direct = {_landed(query, title) for title in plain}
        return [replace(page, via=DIRECT) if page.title in direct else page for page in pages]

    def _led(self, pages: list[Page]) -> list[Page]:
        """The pages, with MOST_LEADS more leads than the one reply gave."""
        bare = [page.title for page in pages if not page.lead][:MOST_LEADS]
        if len(pages) <= MOST_LEADS or not bare:
            return pages
        leads = {page.title: page.lead for page in self._pages(self._query(titles="|".join(bare)), SUFFIX)}
        return [replace(page, lead=page.lead or leads.get(page.title, "")) for page in pages]

    def _linked(self, about: Subject, pages: Sequence[Page]) -> list[Page]:
        """Links of disambiguation pages that bear the name, likeliest first."""
        if not (ambiguous := [page.title for page in pages if page.ambiguous]):
            return []
        titles = "|".join(ambiguous[:5])
        query = self._ask(prop="links", plnamespace=0, pllimit="max", titles=titles)
        links = [field(link, "title") for entry in query["pages"] for link in rows(entry, "links")]
        likely = sorted(links, key=lambda title: (not bears(title, "", about), -fit(title, "", about)))
        if not likely:
            return []
        found = self._pages(self._query(titles="|".join(_together(likely)[:MOST_LEADS])), AMBIGUOUS)
        return [page for page in found if bears(page.title, page.lead, about)]

    def _extended(self, about: Subject, _: Sequence[Page]) -> list[Page]:
        """Titles that are the name and something more: in brackets, after a comma, or another name."""
        if not _valid(about.entity):
            return []
        name = about.entity[:1].upper() + about.entity[1:]
        marks = [", "] * ("village" in about.kinds) + [" " if " " in name else " ("]
        for mark in marks:
            such: dict[str, str | int] = {"gapfilterredir": "nonredirects", "gapnamespace": 0, "gaplimit": MOST_LEADS}
            if pages := self._pages(self._query(generator="allpages", gapprefix=name + mark, **such), SUFFIX):
                return pages
        return []

    def _mentioning(self, about: Subject, _: Sequence[Page]) -> list[Page]:
        limit = {"gsrlimit": HITS, "gsrnamespace": 0}
        plain = " ".join(WORD.findall(about.entity))  # a dash is an operator, or a word that is nowhere
        query = self._query(generator="search", gsrsearch=plain, gsrwhat="text", **limit)
        query["pages"].sort(key=lambda entry: (isinstance(entry.get("index"), int) and entry["index"]) or 0)
        return [page for page in self._pages(query, TEXT) if bears(page.title, page.lead, about)]

    def _query(self, **what: str | int) -> dict[str, Any]:
        follow = {} if "gapprefix" in what else {"redirects": 1}  # the API refuses both at once
        return self._ask(
            **what,
            **follow,
            prop="extracts|pageprops|categories|info",
            exintro=1,
            exlimit=MOST_LEADS,
            explaintext=1,
            ppprop="disambiguation",
            clcategories="|".join(f"Category:{category}" for category in self.disambiguation),
            cllimit="max",
            inprop="url",
        )

    def _pages(self, query: Mapping[str, Any], via: str) -> list[Page]:
        return [
            Page(
                field(entry, "title"),
                field(entry, "extract"),
                field(entry, "fullurl"),
                via,
                "disambiguation" in _object(entry.get("pageprops")) or bool(entry.get("categories")),
            )
            for entry in query["pages"]
            if entry.get("ns") == 0 and "missing" not in entry and "invalid" not in entry
        ]

    def _extract(self, page: Page) -> str:
        """The page's whole text, with headings between "=="."""
        query = self._ask(prop="extracts", explaintext=1, exsectionformat="wiki", exlimit=1, titles=page.title)
        return "".join(field(entry, "extract") for entry in query["pages"]) or page.lead

    def _ask(self, **params: str | int) -> dict[str, Any]:
        """The API's answer, with a list of "pages". Raises Throttled, SearchError and NetworkError."""
        params |= {"action": "query", "format": "json", "formatversion": 2, "maxlag": 5}
        return requested(self.network.get, self._checked, self._url, params)

    def _checked(self, reply: Reply) -> dict[str, Any]:
        if reply.status != 200:
            raise refused(self._host, reply, _REMEDIES, quota=(429, 503))
        answer = reply.json()
        if isinstance(answer, dict) and (error := answer.get("error")):
            code, info = field(error, "code"), " ".join(field(error, "info").split())[:200]
            message = f"{self._host} does not answer: {info} ({code})"
            raise Throttled(message, reply.wait) if code in _WAITS else SearchError(message)
        query = answer.get("query", {}) if isinstance(answer, dict) else None
        if not isinstance(query, dict) or not isinstance(query.get("pages", []), list):
            raise SearchError(f"{self._host} does not answer as a MediaWiki does; {_REMEDIES[404]}")
        if "extracts" in str(_object(answer.get("warnings")).get("query", "")):
            raise SearchError(f"{self._host} lacks the extension TextExtracts, which gives the text of its pages")
        return {**query, "pages": rows(query, "pages")}

    @property
    def _host(self) -> str:
        return urlsplit(self._url).netloc


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _landed(query: Mapping[str, Any], title: str) -> str:
    """The title of the page that the API gives for a title: normalised, and where its redirects lead."""
    for step in ("normalized", "redirects"):
        moves = {field(move, "from"): field(move, "to") for move in rows(query, step)}
        title = moves.get(title) or title
    return title


def _valid(title: str) -> bool:
    return 0 < len(title.encode()) <= 255 and not re.search(r"[\[\]{}#<>|]", title)


def _together(titles: Sequence[str]) -> list[str]:
    """As many of the titles, each once, as the API takes and an address holds."""
    taken: list[str] = []
    for title in dict.fromkeys(titles):
        if len(taken) < MOST_TITLES and len(quote("|".join((*taken, title)))) < LONGEST:
            taken.append(title)
    return taken
