"""Tavily, against replies of the shape that it documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from faults import PLANTED
from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.searchers.tavily import Tavily
from surefoot.types.errors import SearchError, Throttled

KEY = f"tvly-dev-{PLANTED}-k3yK3yKey"
REPLY: dict[str, Any] = {
    "query": "Ruvel Bridge architect",
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "Ruvel Bridge",
            "url": "https://example.org/ruvel",
            "content": "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
            "score": 0.91,
            "raw_content": None,
        },
        {
            "title": "Aldwin",
            "url": "https://example.com/aldwin",
            "content": "Tomas Aldwin was an engineer.",
            "score": 0.55,
            "raw_content": None,
        },
    ],
    "response_time": 1.09,
    "request_id": "123e4567-e89b-12d3-a456-426614174111",
}


@pytest.fixture
def tavily(provider: Any, monkeypatch: pytest.MonkeyPatch) -> Tavily:
    """A searcher whose Tavily is on loopback."""
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    return Tavily(Network(retries=0, spacing=0), base_url=provider.url)


def test_its_snippets_come_in_its_order_with_address_and_title(provider: Any, tavily: Tavily) -> None:
    """Each says that it is only a snippet."""
    provider.says(REPLY)
    found = tavily.search("Ruvel Bridge architect", 5)
    assert [(p.title, p.url, p.via) for p in found] == [
        ("Ruvel Bridge", "https://example.org/ruvel", "snippet"),
        ("Aldwin", "https://example.com/aldwin", "snippet"),
    ]
    assert "Tomas Aldwin" in found[0].text


def test_it_asks_as_tavily_documents_it(provider: Any, tavily: Tavily) -> None:
    """The key in a header, never in the body; no more results than it gives."""
    provider.says(REPLY)
    tavily.search("Ruvel Bridge architect", 30)
    (asked,) = provider.asked
    assert (asked.method, asked.path) == ("POST", "/search")
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json == {
        "query": "Ruvel Bridge architect",
        "search_depth": "basic",
        "max_results": 20,
        "include_raw_content": False,
    }


def test_raw_content_brings_the_pages_behind_the_snippets(provider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into passages; the snippets, which Tavily chose for the query, come first."""
    monkeypatch.setenv("OTHER_KEY", KEY)
    deep = Tavily(Network(), depth="advanced", raw_content=True, key_env="OTHER_KEY", base_url=provider.url)
    ruvel, aldwin = REPLY["results"]
    provider.says({**REPLY, "results": [{**ruvel, "raw_content": "The Ruvel Bridge is of iron. " * 60}, aldwin]})
    found = deep.search("Ruvel Bridge architect", 30)
    assert [p.via for p in found[:3]] == ["snippet", "snippet", "page"]
    assert all(len(p.text.split()) <= 240 for p in found)
    assert provider.asked[0].json["search_depth"] == "advanced"
    assert provider.asked[0].json["include_raw_content"] == "text"


@pytest.mark.parametrize("status", [429, 432, 433])
def test_each_of_its_limits_is_throttled(provider: Any, tavily: Tavily, status: int) -> None:
    """Requests a minute, the plan's credits, and what the user wants to pay; never an empty result."""
    provider.says({"detail": {"error": "This request exceeds your plan's set usage limit."}}, status, retry_after="60")
    with pytest.raises(Throttled, match=f"HTTP {status}") as caught:
        tavily.search("Ruvel Bridge", 3)
    assert caught.value.wait == 60.0


def test_a_wrong_key_names_the_variable_and_hides_the_key(provider: Any, tavily: Tavily) -> None:
    """Also where the server repeats it."""
    provider.says({"detail": {"error": f"Unauthorized: invalid API key {KEY}."}}, 401)
    with pytest.raises(SearchError, match="TAVILY_API_KEY") as caught:
        tavily.search("Ruvel Bridge", 3)
    assert not isinstance(caught.value, Throttled)
    assert KEY not in str(caught.value)
    assert "k3yK3yKey" not in str(caught.value)


def test_the_key_is_in_no_repr_and_no_cache_file(
    provider: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """While what it found is kept."""
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    network = Network(cache=str(tmp_path / "cache.db"))
    provider.says(REPLY)
    searcher = Tavily(network, base_url=provider.url)
    assert searcher.search("Ruvel Bridge", 3) == searcher.search("Ruvel Bridge", 3)
    assert len(provider.asked) == 1
    assert KEY not in repr(searcher)
    assert not [path for path in tmp_path.rglob("*") if KEY.encode() in path.read_bytes()]


def test_it_keeps_the_contract(provider: Any, tavily: Tavily) -> None:
    """The one that every searcher has to keep."""
    provider.says(REPLY)
    verify("searcher", tavily)
