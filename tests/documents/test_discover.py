"""Which files a path stands for."""

import os
from pathlib import Path

import pytest

from surefoot.documents.discover import find
from surefoot.types.errors import IndexFault


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")


def paths(given: Path) -> list[str]:
    return [file.path for file in find(given).files]


def test_a_folder_stands_for_its_readable_files_in_order(tmp_path):
    """Below folders too; the order does not depend on the file system."""
    put(tmp_path, "b.md", "a/z.txt", "a/b/c.HTML")
    assert sorted(paths(tmp_path)) == [f"{tmp_path.name}/{name}" for name in ("a/b/c.HTML", "a/z.txt", "b.md")]
    assert paths(tmp_path) == paths(tmp_path)


def test_hidden_and_foreign_files_are_counted_and_left_out(tmp_path):
    """A hidden folder counts as one."""
    put(tmp_path, "a.txt", ".b.txt", ".git/c.txt", ".git/d.txt", "e.exe")
    found = find(tmp_path)
    assert (len(found.files), found.ignored, found.skipped) == (
        1,
        {"hidden": [f"{tmp_path.name}/{name}" for name in (".git", ".b.txt")], ".exe": [f"{tmp_path.name}/e.exe"]},
        [],
    )


def test_links_below_a_folder_are_not_followed(tmp_path):
    """Neither loops nor ways out."""
    put(tmp_path, "in/a.txt", "out/b.txt")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/away").symlink_to(tmp_path / "out")
    (tmp_path / "in/b.txt").symlink_to(tmp_path / "out/b.txt")
    assert paths(tmp_path / "in") == ["in/a.txt"]


def test_a_link_that_is_given_is_followed(tmp_path):
    """Who names it means it."""
    put(tmp_path, "in/a.txt")
    (tmp_path / "link").symlink_to(tmp_path / "in")
    assert [file.place for file in find(tmp_path / "link").files] == [tmp_path.resolve() / "in/a.txt"]


def test_what_is_no_regular_file_is_left_out(tmp_path):
    """Reading a pipe would wait for ever."""
    os.mkfifo(tmp_path / "a.txt")
    assert (paths(tmp_path), find(tmp_path).ignored) == ([], {"no regular files": [f"{tmp_path.name}/a.txt"]})


def test_a_relative_path_stays_as_it_was_given(tmp_path, monkeypatch):
    """It is how the user finds the file."""
    put(tmp_path, "docs/a.txt")
    monkeypatch.chdir(tmp_path)
    assert paths(Path("docs")) == paths(Path("./docs/")) == paths(Path(".")) == ["docs/a.txt"]


def test_a_path_never_tells_of_the_machine(tmp_path, monkeypatch):
    """Of an absolute path, or one that leads up, only the last part is kept."""
    put(tmp_path, "docs/a.txt", "work/b.txt")
    monkeypatch.chdir(tmp_path / "work")
    assert paths(tmp_path / "docs") == paths(Path("../docs")) == ["docs/a.txt"]
    assert paths(tmp_path / "docs/a.txt") == ["a.txt"]


def test_a_named_file_of_another_kind_is_reported(tmp_path):
    """Unlike one below a folder: somebody expects it in the index."""
    put(tmp_path, "a.exe")
    ((path, reason),) = find(tmp_path / "a.exe").skipped
    assert path == "a.exe"
    assert "kind that is not read" in reason


def test_a_file_over_the_limit_is_reported_unless_it_is_streamed(tmp_path):
    """What is read row by row may have any size."""
    put(tmp_path, "a.txt", "b.jsonl", "c.csv")
    found = find(tmp_path, max_bytes=3)
    assert [file.place.name for file in found.files] == ["b.jsonl", "c.csv"]
    assert "split it" in found.skipped[0][1]


def test_a_path_with_nothing_there_is_refused(tmp_path):
    """A typing error does not empty an index."""
    with pytest.raises(IndexFault, match="no file or folder"):
        find(tmp_path / "nowhere")


def test_a_path_through_a_loop_of_links_is_named(tmp_path):
    """As any other path that leads nowhere, wherever the loop stands in it."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for given in (tmp_path / "loop", tmp_path / "loop" / "a.txt"):
        with pytest.raises(IndexFault, match=f"{given} leads nowhere: Too many levels of symbolic links"):
            find(given)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may look into every folder")
def test_a_closed_folder_is_reported(tmp_path):
    """What lies in it is not known to be gone."""
    put(tmp_path, "shut/a.txt")
    (tmp_path / "shut").chmod(0)
    try:
        found = find(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o755)
    assert found.closed == [tmp_path.resolve() / "shut"]
    assert "cannot be opened" in found.skipped[0][1]


def test_an_old_binary_format_is_named_with_its_remedy(tmp_path):
    """Nobody can tell from "not read" that saving it again is enough."""
    (tmp_path / "a.doc").write_bytes(b"\xd0\xcf\x11\xe0")
    assert [why for _, why in find(tmp_path).skipped] == [
        "is in a binary format that is not read; save it as .docx; LibreOffice saves many: "
        "soffice --headless --convert-to docx *.doc"
    ]
