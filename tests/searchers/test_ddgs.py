"""DuckDuckGo, against pages of the shape that it sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.searchers.ddgs import Ddgs
from surefoot.types.errors import SearchError, Throttled

RESULT = """
<div class="result results_links results_links_deep {ad} ">
  <div class="links_main links_deep result__body">
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
    <div class="result__extras"><a class="result__url" href="{href}">example.org</a></div>
    <a class="result__snippet" href="{href}">{snippet}</a>
  </div>
</div>"""
RESULTS = [
    {
        "ad": "result--ad",
        "href": "https://duckduckgo.com/y.js?ad_domain=shop.example",
        "title": "Buy a bridge",
        "snippet": "Bridges, cheap.",
    },
    {
        "ad": "web-result",
        "href": "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fruvel%3Fa%3D1&amp;rut=0f",
        "title": "Ruvel <b>Bridge</b>",
        "snippet": "The <b>Ruvel</b> <b>Bridge</b> was built in 1911 by Tomas Aldwin.",
    },
    {
        "ad": "web-result",
        "href": "https://example.com/aldwin",
        "title": "Aldwin",
        "snippet": "Tomas Aldwin was an engineer.",
    },
    {"ad": "web-result", "href": "http://[broken", "title": "Broken", "snippet": "An address that is none."},
]


def page(*results: dict[str, str], rest: str = "") -> str:
    """A page of results."""
    body = "".join(RESULT.format(**result) for result in results)
    return f'<!DOCTYPE html><html><body><div class="serp__results">{body}</div>{rest}</body></html>'


@pytest.fixture
def ddgs(provider: Any) -> Ddgs:
    """A searcher whose DuckDuckGo is on loopback."""
    return Ddgs(Network(), base_url=f"{provider.url}/html")


def test_results_lead_where_they_say_and_advertisements_are_left_out(provider: Any, ddgs: Ddgs) -> None:
    """Not to the counter by whose way DuckDuckGo sends its readers."""
    provider.says(page(*RESULTS))
    assert [(p.url, p.title, p.text, p.via) for p in ddgs.search("Ruvel Bridge", 9)] == [
        (
            "https://example.org/ruvel?a=1",
            "Ruvel Bridge",
            "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
            "snippet",
        ),
        ("https://example.com/aldwin", "Aldwin", "Tomas Aldwin was an engineer.", "snippet"),
    ]


@pytest.mark.parametrize("status", [202, 403, 429])
def test_being_sent_away_is_throttled(provider: Any, ddgs: Ddgs, status: int) -> None:
    """202 is what DuckDuckGo calls it; the package for it takes that for "no results"."""
    provider.says(page(rest='<form id="challenge-form" action="//duckduckgo.com/anomaly.js"></form>'), status)
    with pytest.raises(Throttled, match=f"HTTP {status}.*searxng"):
        ddgs.search("Ruvel Bridge", 3)


@pytest.mark.parametrize("status", [200, 202])
def test_a_refusal_is_not_kept(provider: Any, tmp_path: Path, status: int) -> None:
    """Although it is sent with a status that means success; an answer is."""
    searcher = Ddgs(Network(cache=str(tmp_path / "cache.db")), base_url=f"{provider.url}/html")
    provider.says(page(rest='<form id="challenge-form"></form>'), status).says(page(*RESULTS))
    with pytest.raises(Throttled):
        searcher.search("Ruvel Bridge", 3)
    assert searcher.search("Ruvel Bridge", 3) == searcher.search("Ruvel Bridge", 3) != ()
    assert len(provider.asked) == 2


def test_a_page_that_says_no_results_is_nothing_found(provider: Any, ddgs: Ddgs) -> None:
    """Not an error."""
    provider.says(page(rest='<div class="no-results">No results found for Ruvel.</div>'))
    assert ddgs.search("Ruvel Bridge", 3) == ()


@pytest.mark.parametrize("body", [page(rest="<p>A new design!</p>"), ""])
def test_a_page_that_says_neither_is_an_error(provider: Any, ddgs: Ddgs, body: str) -> None:
    """The day the page changes must not look like a world without answers."""
    provider.says(body)
    with pytest.raises(SearchError) as caught:
        ddgs.search("Ruvel Bridge", 3)
    assert not isinstance(caught.value, Throttled)


def test_it_keeps_the_contract(provider: Any) -> None:
    """The one that every searcher has to keep."""
    provider.says(page(*RESULTS))
    searcher = Ddgs(Network(), base_url=f"{provider.url}/html")
    verify("searcher", searcher)
