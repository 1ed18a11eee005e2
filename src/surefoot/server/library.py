"""The collections of a server: for each an index, a folder of uploaded files, and a pipeline over the index.

All of them share one evaluator, one language model and one embedder, which are loaded once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.corpus.build import build
from surefoot.corpus.index import Index
from surefoot.pipeline import Pipeline
from surefoot.protocols import Embedder, Evaluator
from surefoot.server.jobs import Progress, Unread
from surefoot.server.keys import COLLECTION, DEFAULT
from surefoot.server.problems import Problem
from surefoot.server.uploads import swept

UPLOADS = "documents"
"""The folder of a collection's uploaded files, within the collection's own."""
_SHARED = ("network", "embedder", "llm", "evaluator", "generator")


@dataclass(frozen=True, slots=True)
class Shelf:
    """One collection."""

    name: str
    index: Path
    uploads: Path


class Library:
    """All collections. A collection is there as soon as its folder is; the default one always."""

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self._first = Builder({name: of for name, of in config.items() if name != "server"})
        self._pipelines: dict[str, Pipeline] = {}
        self._lock = Lock()

    def names(self) -> tuple[str, ...]:
        """Every collection, the default one first."""
        found = {place.name for place in self.folder.glob("*/") if COLLECTION.fullmatch(place.name)}
        return (DEFAULT, *sorted(found - {DEFAULT}))

    def shelf(self, name: str) -> Shelf:
        """The collection's places, whether it is there or not; the name has to be one that `COLLECTION` matches."""
        own = self.folder / name
        index = Path(self._first.config["index"]["path"]) if name == DEFAULT else own / "index.db"
        return Shelf(name, index, own / UPLOADS)

    @property
    def embedder(self) -> Embedder:
        """The embedder of every index."""
        with self._lock:
            return self._first.embedder  # type: ignore[no-any-return]

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator of every pipeline."""
        with self._lock:
            return self._first.evaluator  # type: ignore[no-any-return]

    def index(self, name: str) -> Index | None:
        """The collection's index; None: nothing was ever put into it."""
        return Index.open(path) if (path := self.shelf(name).index).is_file() else None

    def pipeline(self, name: str) -> Pipeline:
        """The pipeline over the collection. Raises Problem where the collection is empty; else as `Builder` does."""
        with self._lock:
            if name not in self._pipelines:
                if not self.shelf(name).index.is_file():
                    raise empty(name)
                self._pipelines[name] = self._built(name)
            return self._pipelines[name]

    def update(self, name: str, progress: Progress) -> tuple[Unread, ...]:
        """Bring the collection's index up to date with its uploaded files; what was not read, and why."""
        shelf = self.shelf(name)
        report = build([shelf.uploads], shelf.index, self.embedder, on_progress=lambda done, of, _: progress(done, of))
        return tuple(Unread(Path(path).name, reason) for path, reason in report.skipped)

    def uploaded(self) -> tuple[str, ...]:
        """The collections that somebody has uploaded files to."""
        return tuple(name for name in self.names() if any(self.shelf(name).uploads.glob("*")))

    def recover(self) -> None:
        """Remove what a kill left of uploads that were not complete."""
        for name in self.names():
            swept(self.shelf(name).uploads)

    def _built(self, name: str) -> Pipeline:
        config = self._first.config
        builder = Builder({**config, "index": {**config["index"], "path": str(self.shelf(name).index)}})
        vars(builder).update({part: getattr(self._first, part) for part in _SHARED})
        return builder.pipeline()


def empty(name: str) -> Problem:
    """The problem of a question to a collection without documents."""
    return Problem(409, "empty", f"the collection '{name}' holds no documents yet; upload some with POST /documents")
