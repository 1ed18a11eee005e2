"""`[server]` of a configuration, the parts that all endpoints share, and the part of them that a request may see."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from fastapi import Depends, Request

from surefoot.config.settings import Config
from surefoot.index.search import Index
from surefoot.server.collections import Collections
from surefoot.server.feedback import Feedback
from surefoot.server.history import Conversations, Traces
from surefoot.server.keys import COLLECTION, Key
from surefoot.server.metrics import Metrics
from surefoot.server.problems import LOG, missing
from surefoot.server.workers import Jobs, Workers
from surefoot.types import Trace
from surefoot.types.errors import SurefootError
from surefoot.types.ranges import Count

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`[server]` of a configuration; every number is at least 1."""

    host: str = "127.0.0.1"
    """The address that is listened on; any other than this machine's own needs a key."""
    port: Count = 8710
    name: str = ""
    """The name by which browsers reach it, where that is not this machine's own; the Host header has to say it."""
    folder: str = ".surefoot/server"
    """Where keys, uploaded files, conversations and feedback are kept."""
    runs: str = "runs"
    """Where traces are kept, in `serve/`, and where evaluations are that the page shows."""
    watch: Sequence[str] = ()
    """Files and folders that are indexed into the usual collection, and again within seconds of each change."""
    keep_days: Count = 30
    """Days after which traces, conversations and what is known of finished jobs are deleted."""
    workers: Count = 2
    """Questions that are answered at a time."""
    waiting: Count = 16
    """Questions, and uploads, that may wait; whoever comes after them is told to come again."""
    seconds: Count = 120
    """Time for a question, the wait included."""
    body_bytes: Count = 2_000_000
    """Size of a request, at most, but for uploads."""
    collection_bytes: Count = 2_000_000_000
    """Size of all files that are uploaded to a collection; likewise of its traces, of which the oldest make room."""
    upload_bytes: Count = 200_000_000
    """Size of the files of one upload together, at most."""
    upload_seconds: Count = 600
    """Time for an upload to arrive; other requests have 30 seconds."""

    log: Literal["text", "json"] = "text"
    """"json": lines of JSON on standard error, one a request too, without a word of questions or documents."""

    @property
    def is_local(self) -> bool:
        """Say whether this machine alone can reach it."""
        return self.host in LOOPBACK


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a running server."""

    settings: ServerSettings
    collections: Collections
    workers: Workers
    jobs: Jobs
    traces: Traces
    conversations: Conversations
    feedback: Feedback
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class Caller:
    """A client of the service, and what it may see. What is somebody else's is as if it were not there."""

    service: Service
    key: Key | None
    """None: this server asks nobody for a key."""
    named: str | None = None
    """The collection that `?collection=` names; None: it names none."""

    @property
    def owner(self) -> str:
        """The owner of its conversations and traces; "": nobody needs a key here."""
        return self.key.owner if self.key else ""

    def arriving(self) -> AbstractContextManager[None]:
        """Hold a place for a job whose files arrive. Raises Problem, 429."""
        return self.service.jobs.arriving(self.owner, self.key.collections if self.key else ())

    @property
    def trusted_client(self) -> bool:
        """Say whether it needs no key here, and so may know where a part failed."""
        return self.key is None

    def collection(self, name: str | None = None, *, new: bool = False) -> str:
        """The collection of this name, or the usual one; `new`: it need not be there yet. Raises Problem, 404."""
        name = name or self.named
        if self.key is not None:
            name = name or self.key.collections[0]
            allowed = name in self.key.collections
        else:
            name = name or self.service.collections.default
            allowed = bool(COLLECTION.fullmatch(name)) and (new or self.service.collections.has(name))
        if not allowed:
            raise missing("collection")
        return name

    def model(self, name: str | None) -> str:
        """The model of this name that may word its answers; "": the usual one. Raises Problem, 404, for any other, such
        as an address: a request names nothing that the server would have to fetch."""
        return _chosen("model", name, self.service.collections.models())

    def searcher(self, name: str | None) -> str:
        """The searcher of this name, as `model` has it."""
        return _chosen("searcher", name, self.service.collections.choices.searchers)

    def certainty(self, name: str | None) -> str:
        """The certainty of this name, as `model` has it."""
        return _chosen("certainty", name, self.service.collections.choices.certainties)

    def visible(self) -> tuple[str, ...]:
        """Every collection that it may see, the usual one first; where it names one, that alone."""
        if self.named is not None:
            return (self.collection(self.named),)
        return self.service.collections.names() if self.key is None else self.key.collections

    def indexes(self) -> Iterator[Index]:
        """The indexes of the visible collections that hold something."""
        for name in self.visible():
            if index := self.service.collections.index(name):
                yield index

    def trace(self, id: str) -> tuple[str, Trace]:
        """The trace with this id, and its collection. Raises Problem, 404."""
        for name in self.visible():
            if trace := self.service.traces.find(name, id):
                return name, trace
        raise missing("trace")


def _chosen(thing: str, name: str | None, offered: Iterable[str]) -> str:
    usual, *others = offered
    if name and name not in (usual, *others):
        raise missing(thing)
    return name if name in others else ""


async def _caller(request: Request, collection: str | None = None) -> Caller:
    return Caller(request.app.state.service, request.state.key, collection)


RequestCaller = Annotated[Caller, Depends(_caller)]
"""The caller as a parameter of an endpoint."""


def assembled(settings: ServerSettings, config: Config) -> Service:
    """The parts of a server, over the folders that the settings name."""
    folder = Path(settings.folder) / "collections"
    collections = Collections(folder, config)
    return Service(
        settings,
        collections,
        Workers(settings.workers, settings.waiting, settings.seconds),
        Jobs(collections.update, settings.waiting),
        Traces(Path(settings.runs) / "serve", settings.keep_days, settings.collection_bytes),
        Conversations(folder, settings.keep_days, settings.collection_bytes),
        Feedback(folder),
        Metrics(),
    )


def warm(service: Service, loaded: Callable[[], object] = lambda: None) -> None:
    """Load the models and the usual collection before the first question, and then call `loaded`."""
    collections = service.collections
    try:
        collections.grader()
        if collections.index(collections.default):
            collections.pipeline(collections.default)
    except SurefootError as error:
        LOG.error("the models cannot be loaded", exc_info=error)
    loaded()
