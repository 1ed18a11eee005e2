"""The collections of a server: in one index, each with a folder of uploaded files and a pipeline of its own.

All of them share one evaluator and one embedder, and each language model; all are loaded once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Event, RLock
from typing import Any

from surefoot import components
from surefoot.config.builder import Builder
from surefoot.config.options import OBJECT
from surefoot.config.settings import Config, models, read
from surefoot.evaluate.testset.build import QuestionMaker
from surefoot.evaluate.testset.structure import Structure
from surefoot.index.build import IndexProgress, build
from surefoot.index.search import Index
from surefoot.index.storage import others
from surefoot.index.watch import watch
from surefoot.integrations.telemetry import traced
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.server.choices import Choices, choices
from surefoot.server.keys import COLLECTION, DEFAULT
from surefoot.server.problems import LOG, Problem
from surefoot.server.uploads import sweep, upload_fields
from surefoot.server.workers import Progress, Unread
from surefoot.types.errors import Cancelled, ConfigError
from surefoot.types.protocols import Embedder, returns_spans

UPLOADS = "uploads"
"""The folder of a collection's uploaded files, within the collection's own; their paths in the index begin with it."""
PATIENCE = 30.0
"""Seconds that uploaded files wait for another process that writes the index."""
_SHARED = ("network", "embedder", "evaluator")
_OF_MODEL = ("llm", "generator")
MADE_FROM, TRIED = 2000, 16
"""Passages that suggestions are made from, and those that are tried, at most."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that the documents answer."""

    question: str
    file: str
    """The path of the file that answers, as indexed."""


