"""How files become an index, and stay one."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attacks
from surefoot.documents import limits
from surefoot.documents.discover import Patterns
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import Changes, build
from surefoot.index.intake import BATCH
from surefoot.index.search import Index
from surefoot.types.errors import IndexFault


class Counting(Hashing):
    """The hashing embedder, which remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts):
        self.seen += texts
        return super().embed(texts)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


@pytest.fixture
def place(tmp_path):
    return tmp_path / "made" / "index.db"


def rows(path: Path, *rows: dict) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def content(place: Path) -> tuple:
    """All that a reader can tell of an index."""
    with Index.open(place) as index:
        return tuple(index.passages()), index.vectors().tolist(), index.lexical("hut glacier rope", 50)


@pytest.fixture
def no_doubt(monkeypatch):
    """As if the files were older than the clock's tick."""
    monkeypatch.setattr("surefoot.index.build._YOUNG_NS", 0)


def age(*paths: Path) -> None:
    """Set the times of the last change back."""
    for path in paths:
        os.utime(path, (1_000_000_000, 1_000_000_000))


def test_passages_carry_their_title_path_and_text(docs, place):
    """From the file to the reader, nothing is lost."""
    (docs / "hut.md").write_text("# Hut\n\nForty beds.")
    report = build([docs], place, Hashing())
    ((passage,), _, _) = content(place)
    assert (passage.title, passage.text, passage.url) == ("Hut", "Forty beds.", "docs/hut.md#L3")
    assert report.files == report.documents == report.passages == Changes(added=1)


def test_the_title_is_embedded_with_the_text(docs, place):
    """A passage may not say what it is about; its title does."""
    rows(docs / "a.jsonl", {"title": "Hut", "text": "Forty beds."})
    embedder = Counting()
    build([docs], place, embedder)
    assert embedder.seen == ["Hut\nForty beds."]


def test_an_unchanged_file_is_not_opened(docs, place, monkeypatch, no_doubt):
    """What the folder says of it is enough."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    monkeypatch.setattr(Path, "open", None)
    assert build([docs], place, Hashing()).files == Changes(unchanged=1)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time that cannot be set")
def test_an_edit_with_the_same_size_and_time_is_noticed(docs, place, no_doubt):
    """Who sets the time back cannot set back that of the entry."""
    file = docs / "a.txt"
    file.write_text("one")
    age(file)
    build([docs], place, Hashing())
    file.write_text("two")
    age(file)
    assert build([docs], place, Hashing()).files == Changes(updated=1)
    assert content(place)[0][0].text == "two"


def test_a_file_put_in_the_place_of_another_is_noticed(docs, place, no_doubt):
    """Same size, same time."""
    file, other = docs / "a.txt", docs.parent / "b.txt"
    file.write_text("one")
    other.write_text("two")
    age(file, other)
    build([docs], place, Hashing())
    other.replace(file)
    assert build([docs], place, Hashing()).files == Changes(updated=1)


def test_a_file_changed_within_the_clocks_doubt_is_noticed(docs, place):
    """Same size, same time, another content: files this young are compared by their hash."""
    file = docs / "a.txt"
    file.write_text("one")
    stamp = file.stat().st_mtime_ns
    build([docs], place, Hashing())
    file.write_text("two")
    os.utime(file, ns=(stamp, stamp))
    assert build([docs], place, Hashing()).files == Changes(updated=1)
    assert content(place)[0][0].text == "two"


def test_a_touched_file_is_embedded_no_more(docs, place):
    """A new time with the old content changes nothing."""
    file = docs / "a.txt"
    file.write_text("one")
    build([docs], place, Hashing())
    age(file)
    embedder = Counting()
    assert build([docs], place, embedder).files == Changes(unchanged=1)
    assert embedder.seen == []


def test_a_run_without_changes_writes_nothing(docs, place, no_doubt):
    """The time of the last change stays that, and readers keep what they have loaded."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    before = place.read_bytes()
    build([docs], place, Hashing())
    assert place.read_bytes() == before


