"""Which pages of a wiki are found, in how many requests, and what is said when it does not answer."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from endpoint import WebAnswer, WebRequest, serving
from surefoot.contracts import HOSTILE
from surefoot.network import Network
from surefoot.searchers.wikipedia import Wikipedia
from surefoot.text.subject import subject_of
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, NetworkError, SearchError, Throttled

PAGES = {
    "Henry Feilden": "Henry Feilden was an English politician.\n== Life ==\nHe rode.\n== Religion ==\nAnglican.",
    "Mercury": "may refer to:",
    "Mercury (planet)": "Mercury is the planet nearest to the Sun.",
    "Mercury (musician)": "Mercury is a musician, born in 1990.",
    "Freddie Mercury": "Freddie Mercury was a singer.",
    "Anna Tresk Vanmoor": "A botanist.",
    "Venus": "Venus is a planet.",
    "Venus (novel)": "Venus is a novel by Anna Tresk.",
    "Dreams (Tresk)": "Dreams is a story that Anna Tresk wrote.",
    "Tegher, Armenia": "Tegher is a village.",
    "Circumstantial Evidence (1929 film)": "The film Indizienbeweis was directed by G. Jacoby.",
    "List of films": "Indizienbeweis is a film.",
    "Larrow": "The railway of Indizienbeweisen. A film was shot here.",
    "The Lantern March": "The Lantern March is a song.",
    "John Jukes": "John Jukes was a geologist.",
}
LINKS = {"Mercury": ["Freddie Mercury", "Mercury (musician)", "Mercury (planet)", "Sun"]}
REDIRECTS = {"Harry Feilden": "Henry Feilden"}


@dataclass
class Wiki:
    """A MediaWiki of a few pages, which speaks as much of its API as is asked for, and what it was asked."""

    url: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    by_property: bool = True
    """Disambiguation pages bear the page property; else a category."""
    instead: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    """Replies to give first."""

    def answer(self, params: dict[str, str]) -> Any:
        if params["prop"] == "links":
            titles = params["titles"].split("|")
            return pages_of(
                [{"title": t, "links": [{"ns": 0, "title": to} for to in LINKS.get(t, [])]} for t in titles]
            )
        if "titles" not in params:
            found = [t for t in PAGES if self.generated(t, params)]
            return pages_of([{**self.about(t), "index": n} for n, t in enumerate(found)])
        titles = params["titles"].split("|")
        moved = [{"from": t, "to": REDIRECTS[t]} for t in titles if t in REDIRECTS]
        there = list(dict.fromkeys(REDIRECTS.get(t, t) for t in titles))
        pages = [self.about(t, "exintro" not in params) for t in there]
        for page in [page for page in pages if "extract" in page][int(params["exlimit"]) :]:
            del page["extract"]
        return {"query": {"redirects": moved, "pages": pages}}

    def generated(self, title: str, params: dict[str, str]) -> bool:
        if params["generator"] == "allpages":
            assert "redirects" not in params, "MediaWiki refuses redirects=1 here"
            return title.startswith(params["gapprefix"])
        assert params["gsrwhat"] == "text"
        return all(word.lower() in PAGES[title].lower() for word in re.findall(r"\w+", params["gsrsearch"]))

    def about(self, title: str, whole: bool = False) -> dict[str, Any]:
        if title not in PAGES:
            return {"ns": 0, "title": title, "missing": True}
        text = PAGES[title] if whole else PAGES[title].partition("\n==")[0]
        said = {"ns": 0, "title": title, "extract": text, "fullurl": f"{self.url}/wiki/{title.replace(' ', '_')}"}
        apart = {"pageprops": {"disambiguation": ""}} if self.by_property else {"categories": [{"title": "x"}]}
        return said | (apart if title in LINKS else {})

    def search(self, query: str, k: int = 30, **options: Any) -> tuple[Passage, ...]:
        searcher = Wikipedia(Network(spacing=0, retries=0), base_url=f"{self.url}/api.php", **options)
        return searcher.search(query, k)

    def first(self, query: str) -> tuple[str, str]:
        """Title and stage of the best page for a query."""
        best = self.search(query)[0]
        return best.title, best.via


def pages_of(pages: list[dict[str, Any]]) -> Any:
    return {"query": {"pages": pages}} if pages else {"batchcomplete": True}


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    wiki = Wiki()

    def answer(request: WebRequest) -> WebAnswer:
        params = dict(parse_qsl(urlsplit(request.target).query, keep_blank_values=True))
        wiki.asked.append(params)
        status, headers, text = wiki.instead.pop(0) if wiki.instead else (200, {}, wiki.answer(params))
        return status, headers, text.encode() if isinstance(text, str) else json.dumps(text).encode()

    with serving(answer) as wiki.url:
        yield wiki


@pytest.mark.parametrize(
    ("query", "title", "stage"),
    [
        ("Henry Feilden occupation", "Henry Feilden", "direct title"),
        ("henry feilden occupation", "Henry Feilden", "direct title"),
        ("Harry Feilden occupation", "Henry Feilden", "direct title"),
        ("Lantern March composer", "The Lantern March", "full-text search"),
        ("John Peter Jukes occupation", "John Jukes", "direct title"),
        ("Venus author", "Venus (novel)", "typed suffix"),
        ("Dreams author", "Dreams (Tresk)", "typed suffix"),
        ("Anna Tresk occupation", "Anna Tresk Vanmoor", "typed suffix"),
        ("Tegher country", "Tegher, Armenia", "typed suffix"),
        ("Mercury born", "Mercury (musician)", "typed suffix"),
        ("Mercury", "Mercury (musician)", "disambiguation"),
        ("Indizienbeweis director", "Circumstantial Evidence (1929 film)", "full-text search"),
    ],
)
def test_the_page_is_found_by_the_first_stage_that_can(wiki: Wiki, query: str, title: str, stage: str) -> None:
    """Its title, a kind behind it, what a disambiguation page links to, what stands behind the name, a search."""
    assert wiki.first(query) == (title, stage)


@pytest.mark.parametrize("by_property", [True, False])
def test_a_disambiguation_page_is_known_by_property_or_category(wiki: Wiki, by_property: bool) -> None:
    """It is resolved, and its own text never comes."""
    wiki.by_property = by_property
    found = {passage.title for passage in wiki.search("Mercury")}
    assert "Mercury" not in found
    assert found == {"Mercury (planet)", "Mercury (musician)", "Freddie Mercury"}


def test_every_request_is_polite_and_bounded(wiki: Wiki) -> None:
    """A right title takes two: one for all titles that it may have, one for the text. Each gives way to a lagging
    database, and takes 50 titles at most."""
    wiki.search("Henry Feilden occupation")
    assert len(wiki.asked) == 2
    assert "Henry Feilden (politician)" in wiki.asked[0]["titles"].split("|")
    wiki.asked.clear()
    wiki.search("Nobody Knows Them occupation")
    assert all(params["maxlag"] == "5" for params in wiki.asked)
    assert all(len(params.get("titles", "").split("|")) <= 50 for params in wiki.asked)
    assert len(wiki.asked) <= 6


def test_paragraphs_bear_page_section_and_address(wiki: Wiki) -> None:
    """So that a reader lands where it stands."""
    lead, life, religion = wiki.search("Henry Feilden religion")
    assert (lead.title, lead.url) == ("Henry Feilden", f"{wiki.url}/wiki/Henry_Feilden")
    assert (life.title, life.url) == ("Henry Feilden › Life", f"{wiki.url}/wiki/Henry_Feilden#Life")
    assert (religion.text, religion.source) == ("Anglican.", "external")


def test_each_page_of_many_has_its_lead(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    """MediaWiki gives twenty in one reply, and the page that fits best may lie behind them."""
    *others, last = subject_of("What is Jo Tarn's occupation?").kinds
    assert 20 < len(others) < 40
    for kind in others:
        monkeypatch.setitem(PAGES, f"Jo Tarn ({kind})", "Nobody knows.")
    monkeypatch.setitem(PAGES, f"Jo Tarn ({last})", f"Jo Tarn was a {last} and politician.")
    assert wiki.first("What is Jo Tarn's occupation?")[0] == f"Jo Tarn ({last})"


@pytest.mark.parametrize("query", HOSTILE)
def test_any_text_is_a_query(wiki: Wiki, query: str) -> None:
    """Also what no title may hold."""
    assert isinstance(wiki.search(query), tuple)


@pytest.mark.parametrize(
    ("code", "wait"), [("maxlag", 5), ("ratelimited", 5), ("readonly", None), ("internal_api_error", None)]
)
def test_an_error_of_the_api_is_quoted(wiki: Wiki, code: str, wait: float | None) -> None:
    """With what it asks to wait."""
    wiki.instead = [(200, {"Retry-After": "5"}, {"error": {"code": code, "info": "it\nbroke"}})]
    with pytest.raises(SearchError, match=rf"it broke \({code}\)") as raised:
        wiki.search("Venus")
    assert getattr(raised.value, "wait", None) == wait


@pytest.mark.parametrize(
    ("status", "said", "kind", "words"),
    [
        (429, "slow down", Throttled, "429"),
        (503, "later", Throttled, "503"),
        (403, "who are you?", SearchError, "contact"),
        (404, "no such file", SearchError, "api.php"),
        (200, "[]", SearchError, "api.php"),
        (200, {"query": "?"}, SearchError, "api.php"),
        (200, {"query": {"pages": {"1": {}}}}, SearchError, "api.php"),
        (200, "<html>", NetworkError, "no JSON"),
        (200, {"warnings": {"query": {"warnings": 'Unrecognized value for "prop": extracts'}}}, SearchError, "TextExt"),
    ],
)
def test_what_is_no_answer_is_an_error(wiki: Wiki, status: int, said: Any, kind: type[Exception], words: str) -> None:
    """Never an empty result."""
    wiki.instead = [(status, {}, said)]
    with pytest.raises(kind, match=words):
        wiki.search("Venus")


ODD: list[Any] = [{"pages": [1, None, "x"]}, {"redirects": [1, {"from": 2}], "normalized": {"a": 1}}]
ODD += [{"pages": [{"ns": 0, "title": "Venus", "pageprops": 5, "links": 7, "index": "x"}, {"ns": 0}]}]


@pytest.mark.parametrize("query", ODD)
def test_an_answer_of_another_shape_breaks_nothing(wiki: Wiki, query: Any) -> None:
    """What is no page is none, in each of the requests."""
    wiki.instead = [(200, {}, {"query": query, "warnings": [1]})] * 7
    assert all(passage.title == "Venus" for passage in wiki.search("Venus"))


MAXLAG = {"error": {"code": "maxlag", "info": "waiting"}}


@pytest.mark.parametrize(("status", "body"), [(200, MAXLAG), (404, "not here")])
def test_an_error_is_not_kept(wiki: Wiki, tmp_path: Any, status: int, body: Any) -> None:
    """MediaWiki sends errors as HTTP 200; an answer is kept."""
    wiki.instead = [(status, {"MediaWiki-API-Error": "maxlag", "Retry-After": "0"}, body)]
    network = Network(spacing=0, retries=0, cache=str(tmp_path / "kept.sqlite"))
    searcher = Wikipedia(network, base_url=f"{wiki.url}/api.php")
    with pytest.raises(SearchError):
        searcher.search("Venus", 3)
    found = searcher.search("Venus", 3)
    asked = len(wiki.asked)
    assert found == searcher.search("Venus", 3) != ()
    assert len(wiki.asked) == asked


def test_the_language_picks_the_wikipedia() -> None:
    """It is part of the host's name, so it may hold nothing else."""
    with pytest.raises(ConfigError, match="language"):
        Wikipedia(Network(), language="evil.example/")
    with pytest.raises(NetworkError, match=r"de\.wikipedia\.org"):
        Wikipedia(Network(allow=[]), language="de").search("Venus", 3)
