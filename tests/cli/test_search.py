"""`surefoot search`."""

import json
from collections.abc import Callable
from typing import Any


def test_the_passages_are_shown_with_their_grades_and_without_an_answer(indexed: Callable[..., Any]) -> None:
    """Best first, and no language model is asked."""
    done = indexed("search", "Who built the Ruvel Bridge?", "--set", "llm.replies={}")
    assert (done.code, done.err) == (0, "")
    assert done.out.index("library/bridge.md") < done.out.index("library/hut.md")
    assert "The Ruvel Bridge was built in 1911 by Tomas Aldwin." in done.out
    assert "Answer" not in done.out


def test_as_many_passages_are_shown_as_are_asked_for(indexed: Callable[..., Any]) -> None:
    assert "hut.md" not in indexed("search", "Ruvel Bridge built", "-k", "1").out
    assert indexed("search", "Ruvel Bridge built", "-k", "0").code == 2


def test_json_is_one_line_with_each_passage_and_its_grade(indexed: Callable[..., Any]) -> None:
    """To be read by the next program."""
    done = indexed("search", "Who built the Ruvel Bridge?", "--json")
    assert (done.code, done.out.count("\n")) == (0, 1)
    found = json.loads(done.out)
    assert found["question"] == "Who built the Ruvel Bridge?"
    assert found["read_as"] == ""
    assert found["passages"][0]["passage"]["file"] == "library/bridge.md"
    assert found["passages"][0]["grade"]["passage_id"] == found["passages"][0]["passage"]["id"]


def test_nothing_is_asked_outside(indexed: Callable[..., Any]) -> None:
    """Although a searcher is configured and the passages do not answer."""
    outside = ("--set", "searcher.use=wikipedia", "--set", "thresholds.upper=50")
    done = indexed("search", "Who built the Ruvel Bridge?", *outside)
    assert done.code == 0
    assert "outside" not in done.out
