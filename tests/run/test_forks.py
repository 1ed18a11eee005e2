"""A forked process works on with what its parent has built and used: threads, locks and connections are made anew."""

from __future__ import annotations

import gc
import os
import select
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.evaluators._cached import CachedEvaluator
from surefoot.evaluators.lexical import Lexical
from surefoot.evaluators.minilm import MiniLM
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.llms.openai import OpenAI
from surefoot.network import Network
from surefoot.network.cache import Cache
from surefoot.network.values import Reply
from surefoot.run import forks
from surefoot.types import Passage

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

SECONDS = 60
PAIR = ("Who built the bridge?", Passage("a", "Tomas Aldwin built the bridge."))


def in_child(work: Callable[[], object]) -> str:
    """What `work` gives in a forked process, as text; a process that hangs is killed and fails the test."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where there are threads
        child = os.fork()
    if not child:
        try:
            os.write(writing, str(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    try:
        ready, _, _ = select.select([reading], [], [], SECONDS)
        assert ready, "the forked process hangs"
        return os.read(reading, 10_000).decode()
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_forked_process_grades_as_its_parent_does() -> None:
    """Also behind a cache, and after the parent's threads have graded."""
    evaluator = MiniLM(threads=2)
    there = [(PAIR[0], Passage(f"{n}", f"{PAIR[1].text} In {n}.")) for n in range(5)]
    graded = [grade.score for grade in evaluator.grade(there)]
    assert in_child(lambda: [grade.score for grade in evaluator.grade(there)]) == str(graded)


def test_a_lock_that_another_thread_held_is_free_in_the_fork() -> None:
    """Nobody there would release it."""
    evaluator, remembered = MiniLM(threads=1), CachedEvaluator(Lexical())
    score = evaluator.grade([PAIR])[0].score
    held = evaluator._model._loading, remembered._lock
    for lock in held:
        Thread(target=lock.acquire).start()
    found = in_child(lambda: (evaluator.grade([PAIR])[0].score, remembered.grade([PAIR])[0].score))
    assert found == str((score, Lexical().grade([PAIR])[0].score))


def test_a_fork_searches_an_index_by_connections_of_its_own(tmp_path: Path) -> None:
    """The parent's, which SQLite does not let it use, are left alone, and the parent searches on."""
    (tmp_path / "a.txt").write_text(PAIR[1].text)
    build([tmp_path / "a.txt"], tmp_path / "index.db", Hashing())
    with Index.open(tmp_path / "index.db") as index:
        assert index.lexical("bridge", 1)
        before = index._idle
        assert in_child(lambda: (len(index.lexical("bridge", 1)), index._idle is before)) == "(1, False)"
        assert index._idle is before
        assert index.lexical("bridge", 1)


def test_a_fork_keeps_replies_by_a_connection_of_its_own(tmp_path: Path) -> None:
    """What either of them keeps, both find."""
    cache = Cache(tmp_path / "replies.db", expires=60)
    cache.put("one", Reply("u", 200, {}, b"1"))
    before = cache._opened

    def kept() -> object:
        found = cache.get("one")
        cache.put("two", Reply("u", 200, {}, b"2"))
        return found and found.body, cache._opened is before

    assert in_child(kept) == "(b'1', False)"
    found = cache.get("two")
    assert found
    assert found.body == b"2"


def test_a_fork_talks_to_other_machines_by_connections_of_its_own() -> None:
    """Two processes that read from one connection would get each other's answers."""
    network = Network()
    llm = OpenAI("m", "http://127.0.0.1:1/v1", network=network)
    before = llm._endpoint._client, network._made
    assert all(before)
    assert in_child(lambda: (llm._endpoint._client is before[0], network._made is before[1])) == "(False, False)"
    assert (llm._endpoint._client, network._made) == before


def test_what_is_no_longer_there_is_not_made_anew() -> None:
    """The list of what has to be keeps nothing alive."""
    evaluator = MiniLM(threads=1)
    key = id(evaluator._model)
    assert key in forks._held
    del evaluator
    gc.collect()
    assert key not in forks._held
