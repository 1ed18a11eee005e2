"""The Wikipedia searcher against a real MediaWiki, whatever pages it holds.

SUREFOOT_TEST_MEDIAWIKI is the address of its api.php; it must have TextExtracts.
"""

import os
from collections.abc import Sequence
from typing import Any

import pytest

from surefoot.network import Network
from surefoot.searchers.wikipedia import Wikipedia
from surefoot.text.words import bare, names
from surefoot.types import Passage

API = os.environ.get("SUREFOOT_TEST_MEDIAWIKI", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not API, reason="SUREFOOT_TEST_MEDIAWIKI is not set: the address of a MediaWiki's api.php"),
]


def api(**params: str | int) -> Any:
    reply = Network(seconds=60).get(API, {"action": "query", "format": "json", **params}, trusted=True)
    return reply.json()["query"]


def search(query: str, k: int = 30) -> tuple[Passage, ...]:
    return Wikipedia(Network(seconds=60), base_url=API).search(query, k)


def pages(passages: Sequence[Passage]) -> list[str]:
    return [passage.title.partition(" › ")[0] for passage in passages]


def apart() -> list[str]:
    said = api(list="categorymembers", cmtitle="Category:Disambiguation pages", cmnamespace=0, cmlimit=10)
    return [page["title"] for page in said["categorymembers"]]


def test_pages_are_found_by_their_titles() -> None:
    """The first ones of the wiki, but for those that tell names apart."""
    told_apart = set(apart())
    titles = [page["title"] for page in api(list="allpages", aplimit=10)["allpages"]]
    for title in [title for title in titles if title not in told_apart]:
        best = search(title)[0]
        assert (pages([best]), best.via) == ([title], "direct title")
        assert best.text
        assert best.url is not None
        assert best.url.startswith("http")


def test_a_disambiguation_page_gives_the_pages_it_links_to() -> None:
    resolved: set[str] = set()
    for title in apart():
        found = search(bare(title))
        assert title not in pages(found)
        resolved |= {passage.via for passage in found}
    assert "disambiguation" in resolved


def test_full_text_search_finds_what_no_title_says() -> None:
    """A name out of the middle of a text leads to a page that holds it."""
    title = api(list="allpages", aplimit=1, apprefix="S")["allpages"][0]["title"]
    text = " ".join(passage.text for passage in search(title))
    name = next(name for name in names(text) if " " in name and name not in title)
    assert any(name.casefold() in passage.text.casefold() for passage in search(f"{name} occupation"))
