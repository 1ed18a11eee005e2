"""How files become an index, and stay one."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from surefoot.documents import limits
from surefoot.documents.discover import Patterns
from surefoot.documents.loaders import LACKING, DocumentProblem
from surefoot.documents.reading import Reading
from surefoot.embedders.hashing import Hashing
from surefoot.index.build import Changes, build
from surefoot.index.intake import BATCH
from surefoot.index.search import Index
from surefoot.types.errors import IndexFault


@pytest.fixture
def no_doubt(monkeypatch):
    """As if the files were older than the clock's tick."""
    monkeypatch.setattr("surefoot.index.build._YOUNG_NS", 0)


def test_passages_carry_their_title_path_and_text(home, counting):
    """From the file to the reader, nothing is lost; the title, which may say what it is about, is embedded too."""
    (home.docs / "hut.md").write_text("# Hut\n\nForty beds.")
    report = home.build(embedder=counting)
    assert counting.seen == ["Hut\nForty beds."]
    ((passage,), _, _) = home.content()
    assert (passage.title, passage.text, passage.url) == ("Hut", "Forty beds.", "docs/hut.md#L3")
    assert report.files == report.documents == report.passages == Changes(added=1)


def test_an_unchanged_file_is_not_opened_and_nothing_is_written(home, monkeypatch, no_doubt):
    """What the folder says of it is enough; readers keep what they have loaded."""
    home.write(a="one")
    home.build()
    before = home.place.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", None)
        assert home.build().files == Changes(unchanged=1)
    assert home.place.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no time that cannot be set")
@pytest.mark.parametrize("moved", [False, True])
def test_an_edit_with_the_same_size_and_time_is_noticed(home, no_doubt, moved):
    """Who sets the time back, or moves another file there, cannot set back the time of the entry."""
    home.write(a="one", b="two")
    home.age()
    home.age("b.txt")
    home.build(home.docs / "a.txt")
    if moved:
        (home.docs / "b.txt").replace(home.docs / "a.txt")
    else:
        home.write(a="two")
        home.age()
    assert home.build(home.docs / "a.txt").files == Changes(updated=1)
    assert home.texts() == ["two"]


def test_a_file_changed_within_the_clocks_doubt_is_noticed(home):
    """Same size, same time, another content: files this young are compared by their hash."""
    home.write(a="one")
    stamp = (home.docs / "a.txt").stat().st_mtime_ns
    home.build()
    home.write(a="two")
    os.utime(home.docs / "a.txt", ns=(stamp, stamp))
    assert home.build().files == Changes(updated=1)
    assert home.texts() == ["two"]


def test_a_touched_file_is_embedded_no_more(home, counting):
    """A new time with the old content changes nothing."""
    home.write(a="one")
    home.build()
    home.age()
    assert home.build(embedder=counting).files == Changes(unchanged=1)
    assert counting.seen == []


def test_only_the_changed_rows_of_a_table_are_embedded(home, counting):
    """Also where a row without an id is put in before the others."""
    home.rows("a", {"id": "a", "text": "one"}, {"text": "two"}, {"id": "c", "text": "three"})
    home.build()
    home.rows("a", {"text": "zero"}, {"id": "a", "text": "ONE"}, {"text": "two"})
    report = home.build(embedder=counting)
    assert sorted(counting.seen) == ["ONE", "zero"]
    assert report.documents == Changes(added=1, updated=1, unchanged=1, removed=1)
    assert report.passages == Changes(added=2, unchanged=1, removed=2)


def test_a_deleted_file_leaves_the_index(home):
    """When a folder above it is indexed again."""
    (home.docs / "sub").mkdir()
    home.write(**{"sub/a": "one", "b": "two"})
    home.build()
    (home.docs / "sub/a.txt").unlink()
    assert home.build().files == Changes(unchanged=1, removed=1)
    assert home.texts() == ["two"]