def test_files_that_are_no_longer_where_they_were_are_told(docs, place, tmp_path):
    """An index that was moved holds each of them twice."""
    for name in ("a.txt", "b.txt", "c.txt"):
        (docs / name).write_text(f"The hut of {name}.")
    build([docs], place, Hashing())
    moved = tmp_path / "another" / "folder" / "index.db"
    moved.parent.mkdir(parents=True)
    shutil.move(place, moved)
    (noted,) = build([docs], moved, Hashing()).notes
    assert noted[0] == "docs/a.txt"
    assert noted[1].startswith("is in the index and no longer where it was, like 2 others; where the index was moved")
    assert build([docs], moved, Hashing(), rebuild=True).notes == ()


def test_a_file_of_another_folder_that_is_there_is_not_told(docs, place, tmp_path):
    """Nor one below the folders of this run that is gone, since it leaves the index."""
    (tmp_path / "more").mkdir()
    for file in (docs / "a.txt", docs / "b.txt", tmp_path / "more" / "c.txt"):
        file.write_text("The hut is open.")
    build([docs, tmp_path / "more"], place, Hashing())
    (docs / "b.txt").unlink()
    assert build([docs], place, Hashing()).notes == ()


def test_only_the_changed_rows_of_a_table_are_embedded(docs, place):
    """Also where a row without an id is put in before the others."""
    table = docs / "a.jsonl"
    rows(table, {"id": "a", "text": "one"}, {"text": "two"}, {"id": "c", "text": "three"})
    build([docs], place, Hashing())
    rows(table, {"text": "zero"}, {"id": "a", "text": "ONE"}, {"text": "two"})
    embedder = Counting()
    report = build([docs], place, embedder)
    assert sorted(embedder.seen) == ["ONE", "zero"]
    assert report.documents == Changes(added=1, updated=1, unchanged=1, removed=1)
    assert report.passages == Changes(added=2, unchanged=1, removed=2)


def test_a_deleted_file_leaves_the_index(docs, place):
    """When a folder above it is indexed again."""
    (docs / "sub").mkdir()
    (docs / "sub/a.txt").write_text("one")
    (docs / "b.txt").write_text("two")
    build([docs], place, Hashing())
    (docs / "sub/a.txt").unlink()
    report = build([docs], place, Hashing())
    assert report.files == Changes(unchanged=1, removed=1)
    assert [passage.text for passage in content(place)[0]] == ["two"]


def test_another_path_adds_to_the_index(tmp_path, place):
    """What came from elsewhere stays, also from a folder of the same name."""
    for name in ("a/docs", "b/docs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.txt").write_text(name)
        build([tmp_path / name], place, Hashing())
    assert sorted(passage.text for passage in content(place)[0]) == ["a/docs", "b/docs"]


def test_a_file_reached_by_two_paths_is_in_the_index_once(docs, place):
    """By its folder and by its name, in one run and in two."""
    (docs / "a.txt").write_text("one")
    build([docs, docs / "a.txt"], place, Hashing())
    build([docs / "a.txt"], place, Hashing())
    assert len(content(place)[0]) == 1


def test_an_index_that_moved_with_its_files_still_knows_them(tmp_path):
    """Places are kept relative to the index."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "a.txt").write_text("one")
    build([home / "a.txt"], home / ".surefoot/index.db", Hashing())
    moved = home.rename(tmp_path / "moved")
    assert build([moved / "a.txt"], moved / ".surefoot/index.db", Hashing()).files == Changes(unchanged=1)


def test_no_absolute_path_is_written(tmp_path, docs, place):
    """An index can be handed on without telling where it was made."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    assert str(tmp_path).encode() not in place.read_bytes()


def test_what_cannot_be_read_is_reported_and_the_rest_goes_on(docs, place, no_doubt):
    """Again in the next run, though the file is not read again."""
    (docs / "a.pdf").write_bytes(b"junk")
    (docs / "b.txt").write_text("one")
    first = build([docs], place, Hashing())
    assert [path for path, _ in first.skipped] == ["docs/a.pdf"]
    assert first.files == Changes(added=1, skipped=1)
    again = build([docs], place, Hashing())
    assert (again.skipped, again.files) == (first.skipped, Changes(unchanged=1, skipped=1))
    assert len(content(place)[0]) == 1


