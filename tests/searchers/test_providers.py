"""Tavily, Serper, SearXNG and DuckDuckGo, against replies of the shapes that they document or send."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from faults import PLANTED
from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.run.meter import metered
from surefoot.searchers.ddgs import Ddgs
from surefoot.searchers.searxng import Searxng
from surefoot.searchers.serper import Serper
from surefoot.searchers.tavily import Tavily
from surefoot.types.errors import SearchError, Throttled
from surefoot.types.protocols import Searcher

KEY = f"tvly-dev-{PLANTED}-k3yK3yKey"
BUILT = "The Ruvel Bridge was built in 1911 by Tomas Aldwin."
RUVEL, ALDWIN, WIKI = "https://example.org/ruvel", "https://example.com/aldwin", "https://en.wikipedia.org/wiki/Ruvel"

TAVILY: dict[str, Any] = {
    "query": "Ruvel Bridge architect",
    "answer": None,
    "results": [
        {"title": "Ruvel Bridge", "url": RUVEL, "content": BUILT, "score": 0.91, "raw_content": None},
        {"title": "Aldwin", "url": ALDWIN, "content": "An engineer.", "score": 0.55, "raw_content": None},
    ],
    "response_time": 1.09,
}
SERPER: dict[str, Any] = {
    "searchParameters": {"q": "Ruvel Bridge", "gl": "us", "hl": "en", "num": 10, "type": "search"},
    "answerBox": {"snippet": "1911", "title": "When was it built?", "link": RUVEL},
    "knowledgeGraph": {
        "title": "Ruvel Bridge",
        "type": "Bridge in Ambrel",
        "description": "It is an iron bridge.",
        "descriptionLink": WIKI,
        "attributes": {"Opened": "1911", "Architect": "Tomas Aldwin"},
    },
    "organic": [
        {"title": "Ruvel", "link": ALDWIN, "snippet": BUILT, "position": 1},
        {"title": "No words", "link": "https://example.org/pictures", "position": 2},
    ],
    "peopleAlsoAsk": [{"question": "Who built it?", "snippet": "…", "title": "t", "link": "https://example.org/q"}],
}
SEARXNG: dict[str, Any] = {
    "query": "Ruvel Bridge",
    "results": [
        {"url": RUVEL, "title": "Ruvel Bridge", "content": BUILT, "engine": "mojeek", "publishedDate": None},
        {"url": "https://example.org/pictures", "title": "Pictures", "content": "", "engine": "qwant"},
    ],
    "infoboxes": [
        {
            "infobox": "Ruvel Bridge",
            "content": "Iron bridge in Ambrel.",
            "urls": [{"title": "Wikipedia", "url": WIKI}],
            "attributes": [{"label": "Architect", "value": "Tomas Aldwin", "entity": "P84"}],
        }
    ],
    "unresponsive_engines": [],
}
RESULT = """
<div class="result results_links results_links_deep {kind} ">
  <div class="links_main links_deep result__body">
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
    <div class="result__extras"><a class="result__url" href="{href}">example.org</a></div>
    <a class="result__snippet" href="{href}">{snippet}</a>
  </div>
</div>"""


def page(*results: str, rest: str = "") -> str:
    """A page of DuckDuckGo's results."""
    body = "".join(results)
    return f'<!DOCTYPE html><html><body><div class="serp__results">{body}</div>{rest}</body></html>'


def result(href: str, title: str, snippet: str, kind: str = "web-result") -> str:
    return RESULT.format(href=href, title=title, snippet=snippet, kind=kind)


DDGS = page(
    result("https://duckduckgo.com/y.js?ad_domain=shop.example", "Buy a bridge", "Bridges, cheap.", "result--ad"),
    result(
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fruvel&amp;rut=0f",
        "Ruvel <b>Bridge</b>",
        "The <b>Ruvel</b> <b>Bridge</b> was built in 1911 by Tomas Aldwin.",
    ),
    result(ALDWIN, "Aldwin", "An engineer."),
    result("http://[broken", "Broken", "An address that is none."),
)
CAPTCHA = page(rest='<form id="challenge-form" action="//duckduckgo.com/anomaly.js"></form>')
REPLIES = {"tavily": TAVILY, "serper": SERPER, "searxng": SEARXNG, "ddgs": DDGS}