def test_folders_of_one_name_have_name_spaces_of_their_own(home):
    """What came from elsewhere stays, and the same texts and ids there are other passages."""
    for name in ("a/docs", "b/docs"):
        (home.docs / name).mkdir(parents=True)
        home.write(**{f"{name}/x": "one"})
        home.rows(f"{name}/y", {"id": "y", "text": "two"})
        assert home.build(home.docs / name).skipped == ()
    assert [passage.file for passage in home.content()[0]].count("docs/x.txt") == 2


def test_a_file_reached_by_two_paths_is_in_the_index_once(home):
    """By its folder and by its name, in one run and in two."""
    home.write(a="one")
    home.build(home.docs, home.docs / "a.txt")
    home.build(home.docs / "a.txt")
    assert home.texts() == ["one"]


def test_an_index_that_moved_with_its_files_still_knows_them(tmp_path):
    """Places are kept relative to the index, and no absolute path is written into it."""
    old = tmp_path / "old"
    old.mkdir()
    (old / "a.txt").write_text("one")
    build([old / "a.txt"], old / ".surefoot/index.db", Hashing())
    assert str(tmp_path).encode() not in (old / ".surefoot/index.db").read_bytes()
    new = old.rename(tmp_path / "new")
    assert build([new / "a.txt"], new / ".surefoot/index.db", Hashing()).files == Changes(unchanged=1)


def test_what_cannot_be_read_is_reported_and_the_rest_goes_on(home, no_doubt):
    """Again in the next run, though the file is not read again. A file is skipped, or changed, or gone: never two."""
    home.write(a="file a", b="file b", c="file c")
    (home.docs / "d.pdf").write_bytes(b"junk")
    first = home.build()
    assert [path for path, _ in first.skipped] == ["docs/d.pdf"]
    assert first.files == Changes(added=3, skipped=1)
    again = home.build()
    assert (again.skipped, again.files) == (first.skipped, Changes(unchanged=3, skipped=1))
    (home.docs / "a.txt").write_bytes(b"\0")
    home.write(b="x" * 1000)
    assert home.build(max_bytes=500).files == Changes(unchanged=1, skipped=3)
    assert home.build(home.docs / "c.txt").files == Changes(unchanged=1)
    home.write(a="read again")
    assert home.build(max_bytes=500).files == Changes(updated=1, unchanged=1, skipped=2)


def test_bad_rows_are_told_in_few_lines_and_the_others_are_indexed(home):
    """A broken table does not fill the screen, and its file is not skipped."""
    (home.docs / "a.jsonl").write_text("x\n" * 1234 + '{"text": "one"}')
    report = home.build()
    assert (report.files, len(report.skipped)) == (Changes(added=1), 21)
    assert report.skipped[-1][1] == "and 1,214 more"


def test_patterns_choose_files_for_one_run(home):
    """What they leave out leaves the index until the next run; a typing error in them does not empty it."""
    (home.docs / "old").mkdir(parents=True)
    for name in ("a.txt", "b.md", "old/c.txt"):
        (home.docs / name).write_text("text")
    assert home.build().files.added == 3
    chosen = home.build(patterns=Patterns(include=["*.txt"], exclude=["docs/old/*"]))
    assert (chosen.files.removed, chosen.files.unchanged) == (2, 1)
    assert chosen.ignored == (("left out", ("docs/b.md", "docs/old/c.txt")),)
    assert home.build().files.added == 2
    with pytest.raises(IndexFault, match="--include and --exclude leave all of them out"):
        home.build(patterns=Patterns(include=["*.tex"]))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_what_broke_off_for_a_reason_that_may_pass_is_read_again(home, monkeypatch):
    """A disk that did not answer, or a machine without memory, is no property of the file."""
    monkeypatch.setattr(limits, "silent_seconds", lambda size: 1)
    monkeypatch.setattr("surefoot.documents.discover.S_ISREG", lambda mode: True)
    os.mkfifo(home.docs / "a.txt")
    home.age()
    assert home.build().skipped == (("docs/a.txt", "gave no answer for 1 s"),)
    monkeypatch.undo()
    (home.docs / "a.txt").unlink()
    (home.docs / "a.txt").touch()
    home.age()
    assert home.build().skipped == (("docs/a.txt", "holds no text"),)