def test_each_file_is_counted_once(docs, place, no_doubt):
    """A file that can no longer be read is skipped, and not changed or gone as well."""
    for name in ("a.txt", "b.txt", "c.txt"):
        (docs / name).write_text(f"file {name}")
    assert build([docs], place, Hashing()).files == Changes(added=3)
    (docs / "a.txt").write_bytes(b"\0")
    (docs / "b.txt").write_text("x" * 1000)
    report = build([docs], place, Hashing(), max_bytes=500)
    assert report.files == Changes(unchanged=1, skipped=2)
    assert build([docs / "c.txt"], place, Hashing()).files == Changes(unchanged=1)
    (docs / "a.txt").write_text("read again")
    assert build([docs], place, Hashing(), max_bytes=500).files == Changes(updated=1, unchanged=1, skipped=1)


def test_a_file_with_some_bad_rows_is_not_skipped(docs, place):
    """Its good rows are in the index."""
    (docs / "a.jsonl").write_text('x\n{"text": "one"}')
    report = build([docs], place, Hashing())
    assert (report.files, len(report.skipped)) == (Changes(added=1), 1)


def test_ignored_files_are_counted_by_kind(docs, place):
    """The commonest first, each with its paths; text without a suffix is read."""
    for name in ("a.txt", "b.log", "c.LOG", "d.gz", "e", ".f"):
        (docs / name).write_text("text")
    (docs / "h").write_bytes(b"\0")
    (docs / "g.txt").symlink_to(docs / "a.txt")
    kinds = build([docs], place, Hashing()).ignored
    assert kinds[0] == (".log", ("docs/b.log", "docs/c.LOG"))
    assert set(kinds[1:]) == {
        (".gz", ("docs/d.gz",)),
        ("binary or empty", ("docs/h",)),
        ("hidden", ("docs/.f",)),
        ("links", ("docs/g.txt",)),
    }


def test_patterns_choose_files_for_one_run(docs, place):
    """What a run leaves out leaves the index, and the next run without the pattern brings it back."""
    (docs / "old").mkdir(parents=True)
    for name in ("a.txt", "b.md", "old/c.txt"):
        (docs / name).write_text("text")
    assert build([docs], place, Hashing()).files.added == 3
    chosen = build([docs], place, Hashing(), patterns=Patterns(include=["*.txt"], exclude=["docs/old/*"]))
    assert (chosen.files.removed, chosen.files.unchanged) == (2, 1)
    assert chosen.ignored == (("left out", ("docs/b.md", "docs/old/c.txt")),)
    assert build([docs], place, Hashing()).files.added == 2


def test_patterns_that_leave_nothing_say_so(docs, place):
    """A typing error in a pattern does not empty an index."""
    (docs / "a.txt").write_text("text")
    with pytest.raises(IndexFault, match="--include and --exclude leave all of them out"):
        build([docs], place, Hashing(), patterns=Patterns(include=["*.tex"]))


@pytest.mark.slow
def test_what_takes_too_much_is_named_and_all_others_are_indexed(docs, place, monkeypatch):
    """A picture of 4 GB, and a page that takes minutes: neither takes its neighbours with it."""
    monkeypatch.setattr(limits, "processor_seconds", lambda size: 60 if size < 4_500_000 else 1)
    monkeypatch.setattr(limits, "silent_seconds", lambda size: 600)
    (docs / "b.docx").write_bytes(attacks.large_picture())
    (docs / "d.html").write_bytes(attacks.many_attributes())
    for name in "ace":
        (docs / f"{name}.txt").write_text(f"file {name}")
    age(*docs.iterdir())
    report = build([docs], place, Hashing())
    assert {passage.text for passage in content(place)[0]} == {"file a", "file c", "file e"}
    assert report.skipped == (
        ("docs/b.docx", "needs more than 1 GB of memory to be read; split it"),
        ("docs/d.html", "takes more than 1 s of processor time to be read; split it"),
    )
    again = build([docs], place, Hashing())
    assert (again.skipped, again.files) == (report.skipped, Changes(unchanged=3, skipped=2))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_what_broke_off_for_a_reason_that_may_pass_is_read_again(docs, place, monkeypatch):
    """A disk that did not answer, or a machine without memory, is no property of the file."""
    monkeypatch.setattr(limits, "silent_seconds", lambda size: 1)
    monkeypatch.setattr("surefoot.documents.discover.S_ISREG", lambda mode: True)
    os.mkfifo(docs / "a.txt")
    age(docs / "a.txt")
    assert build([docs], place, Hashing()).skipped == (("docs/a.txt", "gave no answer for 1 s"),)
    monkeypatch.undo()
    (docs / "a.txt").unlink()
    (docs / "a.txt").touch()
    age(docs / "a.txt")
    assert build([docs], place, Hashing()).skipped == (("docs/a.txt", "holds no text"),)


