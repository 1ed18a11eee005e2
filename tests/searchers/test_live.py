"""The real services, where SUREFOOT_TEST_LIVE is set; a search costs a credit of each that has a key."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from surefoot.network import Network
from surefoot.searchers.ddgs import Ddgs
from surefoot.searchers.serper import Serper
from surefoot.searchers.tavily import Tavily
from surefoot.types.protocols import Searcher


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("SUREFOOT_TEST_LIVE"), reason="SUREFOOT_TEST_LIVE is not set")
@pytest.mark.parametrize(("make", "key"), [(Ddgs, ""), (Serper, "SERPER_API_KEY"), (Tavily, "TAVILY_API_KEY")])
def test_the_real_one_answers_in_the_shape_of_its_double(make: Callable[[Network], Searcher], key: str) -> None:
    """With an address, a title and a text in each passage."""
    if key and not os.environ.get(key):
        pytest.skip(f"{key} is not set")
    found = make(Network(seconds=30)).search("Who was the architect of the Eiffel Tower?", 3)
    assert found
    assert all(p.url and p.title and p.text for p in found)