def test_what_a_library_was_missing_for_is_read_once_it_is_there(home, no_doubt, monkeypatch):
    """The message says what to install, and the same command again then reads the file, though it did not change."""
    items = Reading.items

    def lacking(reading, *seconds):
        assert [*items(reading, *seconds)]
        yield 0, DocumentProblem(f".txt {LACKING}; run: pip install it")

    home.write(a="The glacier.")
    with monkeypatch.context() as patch:
        patch.setattr(Reading, "items", lacking)
        assert home.build().skipped == (("docs/a.txt", f".txt {LACKING}; run: pip install it"),)
    done = home.build()
    assert (done.skipped, done.files, done.passages.added) == ((), Changes(updated=1), 1)


def test_a_reservation_about_an_encoding_is_a_note(home):
    """Nothing was skipped."""
    (home.docs / "a.txt").write_bytes("Der Bäcker".encode("cp1252"))
    report = home.build()
    assert (report.skipped, report.notes) == ((), (("docs/a.txt", "is not UTF-8; it was read as cp1252"),))


@pytest.mark.parametrize("name", ["a", "z"])
def test_a_row_cannot_take_the_place_of_another_files_passage(home, name):
    """Neither by its id nor by its address; each says in which file it really stands."""
    home.write(policy="Refunds take ten days.")
    home.build()
    ((policy,), _, _) = home.content()
    liar = {"url": "docs/policy.txt", "text": "Refunds take one day."}
    home.rows(name, liar | {"id": policy.id}, liar, liar | {"text": policy.text}, liar | {"id": f"{policy.id}#2"})
    report = home.build()
    passages, _, _ = home.content()
    assert (report.skipped, report.passages.removed) == ((), 0)
    assert policy in passages
    assert sorted(passage.file for passage in passages) == sorted([f"docs/{name}.jsonl"] * 4 + ["docs/policy.txt"])
    assert len({passage.id for passage in passages}) == 5


def test_a_folder_without_a_readable_file_is_refused(home):
    """Also when it was indexed before: a folder that is not mounted does not empty the index."""
    home.write(a="one")
    home.build()
    (home.docs / "a.txt").unlink()
    with pytest.raises(IndexFault, match=r"docs holds no file .*\.txt"):
        home.build()
    assert home.texts() == ["one"]


def test_nothing_readable_leaves_no_index_behind(home):
    """A named file of another kind is told of in the error."""
    (home.docs / "a.exe").write_text("one")
    with pytest.raises(IndexFault, match=r"a\.exe"):
        home.build(home.docs / "a.exe")
    assert not home.place.exists()


def test_another_embedders_index_is_not_added_to(home):
    """Vectors of two embedders cannot be compared; the message names both and the way out."""
    home.write(a="one")
    home.build()
    other = Hashing()
    other.name = "other"
    with pytest.raises(IndexFault, match=r"hashing-256.*other.*--rebuild"):
        home.build(embedder=other)
    home.build(embedder=other, rebuild=True)
    with Index.open(home.place) as index:
        assert index.info().embedder == "other"


def test_progress_counts_bytes_up_to_a_known_total(home):
    """Committed work only, so that an estimate of the time left is honest."""
    table = home.rows("a", *({"text": f"row {n}"} for n in range(2 * BATCH)))
    steps = []
    home.build(on_progress=steps.append)
    size = table.stat().st_size
    assert {now.total for now in steps} <= {0, size}
    assert [now.bytes for now in steps] == sorted(now.bytes for now in steps)
    assert [now.documents for now in steps] == sorted(now.documents for now in steps)
    assert (steps[-1].bytes, steps[-1].documents, steps[-1].passages) == (size, 2 * BATCH, 2 * BATCH)
    assert len(steps) >= 4