def test_a_reservation_about_an_encoding_is_a_note(docs, place):
    """Nothing was skipped."""
    (docs / "a.txt").write_bytes("Der Bäcker".encode("cp1252"))
    report = build([docs], place, Hashing())
    assert report.skipped == ()
    assert report.notes == (("docs/a.txt", "is not UTF-8; it was read as cp1252"),)


def test_many_bad_rows_are_told_in_few_lines(docs, place):
    """A broken table does not fill the screen."""
    (docs / "a.jsonl").write_text("x\n" * 1234 + '{"text": "one"}')
    skipped = build([docs], place, Hashing()).skipped
    assert len(skipped) == 21
    assert skipped[-1][1] == "and 1,214 more"


def test_a_row_whose_id_came_before_in_its_file_is_reported_and_skipped(docs, place):
    """The first keeps it; a row of another file may have the same."""
    rows(docs / "a.jsonl", {"id": "x", "text": "one"}, {"id": "x", "text": "two"})
    rows(docs / "b.jsonl", {"id": "x", "text": "three"})
    report = build([docs], place, Hashing())
    assert sorted(passage.text for passage in content(place)[0]) == ["one", "three"]
    assert [path for path, _ in report.skipped] == ["docs/a.jsonl"]


@pytest.mark.parametrize("order", ["a.jsonl", "z.jsonl"])
def test_a_row_cannot_take_the_place_of_another_files_passage(docs, place, order):
    """Neither by its id nor by its address; each says in which file it really stands."""
    (docs / "policy.txt").write_text("Refunds take ten days.")
    build([docs], place, Hashing())
    ((policy,), _, _) = content(place)
    liar = {"url": "docs/policy.txt", "text": "Refunds take one day."}
    rows(docs / order, liar | {"id": policy.id}, liar, liar | {"text": policy.text}, liar | {"id": f"{policy.id}#2"})
    report = build([docs], place, Hashing())
    assert (report.skipped, report.passages.removed) == ((), 0)
    assert policy in content(place)[0]
    assert sorted(passage.file for passage in content(place)[0]) == sorted([f"docs/{order}"] * 4 + ["docs/policy.txt"])
    assert len({passage.id for passage in content(place)[0]}) == 5


