"""A folder of documents and the index that is made of it."""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index import beside
from surefoot.index.build import IndexReport, build
from surefoot.index.search import Index
from surefoot.types import Document


class Home:
    """Writes documents, indexes them, and reads the index."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.docs, self.place = folder, folder / "docs", folder / "made" / "index.db"
        self.docs.mkdir()

    def write(self, **texts: str) -> None:
        """Files of text: `a="one"` is docs/a.txt."""
        for name, text in texts.items():
            (self.docs / f"{name}.txt").write_text(text)

    def rows(self, name: str, *rows: dict[str, Any]) -> Path:
        """A table of JSON lines."""
        path = self.docs / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def age(self, name: str = "a.txt") -> None:
        """Set the time of a file's last change back."""
        os.utime(self.docs / name, (1_000_000_000, 1_000_000_000))

    def build(self, *paths: Path, embedder: Hashing | None = None, **options: Any) -> IndexReport:
        """Index these paths, or the folder."""
        return build(paths or [self.docs], self.place, embedder or Hashing(), **options)

    def content(self, place: Path | None = None) -> tuple[Any, ...]:
        """All that a reader can tell of an index."""
        with Index.open(place or self.place) as index:
            return tuple(index.passages()), index.vectors().tolist(), index.lexical("hut glacier rope", 50)

    def texts(self) -> list[str]:
        """The texts of all passages, in alphabetical order."""
        with Index.open(self.place) as index:
            return sorted(passage.text for passage in index.passages())


class Counting(Hashing):
    """The hashing embedder, which remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        """Each text counts."""
        self.seen += texts
        return super().embed(texts)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def counting() -> Counting:
    return Counting()


@pytest.fixture
def indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterable[Document]], Path]:
    """Makes an index of documents that has a file of their vectors and a folder of their words beside it."""

    def make(documents: Iterable[Document]) -> Path:
        monkeypatch.setattr(beside, "FROM", 20)
        place = tmp_path / "index.db"
        with Index.make(place, Hashing()) as index:
            index.add(documents, Hashing())
        assert [each.suffix for each in beside.places(place)] == [".vectors-1", ".words-1"]
        return place

    return make
