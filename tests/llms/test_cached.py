"""A model whose completions are kept: the same request is paid for once, by whoever and whenever it is made."""

import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from surefoot.llms._cached import CachedLLM
from surefoot.llms.scripted import Scripted
from surefoot.run import meter
from surefoot.text.replies import object_form
from surefoot.types import Message
from surefoot.types.errors import EndpointError

ASK = [Message("user", "Who built it?")]


class Counting:
    """Counts what it is asked."""

    def __init__(self, name: str = "m", fails: int = 0) -> None:
        self.name, self.asked, self.fails = name, 0, fails

    def complete(self, messages: Sequence[Message], *_: object, **__: object) -> object:
        self.asked += 1
        time.sleep(0.02)
        if self.asked <= self.fails:
            raise EndpointError("down")
        return Scripted(["ja \ud800"], self.name).complete(messages)


def test_the_same_request_is_asked_once_also_by_a_later_run(tmp_path: Path) -> None:
    """What is kept costs no call, and is the same to the last character."""
    inner = Counting()
    first = CachedLLM(inner, tmp_path / "kept.db").complete(ASK)
    with meter.metered() as spent:
        assert CachedLLM(inner, tmp_path / "kept.db").complete(ASK) == first
    assert (inner.asked, spent.calls, spent.cached) == (1, 0, 1)


def test_the_same_request_at_the_same_time_is_asked_once(tmp_path: Path) -> None:
    """The others wait for it."""
    inner = Counting()
    kept = CachedLLM(inner, tmp_path / "kept.db")
    with ThreadPoolExecutor(8) as pool:
        assert len({said.text for said in pool.map(lambda _: kept.complete(ASK), range(8))}) == 1
    assert inner.asked == 1


@pytest.mark.parametrize("other", ["model", "where", "messages", "schema", "max_tokens", "stop"])
def test_another_request_is_another(tmp_path: Path, other: str) -> None:
    """Whatever it differs in."""
    usual: dict[str, Any] = {"model": "m", "where": "", "messages": ASK, "schema": None, "max_tokens": 9, "stop": ()}
    unusual = {"model": "n", "where": "x", "messages": ASK * 2, "schema": {}, "max_tokens": 7, "stop": ["x"]}
    for request in (usual, usual | {other: unusual[other]}):
        inner = Counting(request.pop("model"))
        CachedLLM(inner, tmp_path / "kept.db", request.pop("where")).complete(**request)
    assert inner.asked == 1


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    """Who waited asks for itself."""
    inner = Counting(fails=1)
    kept = CachedLLM(inner, tmp_path / "kept.db")
    with pytest.raises(EndpointError):
        kept.complete(ASK)
    assert kept.complete(ASK).text
    assert inner.asked == 2


def test_what_is_kept_streams_too(tmp_path: Path) -> None:
    """In one piece."""
    kept = CachedLLM(Counting(), tmp_path / "kept.db")
    text, pieces = kept.complete(ASK).text, list[str]()
    kept.complete(ASK, on_text=pieces.append)
    assert pieces == [text]


COUNTED = """body = CAST('{"text": "a", "model": "m", "completion_tokens": %s}' AS BLOB)"""
DAMAGE = ["body = x'ff'", "body = CAST('{}' AS BLOB)", "status = 'ok'"]


@pytest.mark.parametrize("damage", [*DAMAGE, *(COUNTED % count for count in ("-9000", '"1"', "9" * 20, "true"))])
def test_a_damaged_completion_is_asked_for_again(tmp_path: Path, damage: str) -> None:
    """And the step says so; a count below zero would give a budget back."""
    inner, file = Counting(), tmp_path / "kept.db"
    first = CachedLLM(inner, file).complete(ASK)
    with sqlite3.connect(file) as db:
        db.execute(f"UPDATE replies SET {damage}")
    db.close()
    with meter.metered() as spent:
        assert CachedLLM(inner, file).complete(ASK) == first
    assert inner.asked == 2
    assert "damaged" in spent.degraded[0]
    assert CachedLLM(inner, file).complete(ASK) == first
    assert inner.asked == 2


def test_a_reply_without_the_form_that_was_asked_for_is_asked_for_again(tmp_path: Path) -> None:
    """By the next run, whose server may be mended; one that was cached before counts for nothing."""
    form = object_form({"rating": {"type": "string"}})
    for replies, kept in ((["I would say four."], False), (['{"rating": "4"}'], True), (["never asked"], True)):
        reply = CachedLLM(Scripted(replies), tmp_path / "kept.db").complete(ASK, form)
        assert (reply.text == '{"rating": "4"}') is kept


RATED = object_form({"why": {"type": "string"}, "rating": {"type": "string", "enum": ["1", "2"]}})


@pytest.mark.parametrize(
    ("reply", "form", "most"),
    [
        (" ", None, 9),
        ("1 2 3 4 5 6", None, 5),
        ('{"why": "so", "rating": "2"} and so', RATED, 5),
        ('{"why": "so", "rating": "9"}', RATED, 9),
        ('{"why": "", "rating": "2"}', RATED, 9),
        ('{"why": "so"}', RATED, 9),
    ],
)
def test_a_spoilt_reply_is_never_cached(tmp_path: Path, reply: str, form: dict[str, Any] | None, most: int) -> None:
    """Empty, cut off, or not what was to be said; a whole one is."""
    whole = '{"why": "so", "rating": 2}'
    for replies, text in (([reply], None), ([whole], whole), ([], whole)):
        found = CachedLLM(Scripted(replies), tmp_path / "kept.db").complete(ASK, form, max_tokens=most)
        assert text is None or found.text == text