def test_files_of_one_path_have_name_spaces_of_their_own(tmp_path, place):
    """Two folders may be called docs, and hold the same."""
    for name in ("a/docs", "b/docs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "x.txt").write_text("one")
        rows(tmp_path / name / "y.jsonl", {"id": "y", "text": "two"})
    assert build([tmp_path / "a/docs", tmp_path / "b/docs"], place, Hashing()).skipped == ()
    assert [passage.file for passage in content(place)[0]].count("docs/x.txt") == 2


def test_characters_that_cannot_be_stored_are_replaced(docs, place):
    """Half of a surrogate pair, or a NUL, in an escaped JSON string."""
    (docs / "a.jsonl").write_text('{"id": "\\ud800", "title": "a\\nb", "text": "x\\u0000y"}')
    build([docs], place, Hashing())
    ((passage,), _, _) = content(place)
    assert (passage.id.partition(":")[2], passage.title, passage.text) == ("\ufffd", "a b", "x\ufffdy")


def test_a_folder_without_a_readable_file_is_refused(docs, place):
    """Also when it was indexed before: a folder that is not mounted does not empty the index."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    (docs / "a.txt").unlink()
    with pytest.raises(IndexFault, match=r"docs holds no file .*\.txt"):
        build([docs], place, Hashing())
    assert len(content(place)[0]) == 1


def test_nothing_readable_leaves_no_index_behind(docs, place):
    """A named file of another kind is told of in the error."""
    (docs / "a.exe").write_text("one")
    with pytest.raises(IndexFault, match=r"a\.exe"):
        build([docs / "a.exe"], place, Hashing())
    assert not place.exists()


def test_another_embedders_index_is_not_added_to(docs, place):
    """Vectors of two embedders cannot be compared; the message names both and the way out."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    other = Hashing()
    other.name = "other"
    with pytest.raises(IndexFault, match=r"hashing-256.*other.*--rebuild"):
        build([docs], place, other)
    build([docs], place, other, rebuild=True)
    with Index.open(place) as index:
        assert index.info().embedder == "other"


def test_a_rebuilt_index_holds_only_what_was_given(tmp_path, docs, place):
    """It starts from nothing, and leaves nothing beside the index."""
    (docs / "a.txt").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    build([docs], place, Hashing())
    build([tmp_path / "b.txt"], place, Hashing(), rebuild=True)
    assert [passage.text for passage in content(place)[0]] == ["two"]
    assert {file.name for file in place.parent.iterdir()} <= {
        "index.db",
        "index.db.lock",
        "index.db-wal",
        "index.db-shm",
    }


def test_a_rebuild_that_fails_leaves_the_index(docs, place):
    """The old one is replaced by a finished one only."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    broken = Hashing()
    broken.embed = None
    with pytest.raises(TypeError):
        build([docs], place, broken, rebuild=True)
    assert len(content(place)[0]) == 1


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
def test_a_rebuild_on_a_full_disk_leaves_the_index_and_nothing_else(docs, place, size):
    """Wherever it fails, also when all is in the log and does not fit into the file."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    rows(docs / "b.jsonl", *({"text": f"row {n} " * 50} for n in range(BATCH)))
    before = content(place)
    with files_of_at_most(size), pytest.raises(IndexFault, match=r"index\.db: .*(space|disk)"):
        build([docs], place, Hashing(), rebuild=True)
    assert not list(place.parent.glob("*.new*"))
    assert content(place) == before


@pytest.mark.slow
def test_a_rebuild_whose_log_fits_and_whose_file_does_not_leaves_the_index(docs, place):
    """Closing brings the log into the file as far as it goes, and says nothing."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    rows(docs / "b.jsonl", *({"text": f"row {n} " * 1200} for n in range(BATCH)))
    before, other = content(place), place.with_name("other.db")
    build([docs], other, Hashing())
    with files_of_at_most(other.stat().st_size - 20_000), pytest.raises(IndexFault):
        build([docs], place, Hashing(), rebuild=True)
    assert content(place) == before


def test_an_index_is_searched_on_a_full_disk(docs, place):
    """Where there is no room for the file that its readers share."""
    (docs / "a.txt").write_text("one hut")
    build([docs], place, Hashing())
    assert not place.with_name("index.db-shm").exists()
    with files_of_at_most(1_000), Index.open(place) as index:
        assert [passage.text for passage in index.lexical("hut", 5)] == ["one hut"]


def test_a_damaged_index_can_be_rebuilt(docs, place):
    """The way out that the message names."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    place.write_bytes(place.read_bytes()[:5000])
    with pytest.raises(IndexFault, match="--rebuild"):
        build([docs], place, Hashing())
    build([docs], place, Hashing(), rebuild=True)
    assert len(content(place)[0]) == 1


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_file_that_is_no_index_is_left_alone(docs, place, rebuild):
    """Neither a letter nor another program's database is written over."""
    (docs / "a.txt").write_text("one")
    place.parent.mkdir()
    for before in (b"Dear Sir, " * 100, _foreign_database()):
        place.write_bytes(before)
        with pytest.raises(IndexFault, match="not an index"):
            build([docs], place, Hashing(), rebuild=rebuild)
        assert place.read_bytes() == before


def _foreign_database() -> bytes:
    import sqlite3

    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE bookmarks (url)")
        db.commit()
        found = db.serialize()
    db.close()
    return found


def test_progress_counts_bytes_up_to_a_known_total(docs, place):
    """Committed work only, so that an estimate of the time left is honest."""
    rows(docs / "a.jsonl", *({"text": f"row {n}"} for n in range(2 * BATCH)))
    told = []
    build([docs], place, Hashing(), on_progress=told.append)
    size = (docs / "a.jsonl").stat().st_size
    assert {now.total for now in told} <= {0, size}
    assert [now.bytes for now in told] == sorted(now.bytes for now in told)
    assert [now.documents for now in told] == sorted(now.documents for now in told)
    assert (told[-1].bytes, told[-1].documents, told[-1].passages) == (size, 2 * BATCH, 2 * BATCH)
    assert len(told) >= 4


def test_an_interrupted_run_leaves_whole_batches_and_says_so(docs, place):
    """What was committed can be searched; the index knows that it is not all."""
    rows(docs / "a.jsonl", *({"text": f"row {n}"} for n in range(3 * BATCH)))

    class Interrupted(Counting):
        def embed(self, texts):
            if self.seen:
                raise KeyboardInterrupt
            return super().embed(texts)

    with pytest.raises(KeyboardInterrupt):
        build([docs], place, Interrupted())
    with Index.open(place) as index:
        assert (index.info().passages, index.info().complete) == (BATCH, False)
        assert index.vectors().shape == (BATCH, 256)
    build([docs], place, Hashing())
    with Index.open(place) as index:
        assert (index.info().passages, index.info().complete) == (3 * BATCH, True)


def test_a_file_put_back_after_an_interrupted_update_is_read_again(docs, place):
    """It looks as it did when it was indexed, but the index holds half of what it was in between."""
    table = docs / "a.jsonl"
    rows(table, *({"id": str(n), "text": f"old {n}"} for n in range(2 * BATCH)))
    age(table)
    build([docs], place, Hashing())
    before = content(place)
    old = table.read_bytes()
    rows(table, *({"id": str(n), "text": f"new {n}"} for n in range(2 * BATCH)))
    broken, calls = Hashing(), iter([Hashing().embed])
    broken.embed = lambda texts: next(calls)(texts)
    with pytest.raises(StopIteration):
        build([docs], place, broken)
    table.write_bytes(old)
    age(table)
    with Index.open(place) as index:
        assert index.info().complete is False
    build([docs], place, Hashing())
    assert content(place) == before


def test_an_index_is_rebuilt_under_a_reader(docs, place):
    """What the old one had in its log, since a reader held on to it, does not get into the new one."""
    rows(docs / "a.jsonl", *({"text": f"row {n} " * 20} for n in range(BATCH)))
    (docs / "b.txt").write_text("one")
    build([docs / "b.txt"], place, Hashing())
    with Index.open(place) as index:
        reading = index.passages()
        next(reading)
        build([docs / "a.jsonl"], place, Hashing())
        assert place.with_name("index.db-wal").stat().st_size > 0
        build([docs / "b.txt"], place, Hashing(), rebuild=True)
        assert list(reading) == []
        assert [passage.text for passage in index.passages()] == ["one"]
    assert [passage.text for passage in content(place)[0]] == ["one"]


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


def _after(batches: int, docs: Path, place: Path, *more: str) -> subprocess.Popen:
    """A run that has embedded so many batches, and waits in the midst of the next."""
    command = [sys.executable, "-c", _BIDDEN, str(docs), str(place), *more]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"\n" * batches)
    process.stdin.flush()
    for _ in range(batches + 1):
        assert process.stdout.readline() == b"embeds\n"
    return process