class Collections:
    """All collections: those of the index, and those that files were uploaded to.

    Raises ConfigError where the default one has a name that a server takes for none.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.default: str = config["index"].get("collection", DEFAULT)
        """The collection that is meant where none is named; it is always there."""
        if not COLLECTION.fullmatch(self.default):
            raise ConfigError(
                f"[index] collection '{self.default}' cannot be served; use lower-case letters, digits, - and _"
            )
        self._config: Config = {name: of for name, of in config.items() if name != "server"}
        nothing = Given()
        alone = {"use": components.described("retriever", nothing), OBJECT: True}
        self._first = Builder({**self._config, "retriever": alone}, {"retriever": nothing})
        self._grader: Pipeline | None = None
        self._pipelines: dict[str, Pipeline] = {}
        self._of_models: dict[str, dict[str, Any]] = {}
        """The parts that word answers, by model."""
        self._indexes: dict[str, Index] = {}
        self._suggestions: dict[str, tuple[int, tuple[Suggestion, ...]]] = {}
        """By collection, with the time of the index that they were made from."""
        self._lock = RLock()

    @property
    def path(self) -> Path:
        """The index."""
        return Path(self._config["index"]["path"])

    def names(self) -> tuple[str, ...]:
        """Every collection, the default one first."""
        found = {place.name for place in self.folder.glob("*/")} | {*others(self.path, "")}
        return (self.default, *sorted(name for name in found - {self.default} if COLLECTION.fullmatch(name)))

    def has(self, name: str) -> bool:
        """Say whether there is a collection of this name."""
        return name == self.default or name in self.names()  # the index need not be opened for most requests

    def index(self, name: str) -> Index | None:
        """The collection's part of the index; None: nothing was ever put into it. Raises IndexFault where the index is
        damaged, or of a version that cannot be read."""
        with self._lock:
            if name not in self._indexes and name in others(self.path, ""):
                self._indexes[name] = Index.open(self.path, name)
            return self._indexes.get(name)

    def uploads(self, name: str) -> Path:
        """The folder of a collection's uploaded files; the name has to be one that `COLLECTION` matches."""
        return self.folder / name / UPLOADS

    def upload(self, name: str, file: str) -> Path | None:
        """The uploaded file that the index knows by this path; None: it is none of the collection's uploads."""
        folder, _, own = file.partition("/")
        place = self.uploads(name) / own
        return place if folder == UPLOADS and own and "/" not in own and place.is_file() else None

    @property
    def embedder(self) -> Embedder:
        """The embedder of the index."""
        with self._lock:
            return self._first.embedder

    def models(self) -> tuple[str, ...]:
        """The models that may word an answer, the usual one first; "none": it is quoted."""
        return tuple(models(self._config))

    @cached_property
    def choices(self) -> Choices:
        """What a question may choose beside its model. Raises as `Builder` does."""
        with self._lock:
            return choices(self._first.searcher, self._config)

    def pipeline(self, name: str, model: str = "") -> Pipeline:
        """The pipeline over the collection, in which one of `models` words the answers; "": the usual one. Raises
        Problem where the collection is empty; else as `Builder` does."""
        key = f"{name}+{model}" if model else name
        with self._lock:
            if key not in self._pipelines:
                if self.index(name) is None:
                    message = f"the collection '{name}' holds no documents yet; upload some with POST /documents"
                    raise Problem(409, "empty", message)
                self._pipelines[key] = self._build(name, model)
            return self._pipelines[key]

    def suggestions(self, name: str) -> tuple[Suggestion, ...]:
        """Questions that the collection answers, made by the rules of `surefoot testset` and confirmed by its reader;
        none: its documents have no terms, tables or headings that ask, or no reader that points at the words. Made once
        for each state of the index, at the cost of grading `TRIED` passages."""
        index = self.index(name)
        if index is None or not returns_spans(reader := self.pipeline(name).evaluator):
            return ()
        generation = index.generation()
        if self._suggestions.get(name, (-1,))[0] != generation:
            structure = Structure(islice(index.passages(), MADE_FROM))
            maker = QuestionMaker(structure, self.pipeline(name).retriever, reader)
            made = [make() for _, make in islice(maker.candidates("single"), TRIED)]
            files = {one.id: one.file for one in structure.passages}
            found = [Suggestion(one.question, files[one.evidence[0][0]] or "") for one in made if not one.fault]
            self._suggestions[name] = generation, tuple(found)
        return self._suggestions[name][1]

    def grader(self) -> Pipeline:
        """A pipeline without an index, which grades the texts that a client brings along."""
        with self._lock:
            if self._grader is None:
                self._grader = self._first.pipeline()
            return self._grader

    def _build(self, name: str, model: str) -> Pipeline:
        config = read(self._config, models(self._config)[model]) if model else self._config
        builder = Builder({**config, "index": {**config["index"], "collection": name}})
        self.grader()
        made = _made(self._first, _SHARED if model else (*_SHARED, *_OF_MODEL)) | self._of_models.get(model, {})
        vars(builder).update(made, embedder=self.embedder, index=self.index(name))
        pipeline = traced(builder)
        self._of_models[model] = _made(builder, _OF_MODEL)
        return pipeline

    def update(self, name: str, progress: Progress) -> tuple[Unread, ...]:
        """Bring the collection up to date with its uploaded files; the files that were not read."""

        def report(now: IndexProgress) -> None:
            progress(Path(now.path).name, now.passages)

        folder = self.uploads(name).absolute()  # a relative one would be part of the files' paths in the index
        if not any(folder.glob("*")):  # a build would rather stop than empty an index
            if index := self.index(name):
                for file in sorted({one.file for one in index.documents() if one.file.startswith(f"{UPLOADS}/")}):
                    index.delete(file, patience=PATIENCE)
            return ()
        fields = upload_fields(folder)
        built = build(
            [folder],
            self.path,
            self.embedder,
            collection=name,
            meta=lambda path: fields.get(Path(path).name, {}),
            patience=PATIENCE,
            on_progress=report,
        )
        return tuple(Unread(Path(path).name, reason) for path, reason in built.skipped)

    def watch(self, paths: Sequence[str], stop: Event) -> None:
        """Hold the usual collection up to date with these files and folders until `stop`; errors are logged."""

        def stoppable(_: IndexProgress) -> None:
            if stop.is_set():
                raise Cancelled("the server stops")

        def update() -> None:
            build(
                paths,
                self.path,
                self.embedder,
                collection=self.default,
                patience=PATIENCE,
                on_progress=stoppable,
            )

        if paths:
            watch(paths, update, lambda error: LOG.error("what is watched was not indexed: %s", error), stop)

    def uploaded(self) -> tuple[str, ...]:
        """The collections that somebody has uploaded files to."""
        return tuple(place.parent.name for place in sorted(self.folder.glob(f"*/{UPLOADS}/")))

    def recover(self) -> None:
        """Remove what a kill left of uploads that were not complete."""
        for name in self.uploaded():
            sweep(self.uploads(name))


def _made(builder: Builder, parts: tuple[str, ...]) -> dict[str, Any]:
    """Those of these parts that it has built."""
    return {part: vars(builder)[part] for part in parts if part in vars(builder)}
