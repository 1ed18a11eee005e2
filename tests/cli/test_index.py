"""`surefoot index`."""

import json
from collections.abc import Callable
from mailbox import Maildir
from pathlib import Path
from typing import Any

import pytest


def test_files_become_an_index_and_the_report_says_how_many(surefoot: Callable[..., Any], here: Path) -> None:
    """New ones the first time, unchanged ones the second."""
    first = surefoot("index", "library")
    assert (first.code, first.err) == (0, "")
    assert "2 new" in first.out
    assert (here / ".surefoot" / "index.db").exists()
    assert "2 unchanged" in surefoot("index", "library").out


def test_the_index_goes_where_it_is_told_to(surefoot: Callable[..., Any], here: Path) -> None:
    """Also to a name that a terminal library might take for markup."""
    done = surefoot("index", "library", "--index", "[b]/mine.db")
    assert "[b]/mine.db" in done.out
    assert (here / "[b]" / "mine.db").exists()


def test_what_cannot_be_read_is_named_on_standard_error(surefoot: Callable[..., Any], here: Path) -> None:
    """The others are indexed all the same; a name cannot steer the terminal."""
    (here / "library" / "bad\x1b[31m.pdf").write_bytes(b"no pdf")
    done = surefoot("index", "library")
    assert done.code == 0
    assert "skipped" in done.err
    assert ".pdf" in done.err
    assert "\x1b" not in done.err + done.out
    assert "Files     2 new, 1 skipped\n" in done.out


def test_ignored_files_are_named_by_their_suffix(surefoot: Callable[..., Any], here: Path) -> None:
    """So that one sees which kinds are not read."""
    for name in ("a.dat", "b.dat", "c.dat", "d.dat", "e.gz"):
        (here / "library" / name).touch()
    done = surefoot("index", "library").out
    assert "Files     2 new, 5 not read\n" in done
    assert "Not read  4 .dat: library/a.dat, library/b.dat, library/c.dat, …\n" in done
    assert "Not read  1 .gz: library/e.gz\n" in done
    assert "library/d.dat\n" in surefoot("index", "library", "--verbose").out


def test_patterns_choose_which_files_are_indexed(surefoot: Callable[..., Any], here: Path) -> None:
    """Each may be given several times."""
    (here / "library" / "c.md").write_text("# Old")
    done = surefoot("index", "library", "--include", "*.md", "--include", "*.txt", "--exclude", "library/c.*")
    assert "Not read  1 left out: library/c.md\n" in done.out


def test_a_file_of_another_kind_is_refused_in_a_sentence(surefoot: Callable[..., Any], here: Path) -> None:
    (here / "passwd").write_bytes(b"\0")
    done = surefoot("index", "passwd")
    assert done.code == 2
    assert "passwd is of a kind that is not read; surefoot doctor lists those that are" in " ".join(done.err.split())


def test_rebuild_forgets_what_was_there(indexed: Callable[..., Any]) -> None:
    """Only the paths that are named are in the index then."""
    assert "1 new" in indexed("index", "library/hut.md", "--rebuild").out
    assert "1 unchanged" in indexed("index", "library/hut.md").out


def test_pushing_needs_a_server(surefoot: Callable[..., Any]) -> None:
    """The default retriever has none, and the error says so."""
    done = surefoot("index", "library", "--push")
    assert done.code == 2
    assert "is no store to push to" in done.err


def test_ray_fills_a_store_and_no_index(surefoot: Callable[..., Any]) -> None:
    done = surefoot("index", "library", "--ray", "local", "--push")
    assert done.code == 2
    assert "--ray fills a store and no index; leave --rebuild, --push and --watch out" in done.err


def test_ray_needs_a_store(surefoot: Callable[..., Any]) -> None:
    """Said before a cluster is looked for; without the extra that is what is missing."""
    done = surefoot("index", "library", "--ray", "nowhere:1")
    assert done.code == 2
    assert "is no store to push to" in done.err or "surefoot[ray]" in done.err


