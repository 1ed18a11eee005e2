"""That an index outlives failures, kills, full disks and rebuilds, and serves its readers meanwhile."""

import resource
import sqlite3
import subprocess
import sys
from contextlib import contextmanager

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.intake import BATCH
from surefoot.index.search import Index
from surefoot.types.errors import IndexFault


class Failing(Hashing):
    """Embeds one batch, and is interrupted in the next."""

    batches = 1

    def embed(self, texts):
        if self.batches == 0:
            raise KeyboardInterrupt
        self.batches -= 1
        return super().embed(texts)


def info(home):
    with Index.open(home.place) as index:
        return index.info()


def test_a_rebuilt_index_holds_only_what_was_given(home):
    """It starts from nothing, and leaves nothing beside the index."""
    home.write(a="one", b="two")
    home.build()
    home.build(home.docs / "b.txt", rebuild=True)
    assert home.texts() == ["two"]
    beside = {file.name.removeprefix("index.db") for file in home.place.parent.iterdir()}
    assert beside <= {"", ".lock", "-wal", "-shm"}


def test_a_rebuild_that_fails_leaves_the_index(home):
    """The old one is replaced by a finished one only."""
    home.write(a="one")
    home.build()
    broken = Failing()
    broken.batches = 0
    with pytest.raises(KeyboardInterrupt):
        home.build(embedder=broken, rebuild=True)
    assert home.texts() == ["one"]


@contextmanager
def files_of_at_most(size: int):
    """What a full disk is to SQLite: no file grows beyond so many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("size", [1_000, 20_000, 100_000, 400_000, 700_000])
def test_a_rebuild_on_a_full_disk_leaves_the_index_and_nothing_else(home, size):
    """Wherever it fails, also when all is in the log and does not fit into the file."""
    home.write(a="one")
    home.build()
    home.rows("b", *({"text": f"row {n} " * 50} for n in range(BATCH)))
    before = home.content()
    with files_of_at_most(size), pytest.raises(IndexFault, match=r"index\.db: .*(space|disk)"):
        home.build(rebuild=True)
    assert not list(home.place.parent.glob("*.new*"))
    assert home.content() == before


@pytest.mark.slow
def test_a_rebuild_whose_log_fits_and_whose_file_does_not_leaves_the_index(home):
    """Closing brings the log into the file as far as it goes, and says nothing."""
    home.write(a="one")
    home.build()
    home.rows("b", *({"text": f"row {n} " * 1200} for n in range(BATCH)))
    before, other = home.content(), home.folder / "other.db"
    build([home.docs], other, Hashing())
    with files_of_at_most(other.stat().st_size - 20_000), pytest.raises(IndexFault):
        home.build(rebuild=True)
    assert home.content() == before


def test_a_full_disk_is_an_index_fault_and_the_next_run_goes_on(home):
    """One line that names the index."""
    home.rows("a", *({"text": f"row {n} " * 50} for n in range(BATCH)))
    with files_of_at_most(200_000), pytest.raises(IndexFault, match=r"index\.db: "):
        home.build()
    home.build()
    assert info(home).passages == BATCH


def test_a_damaged_index_can_be_rebuilt(home):
    """The way out that the message names."""
    home.write(a="one")
    home.build()
    home.place.write_bytes(home.place.read_bytes()[:5000])
    with pytest.raises(IndexFault, match="--rebuild"):
        home.build()
    home.build(rebuild=True)
    assert home.texts() == ["one"]


def another_programs_database() -> bytes:
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE bookmarks (url)")
        db.commit()
        found = db.serialize()
    db.close()
    return found


@pytest.mark.parametrize("content", [b"Dear Sir, " * 100, another_programs_database()])
def test_a_file_that_is_no_index_is_left_alone(home, content):
    """Neither a letter nor another program's database is read, or written over."""
    home.write(a="one")
    home.place.parent.mkdir()
    home.place.write_bytes(content)
    for use in (home.build, lambda: home.build(rebuild=True), home.texts):
        with pytest.raises(IndexFault, match="not an index"):
            use()
    assert home.place.read_bytes() == content


def test_an_interrupted_run_leaves_whole_batches_and_says_so(home):
    """What was committed can be searched; the index knows that it is not all."""
    home.rows("a", *({"text": f"row {n}"} for n in range(3 * BATCH)))
    with pytest.raises(KeyboardInterrupt):
        home.build(embedder=Failing())
    with Index.open(home.place) as index:
        assert (index.info().passages, index.info().complete) == (BATCH, False)
        assert index.vectors().shape == (BATCH, 256)
        index.verify()
    home.build()
    assert (info(home).passages, info(home).complete) == (3 * BATCH, True)


