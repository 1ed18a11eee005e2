"""Replies that are kept: in one file, for a while, for several threads and processes."""

import os
import random
import sqlite3
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as some

from surefoot.network.cache import Cache
from surefoot.network.values import Reply
from surefoot.run.meter import metered

KEPT = Reply("http://example.org/", 200, {"content-type": "text/plain"}, b"body\0\xff")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "replies.db"


def test_what_is_too_much_goes_oldest_first(path: Path) -> None:
    """A file that nobody looks after must not grow for ever."""
    cache = Cache(path, 60, most=200_000)
    for n in range(100):
        cache.put(str(n), replace(KEPT, body=bytes(10_000)))
    there = [n for n in range(100) if cache.get(str(n))]
    assert there == list(range(there[0], 100))
    assert 5 <= len(there) <= 20
    del cache  # which closes the file
    assert path.stat().st_size < 400_000


def test_a_reply_expires(path: Path) -> None:
    """After so many seconds it is not given any more."""
    cache = Cache(path, 0.05)
    cache.put("key", KEPT)
    time.sleep(0.06)
    assert cache.get("key") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_the_file_is_its_owners_alone(path: Path) -> None:
    """What was asked is nobody else's business."""
    Cache(path, 60).put("key", KEPT)
    assert [stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()] == [0o600] * len(
        os.listdir(path.parent)
    )


TEXTS = ["url = x'ff'", "status = 'ok'", "body = 'text'", "time = 'never'", "url = CAST(x'ff' AS TEXT)"]
HEADERS = ["'no JSON'", "'[]'", "'{\"a\": 1}'", "x'ff'", "printf('%.*c', 100000, '[')"]


@pytest.mark.parametrize("damage", [*TEXTS, *(f"headers = {value}" for value in HEADERS)])
def test_a_damaged_row_is_a_miss_that_is_told(path: Path, damage: str) -> None:
    """Whatever stands where something else should; the next reply takes its place."""
    cache = Cache(path, 60)
    cache.put("key", KEPT)
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE replies SET {damage}")
    db.close()
    with metered() as meter:
        assert cache.get("key") is None
    assert str(path) in meter.degraded[0]
    cache.put("key", KEPT)
    assert cache.get("key") == KEPT


def test_a_damaged_file_is_a_miss_that_is_told(path: Path) -> None:
    """Wherever the damage is; what is found all the same is what was put there, but for its own bytes."""
    Cache(path, 60).put("key", KEPT)
    whole, chance = path.read_bytes(), random.Random(9)
    for _ in range(100):
        data = bytearray(whole)
        for at in (chance.randrange(len(whole)), chance.randrange(4096, 4096 + 200), chance.randrange(200)):
            data[at] ^= chance.randrange(1, 256)
        path.write_bytes(data[: chance.choice((len(data), 5000))])
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        cache = Cache(path, 60)
        with metered() as meter:
            found = cache.get("key")
            cache.put("key", KEPT)
        assert found is None or isinstance(found, Reply)
        assert all(str(path) in told for told in meter.degraded)
        del cache  # which closes the file


@pytest.mark.parametrize("version", [0, 99])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, version: int) -> None:
    """A path may be mistyped; the step says that nothing is kept."""
    path = tmp_path / "precious.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE replies (letter TEXT)")
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    before = path.read_bytes()
    with metered() as meter:
        Cache(path, 60).put("key", KEPT)
    assert path.read_bytes() == before
    assert "it holds something else" in meter.degraded[0]


def test_a_folder_in_its_place_stops_nothing_and_the_step_says_so(tmp_path: Path) -> None:
    """Nothing is cached."""
    cache = Cache(tmp_path, 60)
    with metered() as meter:
        cache.put("key", KEPT)
        assert cache.get("key") is None
    assert "cannot be used" in meter.degraded[0]


def test_many_threads_share_a_cache(path: Path) -> None:
    """Nothing is lost, and nobody gets another's reply."""
    cache = Cache(path, 60)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: cache.put(str(i), replace(KEPT, body=b"%d" % i)), range(100)))
        found = list(pool.map(lambda i: cache.get(str(i)), range(100)))
    assert [kept and kept.body for kept in found] == [b"%d" % i for i in range(100)]


@given(
    url=some.text(some.characters(exclude_categories=["Cs"])),
    headers=some.dictionaries(some.text("ab-"), some.text("xyz")),
    body=some.binary(),
)
def test_any_reply_survives_the_file(
    tmp_path_factory: pytest.TempPathFactory, url: str, headers: dict[str, str], body: bytes
) -> None:
    """Byte for byte."""
    cache = Cache(tmp_path_factory.getbasetemp() / "any.db", 60)
    cache.put("key", kept := Reply(url, 404, headers, body))
    assert cache.get("key") == kept
    del cache  # which closes the file
