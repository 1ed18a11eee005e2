"""Serper, against replies of the shape that it documents."""

from __future__ import annotations

from typing import Any

import pytest

from faults import PLANTED
from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.searchers.serper import Serper
from surefoot.types.errors import SearchError, Throttled

KEY = f"9f8e7d6c-{PLANTED}-5b4a39281706"
REPLY = {
    "searchParameters": {"q": "Ruvel Bridge", "gl": "us", "hl": "en", "num": 10, "type": "search", "engine": "google"},
    "answerBox": {"snippet": "1911", "title": "When was it built?", "link": "https://example.org/faq"},
    "knowledgeGraph": {
        "title": "Ruvel Bridge",
        "type": "Bridge in Ambrel",
        "website": "http://www.example.org/",
        "description": "It is an iron bridge.",
        "descriptionSource": "Wikipedia",
        "descriptionLink": "https://en.wikipedia.org/wiki/Ruvel_Bridge",
        "attributes": {"Opened": "1911", "Architect": "Tomas Aldwin"},
    },
    "organic": [
        {"title": "Ruvel", "link": "https://example.org/ruvel", "snippet": "Built by Tomas Aldwin.", "position": 1},
        {"title": "No words", "link": "https://example.org/pictures", "position": 2},
    ],
    "peopleAlsoAsk": [{"question": "Who built it?", "snippet": "…", "title": "t", "link": "https://example.org/q"}],
    "credits": 1,
}


@pytest.fixture
def serper(provider: Any, monkeypatch: pytest.MonkeyPatch) -> Serper:
    """A searcher whose Serper is on loopback."""
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    return Serper(Network(retries=0, spacing=0), base_url=provider.url)


def test_the_boxes_come_before_the_snippets(provider: Any, serper: Serper) -> None:
    """Each says what it is; of what has no text there is the title."""
    provider.says(REPLY)
    found = serper.search("Ruvel Bridge", 5)
    assert [(p.via, p.text) for p in found] == [
        ("answer box", "1911"),
        (
            "knowledge graph",
            "Ruvel Bridge: Bridge in Ambrel. It is an iron bridge. Opened: 1911. Architect: Tomas Aldwin.",
        ),
        ("snippet", "Built by Tomas Aldwin."),
        ("title", "No words"),
    ]
    assert [p.url for p in found[:3]] == [
        "https://example.org/faq",
        "https://en.wikipedia.org/wiki/Ruvel_Bridge",
        "https://example.org/ruvel",
    ]


def test_it_asks_as_serper_documents_it(provider: Any, serper: Serper) -> None:
    """The key in its header; never for more than ten results, which would cost twice as much."""
    provider.says(REPLY)
    serper.search("Ruvel Bridge", 30)
    (asked,) = provider.asked
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["x-api-key"] == KEY
    assert asked.json == {"q": "Ruvel Bridge", "num": 10, "gl": "us", "hl": "en"}


@pytest.mark.parametrize(
    ("status", "said"),
    [(429, {"message": "Rate limit exceeded", "statusCode": 429}), (400, {"message": "Not enough credits"})],
)
def test_each_of_its_limits_is_throttled(provider: Any, serper: Serper, status: int, said: Any) -> None:
    """Spent credits come as HTTP 400."""
    provider.says(said, status)
    with pytest.raises(Throttled, match=f"HTTP {status}"):
        serper.search("Ruvel Bridge", 3)


@pytest.mark.parametrize(("status", "message"), [(403, "SERPER_API_KEY"), (400, "another searcher")])
def test_other_refusals_are_errors_that_hide_the_key(provider: Any, serper: Serper, status: int, message: str) -> None:
    """And no limits."""
    provider.says({"message": f"Unauthorized. {KEY}", "statusCode": status}, status)
    with pytest.raises(SearchError, match=message) as caught:
        serper.search("Ruvel Bridge", 3)
    assert not isinstance(caught.value, Throttled)
    assert KEY not in str(caught.value)


def test_it_keeps_the_contract(provider: Any, serper: Serper) -> None:
    """The one that every searcher has to keep."""
    provider.says(REPLY)
    verify("searcher", serper)
