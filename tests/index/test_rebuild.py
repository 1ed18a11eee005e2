"""An index made anew from the files that it names: one of an earlier version, or of another embedder."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from index import earlier as sample
from surefoot.embedders.hashing import Hashing
from surefoot.embedders.static import Static
from surefoot.index.build import build
from surefoot.index.rebuild import rebuild
from surefoot.index.search import Index
from surefoot.types import Document
from surefoot.types.documents import Block
from surefoot.types.errors import IndexFault

EMBEDDER = Hashing()


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """An index of version 2 in its folder, beside its documents."""
    sample.write(tmp_path)
    place = tmp_path / ".surefoot" / "index.db"
    place.parent.mkdir()
    place.write_bytes(gzip.decompress((Path(sample.__file__).parent / "version-2.db.gz").read_bytes()))
    return place


def test_an_earlier_index_says_the_one_command_that_renews_it(earlier: Path) -> None:
    """Which then does."""
    with pytest.raises(IndexFault, match="version 2 and this is for version 3; run: surefoot index --rebuild --index"):
        Index.open(earlier)
    (report,) = rebuild(earlier, EMBEDDER).values()
    assert (report.files.added, report.passages.added, report.skipped) == (2, 2, ())
    with Index.open(earlier) as index:
        assert [one.file for one in index.documents()] == ["docs/bridge.md", "docs/hut.md"]
        assert index.lexical("Who built the bridge?", 1)[0].text.endswith("Tomas Aldwin.")
        assert index.nearest(EMBEDDER.embed(["hut"])[0], 1)
        index.verify()


def test_what_was_indexed_again_finds_nothing_to_do(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files are where the index says."""
    rebuild(earlier, EMBEDDER)
    monkeypatch.chdir(earlier.parents[1])
    assert build(["docs"], earlier, EMBEDDER).documents.unchanged == 2


def test_every_collection_is_renewed_with_its_fields_for_another_embedder(tmp_path: Path) -> None:
    """And what one collection holds stays out of the others."""
    sample.write(tmp_path)
    path = tmp_path / "index.db"
    for name in sample.DOCUMENTS:
        build([tmp_path / "docs" / name], path, EMBEDDER, collection=name[:-3], meta={"kind": name})
    assert [*rebuild(path, Static())] == ["bridge", "hut"]
    for name in sample.DOCUMENTS:
        with Index.open(path, name[:-3]) as index:
            index.check(Static())
            (one,) = index.passages()
            assert (one.meta["kind"], one.file) == (name, name)


def test_a_file_that_is_gone_stops_it(earlier: Path) -> None:
    """A folder may not be mounted; the old index is as it was."""
    (earlier.parents[1] / "docs" / "hut.md").unlink()
    before = earlier.read_bytes()
    with pytest.raises(IndexFault, match=r"1 of 2 files of .* are gone, such as docs/hut\.md; put them back"):
        rebuild(earlier, EMBEDDER)
    assert earlier.read_bytes() == before


def test_what_was_never_a_file_stops_it(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with Index.make(path, EMBEDDER) as index:
        index.add([Document("", "Text", (Block("A text of a program."),))], EMBEDDER, file="added")
    with pytest.raises(IndexFault, match="what was never a file, such as 'added', and would lose it"):
        rebuild(path, EMBEDDER)
    with Index.open(path) as index:
        assert len([*index.passages()]) == 1


def test_a_file_of_another_kind_is_no_index(tmp_path: Path) -> None:
    with closing(sqlite3.connect(path := tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE files (location TEXT, path TEXT)")
    with pytest.raises(IndexFault, match="is not an index of Surefoot"):
        rebuild(path, EMBEDDER)
    with pytest.raises(IndexFault, match="there is no index"):
        rebuild(tmp_path / "none.db", EMBEDDER)