def _passages(place: Path) -> int:
    try:
        with Index.open(place) as index:
            return index.info().passages
    except IndexFault:
        return 0


@pytest.mark.slow
def test_a_killed_run_is_finished_by_the_next(docs, place, tmp_path):
    """After a real SIGKILL in the midst of a table and of a long document, the end is that of an undisturbed run."""
    rows(docs / "a.jsonl", *({"id": str(n), "text": f"hut number {n}"} for n in range(3 * BATCH)))
    (docs / "b.txt").write_text(" ".join(f"rope {n}" for n in range(240 * BATCH)))
    for batches in (1, 4):
        process = _after(batches, docs, place)
        process.kill()
        process.communicate()
        with Index.open(place) as index:
            assert index.info().complete is False
            assert len(index.lexical("hut", 5)) == 5
    report = build([docs], place, Hashing())
    assert report.files.added > 0
    build([docs], tmp_path / "other.db", Hashing())
    assert content(place) == content(tmp_path / "other.db")


def test_a_killed_rebuild_leaves_the_index_and_can_be_repeated(docs, place):
    """What it had made so far lies beside the index and is thrown away."""
    (docs / "a.txt").write_text("one")
    build([docs], place, Hashing())
    rows(docs / "b.jsonl", *({"text": f"row {n}"} for n in range(3 * BATCH)))
    new = place.with_name("index.db.new")
    process = _after(1, docs, place, "rebuild")
    assert new.exists()
    process.kill()
    process.communicate()
    assert len(content(place)[0]) == 1
    build([docs / "a.txt"], place, Hashing(), rebuild=True)
    assert len(content(place)[0]) == 1
    assert not new.exists()