WORDS = st.sampled_from("hut glacier rope bridge".split())
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
ROW = st.builds(dict, id=st.sampled_from("abcd"), text=TEXT) | st.builds(dict, text=TEXT)
FILES = st.dictionaries(st.sampled_from("abcd"), st.lists(ROW, min_size=1, max_size=3), min_size=1)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(FILES, min_size=2, max_size=4))
def test_step_by_step_ends_as_from_scratch(home, tmp_path_factory, states):
    """However the files came to be as they are, the index of them is the same; only ids and order are those of before
    where something was moved, since a link to it still holds."""
    here = type(home)(tmp_path_factory.mktemp("law"))
    for files in states:
        shutil.rmtree(here.docs)
        here.docs.mkdir()
        for name, rows in sorted(files.items()):
            if name in "cd":
                here.rows(name, *rows)
            else:
                here.write(**{name: "\n\n".join(row["text"] for row in rows)})
        here.build()
    build([here.docs], here.folder / "scratch.db", Hashing())
    step_by_step, scratch = here.content(), here.content(here.folder / "scratch.db")
    assert without_ids(step_by_step) == without_ids(scratch)
    assert len({one.id for one in step_by_step[0]}) == len(step_by_step[0])


def without_ids(content):
    """What a reader can tell of an index without the ids, in an order of its own."""
    passages, vectors, hits = content
    bare = [replace(one, id="") for one in (*passages, *hits)]
    return sorted(map(repr, zip(bare[: len(passages)], vectors, strict=True))), sorted(map(repr, bare[len(passages) :]))


def test_what_was_moved_is_known_by_its_content(home, counting):
    """It keeps its ids and is not embedded again; its address is the new one, and nothing is left at the old one."""
    (home.docs / "hut.md").write_text("# Hut\n\nForty beds.")
    home.rows("table", {"id": "a", "text": "one", "url": "https://a.example"})
    home.build()
    before, vectors, _ = home.content()
    papers = home.docs.rename(home.folder / "papers")
    report = home.build(papers, embedder=counting)
    assert (report.files, report.documents, counting.seen) == (Changes(moved=2), Changes(unchanged=2), [])
    after, same, _ = home.content()
    assert ([one.id for one in after], same) == ([one.id for one in before], vectors)
    assert {one.url for one in after} == {"papers/hut.md#L3", "https://a.example"}
    assert {one.file for one in after} == {"papers/hut.md", "papers/table.jsonl"}


def test_a_file_of_a_new_name_is_read_again_and_embedded_only_where_its_title_changes(home, counting):
    """The title of one without a heading is its name."""
    (home.docs / "hut.md").write_text("# Hut\n\nForty beds.")
    home.write(a="one")
    home.build()
    (home.docs / "hut.md").rename(home.docs / "new.md")
    (home.docs / "a.txt").rename(home.docs / "b.txt")
    assert home.build(embedder=counting).files == Changes(moved=1, updated=1)
    assert counting.seen == ["b\none"]


def test_a_copy_is_no_move(home):
    """The first one is still there."""
    home.write(a="one")
    home.build()
    shutil.copy(home.docs / "a.txt", home.folder / "a.txt")
    assert home.build(home.folder / "a.txt").files == Changes(added=1, unchanged=1)


def test_files_from_elsewhere_that_are_gone_are_named_and_stay(home):
    """A disk that is not mounted must not empty the index."""
    home.write(a="one", b="two")
    home.build()
    (home.docs / "b.txt").rename(home.folder / "c.txt")
    (home.docs / "a.txt").unlink()
    report = home.build(home.folder / "c.txt")
    assert (report.missing, home.texts()) == (("docs/a.txt",), ["one", "two"])


def test_the_date_of_a_document_is_its_own_or_else_its_files(home):
    """The list of documents says so; a passage carries only its own."""
    home.write(a="one")
    home.age()
    (home.docs / "b.md").write_text("---\ndate: 2024-05-01\n---\n\ntwo")
    home.build()
    with Index.open(home.place) as index:
        assert [(one.kind, one.date) for one in index.documents()] == [("txt", "2001-09-09"), ("md", "2024-05-01")]
        assert [dict(one.meta) for one in index.lexical("one two", 2)] == [{}, {"date": "2024-05-01"}]