Make = Callable[..., Searcher]


@pytest.fixture
def make(provider: Any, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Builds a searcher whose provider is on loopback."""
    kinds: dict[str, Any] = {"tavily": Tavily, "serper": Serper, "searxng": Searxng, "ddgs": Ddgs}
    for name in ("TAVILY_API_KEY", "SERPER_API_KEY"):
        monkeypatch.setenv(name, KEY)

    def made(name: str, cache: str | None = None, **options: Any) -> Searcher:
        searcher: Searcher = kinds[name](Network(retries=0, spacing=0, cache=cache), base_url=provider.url, **options)
        if name == "ddgs":
            searcher.network = Apart(searcher.network)  # type: ignore[attr-defined]
        return searcher

    return made


class Apart:
    """A network for DuckDuckGo without the second that lies between two of its searches."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def get(self, *arguments: Any, **options: Any) -> Any:
        return self.network.get(*arguments, **options | {"spacing": 0})


FOUND = {
    "tavily": [("snippet", BUILT, RUVEL), ("snippet", "An engineer.", ALDWIN)],
    "serper": [
        ("answer box", "1911", RUVEL),
        (
            "knowledge graph",
            "Ruvel Bridge: Bridge in Ambrel. It is an iron bridge. Opened: 1911. Architect: Tomas Aldwin.",
            WIKI,
        ),
        ("snippet", BUILT, ALDWIN),
        ("title", "No words", "https://example.org/pictures"),
    ],
    "searxng": [
        ("infobox", "Iron bridge in Ambrel. Architect: Tomas Aldwin.", WIKI),
        ("snippet", BUILT, RUVEL),
        ("title", "Pictures", "https://example.org/pictures"),
    ],
    "ddgs": [("snippet", BUILT, RUVEL), ("snippet", "An engineer.", ALDWIN)],
}


@pytest.mark.parametrize("name", REPLIES)
def test_boxes_and_snippets_come_in_the_providers_order(provider: Any, make: Make, name: str) -> None:
    """Each says what it is; of what has no text there is the title. Advertisements are left out, and a link leads where
    it says, not to the counter by whose way DuckDuckGo sends its readers."""
    provider.says(REPLIES[name])
    assert [(p.via, p.text, p.url) for p in make(name).search("Ruvel Bridge", 9)] == FOUND[name]
    verify("searcher", make(name))


ASKED = {
    "tavily": {"query": "Ruvel", "search_depth": "basic", "max_results": 20, "include_raw_content": False},
    "serper": {"q": "Ruvel", "num": 10, "gl": "us", "hl": "en"},
    "searxng": {"q": "Ruvel", "format": "json", "engines": "mojeek,qwant", "language": "en"},
}


@pytest.mark.parametrize("name", ASKED)
def test_it_asks_as_the_provider_documents_it(provider: Any, make: Make, name: str) -> None:
    """The key in a header; never for more results than one request may have, or than cost once."""
    provider.says(REPLIES[name])
    make(name, **({"engines": "mojeek,qwant"} if name == "searxng" else {})).search("Ruvel", 30)
    (asked,) = provider.asked
    assert (asked.path, asked.json or asked.params) == ("/search", ASKED[name])
    keys = {"tavily": ("authorization", f"Bearer {KEY}"), "serper": ("x-api-key", KEY)}
    assert name == "searxng" or keys[name] in asked.headers.items()


def silent(*engines: list[str]) -> dict[str, Any]:
    """A reply of SearXNG without results, since these engines failed."""
    return {**SEARXNG, "results": [], "infoboxes": [], "unresponsive_engines": engines}


@pytest.mark.parametrize(
    ("name", "status", "body", "message"),
    [
        *(("tavily", status, {"detail": {"error": "Enough."}}, f"HTTP {status}") for status in (429, 432, 433)),
        ("serper", 429, {"message": "Rate limit exceeded", "statusCode": 429}, "HTTP 429"),
        ("serper", 400, {"message": "Not enough credits"}, "HTTP 400"),
        ("searxng", 200, silent(["mojeek", "Suspended: CAPTCHA"], ["qwant", "timeout"]), "mojeek"),
        ("searxng", 200, silent(["mojeek", "Suspended: too many requests"]), "mojeek"),
        ("searxng", 200, silent(["mojeek", "access denied"]), "mojeek"),
        *(("ddgs", status, CAPTCHA, f"HTTP {status}.*searxng") for status in (202, 403, 429)),
        ("ddgs", 200, CAPTCHA, "takes us for a robot"),
    ],
)
def test_each_limit_is_throttled(provider: Any, make: Make, name: str, status: int, body: Any, message: str) -> None:
    """Requests a minute, spent credits, captchas: never an empty result. 202 is what DuckDuckGo calls it."""
    provider.says(body, status, retry_after="60")
    with pytest.raises(Throttled, match=message) as caught:
        make(name).search("Ruvel Bridge", 3)
    assert name != "tavily" or caught.value.wait == 60


@pytest.mark.parametrize(
    ("name", "status", "body", "message"),
    [
        ("tavily", 401, {"detail": {"error": f"Unauthorized: invalid API key {KEY}."}}, "TAVILY_API_KEY"),
        ("serper", 403, {"message": f"Unauthorized. {KEY}"}, "SERPER_API_KEY"),
        ("serper", 400, {"message": f"What? {KEY}"}, "another searcher"),
        ("searxng", 403, "<!doctype html><title>403</title>", r"formats: \[html, json\].*search:.*settings\.yml"),
        ("searxng", 200, "<html>Log in</html>", "answered with a page"),
        ("searxng", 200, ["odd"], "without a list"),
        ("searxng", 200, silent(["qwant", "timeout"]), r"qwant \(timeout\)"),
        ("ddgs", 200, page(rest="<p>A new design!</p>"), "has it changed"),
        ("ddgs", 200, "", "empty page"),
    ],
)
def test_other_refusals_are_errors_that_hide_the_key_and_are_not_cached(
    provider: Any, make: Make, tmp_path: Path, name: str, status: int, body: Any, message: str
) -> None:
    """The day a page changes must not look like a world without answers. An answer that follows is cached, without the
    key."""
    searcher = make(name, str(tmp_path / "cache.db"))
    provider.says(body, status).says(REPLIES[name])
    with pytest.raises(SearchError, match=message) as caught:
        searcher.search("Ruvel Bridge", 3)
    assert not isinstance(caught.value, Throttled)
    assert searcher.search("Ruvel Bridge", 3) == searcher.search("Ruvel Bridge", 3) != ()
    assert len(provider.asked) == 2
    assert KEY not in str(caught.value) + repr(searcher)
    assert not [path for path in tmp_path.rglob("*") if KEY.encode() in path.read_bytes()]


def test_raw_content_brings_the_pages_behind_the_snippets(
    provider: Any, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut into passages; the snippets, which Tavily chose for the query, come first."""
    monkeypatch.setenv("OTHER_KEY", KEY)
    deep = make("tavily", depth="advanced", raw_content=True, key_env="OTHER_KEY")
    ruvel, aldwin = TAVILY["results"]
    provider.says({**TAVILY, "results": [{**ruvel, "raw_content": "The Ruvel Bridge is of iron. " * 60}, aldwin]})
    found = deep.search("Ruvel Bridge architect", 30)
    assert [p.via for p in found[:3]] == ["snippet", "snippet", "page"]
    assert all(len(p.text.split()) <= 240 for p in found)
    asked = provider.asked[0].json
    assert (asked["search_depth"], asked["include_raw_content"]) == ("advanced", "text")


def test_an_engine_that_is_missing_is_named_in_the_step(provider: Any, make: Make) -> None:
    """What SearXNG's others found is used."""
    provider.says({**SEARXNG, "unresponsive_engines": [["google", "Suspended: CAPTCHA"]]})
    with metered() as spent:
        assert make("searxng").search("Ruvel Bridge", 5)
    assert spent.degraded == ["searxng went without google (Suspended: CAPTCHA)"]


def test_a_page_that_says_no_results_is_nothing_found(provider: Any, make: Make) -> None:
    """Not an error."""
    provider.says(page(rest='<div class="no-results">No results found for Ruvel.</div>'))
    assert make("ddgs").search("Ruvel Bridge", 3) == ()