def test_a_second_process_is_told_that_the_index_is_being_written(docs, place):
    """At once, and without harm to the first, while readers go on."""
    rows(docs / "a.jsonl", *({"text": f"row {n}"} for n in range(4 * BATCH)))
    process = _after(1, docs, place)
    with pytest.raises(IndexFault, match="written by another process"):
        build([docs], place, Hashing())
    process.communicate()
    assert process.returncode == 0
    assert _passages(place) == 4 * BATCH


def test_a_full_disk_is_an_index_fault(docs, place):
    """One line that names the index, and what had been committed stays."""
    rows(docs / "a.jsonl", *({"text": f"row {n} " * 50} for n in range(BATCH)))
    with files_of_at_most(200_000), pytest.raises(IndexFault, match=r"index\.db: "):
        build([docs], place, Hashing())
    build([docs], place, Hashing())
    assert _passages(place) == BATCH


def test_readers_see_whole_batches_while_an_index_is_written(docs, place):
    """Never a passage without its vector."""
    rows(docs / "a.jsonl", *({"text": f"row {n}"} for n in range(6 * BATCH)))
    (docs / "b.txt").write_text("one")
    build([docs / "b.txt"], place, Hashing())
    writing = threading.Thread(target=build, args=([docs], place, Hashing()))
    with Index.open(place) as index:
        writing.start()
        seen = set()
        while writing.is_alive():
            seen.add(len(index.vectors()))
            assert index.nearest(Hashing().embed(["row 1"])[0], 3)
        writing.join()
        assert len(index.vectors()) == 6 * BATCH + 1
    assert all(count % BATCH <= 1 for count in seen)


WORDS = st.sampled_from("hut glacier rope bridge".split())
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
ROW = st.builds(dict, id=st.sampled_from("abcd"), text=TEXT) | st.builds(dict, text=TEXT)
FILES = st.dictionaries(
    st.sampled_from(["a.txt", "b.md", "c.jsonl", "d.jsonl"]), st.lists(ROW, min_size=1, max_size=3), min_size=1
)


def _lay_out(folder: Path, files: dict) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in sorted(files.items()):
        if name.endswith(".jsonl"):
            rows(folder / name, *content)
        else:
            (folder / name).write_text("\n\n".join(row["text"] for row in content))


@settings(max_examples=30, deadline=None)
@given(st.lists(FILES, min_size=2, max_size=4))
def test_step_by_step_ends_as_from_scratch(states):
    """However the files came to be as they are, the index of them is the same."""
    with tempfile.TemporaryDirectory() as home:
        docs, place = Path(home, "docs"), Path(home, "made/index.db")
        for files in states:
            _lay_out(docs, files)
            build([docs], place, Hashing())
        build([docs], Path(home, "scratch.db"), Hashing())
        assert content(place) == content(Path(home, "scratch.db"))