def test_a_file_put_back_after_an_interrupted_update_is_read_again(home):
    """It looks as it did when it was indexed, but the index holds half of what it was in between."""
    table = home.rows("a", *({"id": str(n), "text": f"old {n}"} for n in range(2 * BATCH)))
    home.age(table.name)
    home.build()
    before, old = home.content(), table.read_bytes()
    home.rows("a", *({"id": str(n), "text": f"new {n}"} for n in range(2 * BATCH)))
    with pytest.raises(KeyboardInterrupt):
        home.build(embedder=Failing())
    table.write_bytes(old)
    home.age(table.name)
    assert info(home).complete is False
    home.build()
    assert home.content() == before


def test_an_index_is_rebuilt_under_a_reader(home):
    """What the old one had in its log, since a reader held on to it, does not get into the new one."""
    table = home.rows("a", *({"text": f"row {n} " * 20} for n in range(BATCH)))
    home.write(b="one")
    home.build(home.docs / "b.txt")
    with Index.open(home.place) as index:
        reading = index.passages()
        next(reading)
        home.build(table)
        assert home.place.with_name("index.db-wal").stat().st_size > 0
        home.build(home.docs / "b.txt", rebuild=True)
        assert list(reading) == []
        assert [passage.text for passage in index.passages()] == ["one"]
    assert home.texts() == ["one"]


_BIDDEN = """
import sys
from surefoot.index.build import build
from surefoot.embedders.hashing import Hashing
class Bidden(Hashing):
    def embed(self, texts):
        print("embeds", flush=True)
        sys.stdin.readline()
        return super().embed(texts)
build([sys.argv[1]], sys.argv[2], Bidden(), rebuild=len(sys.argv) > 3)
"""
"""A run that embeds a batch for each line that it is given, and all the others where its input ends."""


def _after(batches: int, home, *more: str) -> subprocess.Popen:
    """A run that has embedded so many batches, and waits in the midst of the next."""
    command = [sys.executable, "-c", _BIDDEN, str(home.docs), str(home.place), *more]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"\n" * batches)
    process.stdin.flush()
    for _ in range(batches + 1):
        assert process.stdout.readline() == b"embeds\n"
    return process


def _killed(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_a_killed_run_is_finished_by_the_next(home):
    """After a real SIGKILL in the midst of a table and of a long document, the end is that of an undisturbed run, and
    in between each document is whole."""
    home.rows("a", *({"id": str(n), "text": f"hut number {n}"} for n in range(3 * BATCH)))
    home.write(b=" ".join(f"rope {n}" for n in range(240 * BATCH)), c="Number 3.\n\n" + "word " * 300 * BATCH)
    seen: dict[str, int] = {}
    for batches in (1, 4, 2):
        _killed(_after(batches, home))
        with Index.open(home.place) as index:
            assert index.info().complete is False
            assert len(index.lexical("hut", 5)) == 5
            seen |= {each.id: each.passages for each in index.documents() if each.passages}
    assert home.build().files.added > 0
    with Index.open(home.place) as index:
        assert seen.items() <= {each.id: each.passages for each in index.documents()}.items()
    build([home.docs], home.folder / "other.db", Hashing())
    assert home.content() == home.content(home.folder / "other.db")


def test_a_killed_rebuild_leaves_the_index_and_can_be_repeated(home):
    """What it had made so far lies beside the index and is thrown away."""
    home.write(a="one")
    home.build()
    home.rows("b", *({"text": f"row {n}"} for n in range(3 * BATCH)))
    new = home.place.with_name("index.db.new")
    process = _after(1, home, "rebuild")
    assert new.exists()
    _killed(process)
    assert home.texts() == ["one"]
    home.build(home.docs / "a.txt", rebuild=True)
    assert (home.texts(), new.exists()) == (["one"], False)


def test_a_second_process_is_told_that_the_index_is_being_written(home):
    """At once, and without harm to the first."""
    home.rows("a", *({"text": f"row {n}"} for n in range(4 * BATCH)))
    process = _after(1, home)
    with pytest.raises(IndexFault, match="written by another process"):
        home.build()
    process.communicate()
    assert (process.returncode, info(home).passages) == (0, 4 * BATCH)