def test_a_collection_is_indexed_and_asked_by_itself(surefoot: Callable[..., Any], here: Path) -> None:
    """With the fields that were given to its documents, by which it may be filtered."""
    assert surefoot("index", "library/bridge.md", "--collection", "acme", "--meta", "year=1911").code == 0
    assert surefoot("index", "library/hut.md").code == 0
    ask = "search", "Who built the Ruvel Bridge?", "--json"
    assert [p["passage"]["file"] for p in json.loads(surefoot(*ask).out)["passages"]] == ["library/hut.md"]
    acme = (*ask, "--collection", "acme")
    (found,) = json.loads(surefoot(*acme, "--filter", "year>=1900", "--filter", '{"year": {"in": [1911]}}').out)[
        "passages"
    ]
    assert (found["passage"]["file"], found["passage"]["meta"]) == ("library/bridge.md", {"year": 1911})
    assert json.loads(surefoot(*acme, "--filter", "year=1912").out)["passages"] == []
    assert json.loads(surefoot("ask", *acme[1:], "--filter", "year=1911").out)["filter"] == {"year": {"in": [1911]}}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("search", "x", "--collection", "beta"),
            "has no collection 'beta'; run: surefoot index --collection beta PATH",
        ),
        (("search", "x", "--filter", "year"), "'year' is no condition; write KEY=VALUE"),
        (("search", "x", "--filter", "{year"), "--filter is not JSON"),
        (("search", "x", "--filter", '{"year": {"gte": 1}}'), "has no operator 'gte'; there are: = != <"),
        (("index", "library", "--meta", "year"), "--meta year is no field; write KEY=VALUE, as in --meta year=2024"),
        (("index", "library", "--meta", "a b=1"), "the field 'a b' is no name"),
        (("index", "library", "--collection", "a/b"), "'a/b' cannot be the name of a collection"),
    ],
)
def test_what_is_no_collection_field_or_filter_is_told(
    surefoot: Callable[..., Any], words: tuple[str, ...], says: str
) -> None:
    """In one line, with what to do."""
    assert surefoot("index", "library").code == 0
    done = surefoot(*words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert says in done.err


def test_the_documents_of_an_index_are_listed(indexed: Callable[..., Any], here: Path) -> None:
    """With what was not read of them; a table is one line."""
    (here / "library" / "bad.pdf").write_bytes(b"no pdf")
    (here / "library" / "rows.csv").write_text("name,height\nNorth,40\nSouth,50\n")
    assert indexed("index", "library").code == 0
    head, *lines = indexed("index", "--list").out.splitlines()
    assert head.split() == ["Document", "File", "Kind", "Date", "Passages"]
    assert [line.split()[:2] for line in lines if "rows" in line] == [["2", "rows"]]
    assert lines[-1] == "Not read  library/bad.pdf: is a damaged PDF; print it to a new PDF"
    (listed,) = json.loads(indexed("index", "--list", "library/hut.md", "--json").out)
    assert (listed["file"], listed["kind"], listed["passages"]) == ("library/hut.md", "md", 1)


def test_documents_are_taken_out_also_where_their_folder_is_gone(indexed: Callable[..., Any], here: Path) -> None:
    """By the path that they were indexed as, or where they lie."""
    assert "Passages  1 in " in indexed("index", "--remove", str(here / "library" / "hut.md")).out
    (here / "library").rename(here / "elsewhere")
    gone = indexed("index", "library")
    assert "surefoot index --remove library" in gone.err
    assert indexed("index", "--remove", "library").code == 0
    assert json.loads(indexed("index", "--list", "--json").out) == []
    nothing = indexed("index", "--remove", "library")
    assert (nothing.code, "nothing of library is in" in nothing.err) == (2, True)


def test_an_index_needs_a_path(surefoot: Callable[..., Any]) -> None:
    """Or one of the words that need none."""
    done = surefoot("index")
    assert (done.code, "name files and folders" in done.err) == (2, True)


def test_the_report_is_json_where_it_is_wanted(surefoot: Callable[..., Any], here: Path) -> None:
    """All of it."""
    assert json.loads(surefoot("index", "library", "--json").out)["files"]["added"] == 2


def test_what_changes_while_it_is_watched_is_reported(
    surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the fields of the command; a look that finds nothing new prints nothing. Ctrl-C is no error."""

    def watch(paths: Any, update: Callable[[], None], *_: Any, **__: Any) -> None:
        update()
        (here / "library" / "new.md").write_text("# New\n\nA new hut.\n")
        update()
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.cli.index.watch", watch)
    done = surefoot("index", "library", "--watch", "--meta", "year=2024")
    assert done.code == 0
    assert [line for line in done.out.splitlines() if line.startswith("Files")] == [
        "Files     2 new",
        "Files     1 new, 2 unchanged",
    ]
    listed = json.loads(surefoot("index", "--list", "--json").out)
    assert [one["meta"] for one in listed] == [{"year": 2024}] * 3


def test_an_address_is_mirrored_and_indexed_as_a_folder(surefoot: Callable[..., Any], here: Path) -> None:
    """Beside the index; what is gone there leaves with the next run. It cannot be watched."""
    box = Maildir(here / "Mail")
    box.add(b"From: ann@a.example\nSubject: Huts\n\nForty beds.\n")
    gone = box.add(b"From: bob@a.example\nSubject: Ropes\n\nTwo ropes.\n")
    source = f"maildir:{here / 'Mail'}"
    assert "Files     2 new" in surefoot("index", source).out
    assert (here / ".surefoot" / "mirrors" / "mail").is_dir()
    box.remove(gone)
    assert "Files     1 unchanged, 1 gone" in surefoot("index", source).out
    assert "Huts" in surefoot("index", "--list").out
    assert "Huts" in surefoot("index", "--list", source).out
    assert "Removed" in surefoot("index", "--remove", source).out
    assert "Huts" not in surefoot("index", "--list").out
    watched = surefoot("index", source, "--watch")
    assert watched.code != 0
    assert "--watch follows files and folders" in watched.err


def test_an_index_is_rebuilt_from_the_files_that_were_in_it(indexed: Callable[..., Any]) -> None:
    """`--rebuild` without a path; with a choice among files it needs one."""
    assert indexed("index", "library/hut.md").code == 0
    done = indexed("index", "--rebuild")
    assert (done.code, done.err) == (0, "")
    files = [one["file"] for one in json.loads(indexed("index", "--list", "--json").out)]
    assert "library/hut.md" in files
    assert f"{len(set(files))} new" in done.out
    assert "name files and folders" in indexed("index", "--rebuild", "--include", "*.md").err
