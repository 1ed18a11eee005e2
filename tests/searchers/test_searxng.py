"""SearXNG, against replies of the shape that it documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.run.meter import metered
from surefoot.searchers.searxng import Searxng
from surefoot.types.errors import SearchError, Throttled

REPLY: dict[str, Any] = {
    "query": "Ruvel Bridge",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://example.org/ruvel",
            "title": "Ruvel Bridge",
            "content": "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
            "engine": "mojeek",
            "engines": ["mojeek", "qwant"],
            "score": 2.0,
            "category": "general",
            "publishedDate": None,
        },
        {"url": "https://example.org/pictures", "title": "Pictures", "content": "", "engine": "qwant"},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [
        {
            "infobox": "Ruvel Bridge",
            "id": "https://en.wikipedia.org/wiki/Ruvel_Bridge",
            "content": "Iron bridge in Ambrel.",
            "urls": [{"title": "Wikipedia", "url": "https://en.wikipedia.org/wiki/Ruvel_Bridge"}],
            "attributes": [{"label": "Architect", "value": "Tomas Aldwin", "entity": "P84"}],
        }
    ],
    "suggestions": [],
    "unresponsive_engines": [],
}
EMPTY = {**REPLY, "results": [], "infoboxes": []}


@pytest.fixture
def searxng(provider: Any) -> Searxng:
    """A searcher whose instance is on loopback."""
    return Searxng(Network(retries=0, spacing=0), provider.url, engines="mojeek,qwant")


def test_the_box_on_the_thing_comes_before_the_snippets(provider: Any, searxng: Searxng) -> None:
    """With what it lists, as sentences; a hit without text comes with its title."""
    provider.says(REPLY)
    assert [(p.via, p.text) for p in searxng.search("Ruvel Bridge", 5)] == [
        ("infobox", "Iron bridge in Ambrel. Architect: Tomas Aldwin."),
        ("snippet", "The Ruvel Bridge was built in 1911 by Tomas Aldwin."),
        ("title", "Pictures"),
    ]


def test_it_asks_for_json_and_for_what_was_chosen(provider: Any, searxng: Searxng) -> None:
    """What was not chosen is left to the instance."""
    provider.says(REPLY)
    searxng.search("Ruvel Bridge", 5)
    (asked,) = provider.asked
    assert (asked.method, asked.path) == ("GET", "/search")
    assert asked.params == {"q": "Ruvel Bridge", "format": "json", "engines": "mojeek,qwant", "language": "en"}


def test_with_its_json_off_it_says_how_to_switch_it_on(provider: Any, searxng: Searxng) -> None:
    """SearXNG answers 403 then."""
    provider.says("<!doctype html><title>403 Forbidden</title>", 403)
    with pytest.raises(SearchError, match=r"formats: \[html, json\].*search:.*settings\.yml") as caught:
        searxng.search("Ruvel Bridge", 5)
    assert not isinstance(caught.value, Throttled)


@pytest.mark.parametrize("reason", ["Suspended: CAPTCHA", "Suspended: too many requests", "access denied"])
def test_nothing_from_engines_that_are_throttled_is_throttled(provider: Any, searxng: Searxng, reason: str) -> None:
    """Never a silent empty result."""
    provider.says({**EMPTY, "unresponsive_engines": [["mojeek", reason], ["qwant", "timeout"]]})
    with pytest.raises(Throttled, match="mojeek"):
        searxng.search("Ruvel Bridge", 5)


def test_nothing_from_engines_that_failed_otherwise_is_an_error(provider: Any, searxng: Searxng) -> None:
    """With each engine's reason."""
    provider.says({**EMPTY, "unresponsive_engines": [["qwant", "timeout"]]})
    with pytest.raises(SearchError, match=r"qwant \(timeout\)") as caught:
        searxng.search("Ruvel Bridge", 5)
    assert not isinstance(caught.value, Throttled)


def test_an_engine_that_is_missing_is_named_in_the_step(provider: Any, searxng: Searxng) -> None:
    """What the others found is used."""
    provider.says({**REPLY, "unresponsive_engines": [["google", "Suspended: CAPTCHA"]]})
    with metered() as spent:
        assert searxng.search("Ruvel Bridge", 5)
    assert spent.degraded == ["searxng went without google (Suspended: CAPTCHA)"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({**EMPTY, "unresponsive_engines": [["qwant", "Suspended: CAPTCHA"]]}, 200),
        ("<html>Log in</html>", 200),
        ({}, 404),
        (["odd"], 200),
    ],
)
def test_what_is_no_answer_is_asked_again(provider: Any, tmp_path: Path, said: Any, status: int) -> None:
    """It may come from a bad minute, or somebody has mended it; an answer is kept."""
    searcher = Searxng(Network(cache=str(tmp_path / "cache.db"), spacing=0), provider.url)
    provider.says(said, status).says(REPLY)
    with pytest.raises(SearchError):
        searcher.search("Ruvel Bridge", 5)
    assert searcher.search("Ruvel Bridge", 5) == searcher.search("Ruvel Bridge", 5) != ()
    assert len(provider.asked) == 2


def test_it_keeps_the_contract(provider: Any, searxng: Searxng) -> None:
    """The one that every searcher has to keep."""
    provider.says(REPLY)
    verify("searcher", searxng)
