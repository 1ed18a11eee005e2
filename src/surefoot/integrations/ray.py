"""Indexing into a store, and the questions and judgements of a run, on the nodes of a Ray cluster.

A node needs what this machine has: Surefoot, the files at the same paths, and the environment variables that hold keys.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from itertools import cycle
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.config.builder import Builder
from surefoot.config.settings import Config
from surefoot.documents.discover import Found
from surefoot.documents.reading import Request
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, Spread, answered
from surefoot.evaluate.score.lexical import METRICS
from surefoot.evaluate.score.scoring import Judging
from surefoot.index.build import ignored
from surefoot.index.connection import DEFAULT
from surefoot.index.contents import document_hash, passage_hash
from surefoot.index.intake import BATCH, embedded, labelled, name_space
from surefoot.index.push import Pushed, patiently, settle
from surefoot.index.readers import READERS
from surefoot.types import DocumentProblem, Record, Score, Trace
from surefoot.types.errors import ComponentError, ConfigError, IndexFault, MissingExtra, SurefootError, on_one_line
from surefoot.types.metadata import Meta
from surefoot.types.protocols import Judge, PricedJudge, StoreRow

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would send statistics of its use home
try:
    import ray
    from ray import data
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise MissingExtra("surefoot.integrations.ray", "ray") from error

LOCAL = "local"
"""The address of a cluster of this machine alone, which ends with its use."""

_READS, _WRITES = 0.9, 0.01
"""Cores that a reading task and a writing actor reserve: none fits on a node of none. On a node of one core a task fits
beside ten actors, which move there where other nodes die."""

_TOGETHER = 2
"""Judgements at a time on a node: one is on its way while the other is made."""

_FILES = 64
"""Files that a task reads, at least where there are many: what a death costs."""


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of a file that a node was to read."""

    request: Request
    unread: tuple[str, ...]
    """Why it, or a part of it, was not read."""
    notes: tuple[str, ...]
    """Reservations about what was read."""
    node: str
    """The node's address, if it has no such file; else empty."""


@dataclass(frozen=True, slots=True)
class StoreReport:
    """The work of `index`."""

    pushed: Pushed
    files: int
    """Files that nodes read, or tried to."""
    ignored: tuple[tuple[str, tuple[str, ...]], ...]
    """As an `IndexReport` has them; likewise `skipped` and `notes`."""
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...]
    seconds: float


@contextmanager
def cluster(address: str = LOCAL) -> Iterator[None]:
    """A connection to the cluster at this address: `local`, `auto` for the one that runs on this machine, or host and
    port. A connection that is open already is used, and stays. Raises ConfigError."""
    if ray.is_initialized():
        yield
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    # Where it starts here, it is for this machine alone; its dashboard would be a server more.
    own: dict[str, Any] = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"} if address == LOCAL else {}
    try:
        ray.init(address, **quiet, **own)
    except (OSError, ValueError, RuntimeError) as error:
        wrong = f"there is no Ray cluster at {address!r} ({on_one_line(error)})"
        raise ConfigError(f"{wrong}; give HOST:PORT, auto for one that runs here, or local to start one") from error
    try:
        yield
    finally:
        ray.shutdown()


def index(
    found: Sequence[Found],
    config: Config,
    labels: Meta,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> StoreReport:
    """Make the configured retriever's store hold the passages of these files, and no others: those that one machine
    makes in a new index. `labels` stand over the documents' own fields; `on_progress` gets how many files are read, and
    how many there are.

    Files are read by tasks on all cores, and one actor a node, which loads the embedder once, embeds and writes what
    the store does not hold. Ray repeats the work of a node or process that died, and what was written twice is there
    once. Ended at any point, what was written stays; the next run reads the files again, and embeds and writes the
    rest. Passages that are gone are taken out last. Needs a `cluster`; holds the ids of all passages in memory.
    Raises ConfigError where the retriever is no store; IndexFault, ComponentError, and what the embedder raises.
    """
    started, builder = perf_counter(), Builder(config)
    store = builder.store
    requests = _requests(found, config["index"].get("collection", DEFAULT))
    held = patiently(store.hashes)
    hashes = np.sort(np.array([_key(*one) for one in held.items()], "S32"))
    outcomes, seen, written = dict[str | None, FileOutcome](), set[str](), set[str]()
    with _faults():
        for there, changed, read in _stages(requests, labels, config, hashes):
            seen.update(there)
            written.update(changed)
            outcomes |= {one.request.path: one for one in read}
            on_progress(len(outcomes), len(requests))
    _check(requests, outcomes)
    # Asked again: an attempt that died may have written more. What lies in a folder that cannot be opened is not gone.
    gone = () if any(each.closed for each in found) else patiently(store.hashes).keys() - seen
    settle(store, gone)
    skipped = [entry for each in found for entry in each.skipped]
    skipped += ((one.request.url, reason) for one in outcomes.values() for reason in one.unread)
    notes = tuple((one.request.url, note) for one in outcomes.values() for note in one.notes)
    pushed = Pushed(len(written - held.keys()), len(written & held.keys()), len(seen - written), len(gone))
    return StoreReport(pushed, len(outcomes), ignored(found), tuple(skipped), notes, perf_counter() - started)


def _requests(found: Sequence[Found], collection: str) -> list[Request]:
    """What to read, each file once, with the name spaces that a new index gives."""
    requests, spaces = [], set[str]()
    for file in {file.place: file for each in found for file in each.files}.values():
        space = name_space(collection, file.path, spaces.__contains__)
        spaces.add(space)
        requests.append(Request(file.place.name, file.path, file.size, str(file.place), space))
    return requests


def _check(requests: Sequence[Request], outcomes: Mapping[str | None, FileOutcome]) -> None:
    """Raise IndexFault where a file that is there was not read by the node that was to: it must not empty the store."""
    for request in requests:
        if (one := outcomes.get(request.path)) is None:
            raise IndexFault(f"{request.path} was lost on its way through the cluster; run it again")
        if one.node and Path(str(request.path)).exists():
            wrong = f"node {one.node} has no file {request.path}, which is here"
            raise IndexFault(f"{wrong}; each node must see the files at the same paths; nothing was taken out")


def _stages(
    requests: Sequence[Request], labels: Meta, config: Config, hashes: npt.NDArray[np.bytes_]
) -> Iterator[tuple[list[str], list[str], list[FileOutcome]]]:
    """Of each batch, which the store holds by then: its passages, those that had to be written, and the files that end
    in it."""
    blocks = min(len(requests), max(len(requests) // _FILES, 4 * int(ray.cluster_resources().get("CPU", 1))))
    context = data.DataContext.get_current()
    context.enable_progress_bars, context.raise_original_map_exception = False, True
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # what fails is raised
    items = data.from_items([{"item": request} for request in requests], override_num_blocks=blocks)
    done = items.flat_map(partial(_read, labels), num_cpus=_READS).map_batches(
        _Writer,
        fn_constructor_args=(config, os.getcwd(), held := ray.put(hashes)),
        batch_size=BATCH,
        compute=data.ActorPoolStrategy(size=len(_nodes())),
        num_cpus=_WRITES,
    )
    for row in done.iter_rows():
        yield row["item"]
    del held  # an actor that is started anew takes them from here


def _read(labels: Meta, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The passages of a file, and what became of it."""
    request, unread, notes = row["item"], list[str](), list[str]()
    for reading in READERS.files([request]):
        for _, item in reading.items():  # noqa: PERF102 # it is no dictionary
            if isinstance(item, DocumentProblem):
                (unread if item.skipped else notes).append(item.reason)
                continue
            meta, faults = labelled(item.meta, labels)
            notes += faults
            hash = document_hash(item.digest, meta)
            yield from ({"item": (replace(passage, file=request.url, meta=meta), hash)} for passage in item.passages)
    node = "" if Path(request.path).exists() else ray.util.get_node_ip_address()
    yield {"item": FileOutcome(request, tuple(unread), tuple(notes), node)}


class _OnNode:
    """What a node makes of the configuration once, when it is first needed: of an actor that fails while it starts, Ray
    starts others, and loses the reason."""

    def __init__(self, config: Config, home: str, make: Callable[[Builder], Any]) -> None:
        self._config, self._home, self._make = config, home, make
        self._made, self._lock = None, Lock()

    @property
    def made(self) -> Any:
        with self._lock:
            if self._made is None:
                os.chdir(self._home)  # which paths of the configuration begin in
                self._made = self._make(Builder(self._config))
        return self._made

    def use(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """What a function makes of it."""
        return work(self.made, *arguments)


class _Writer(_OnNode):
    """Embeds passages and writes them to the store, unless it holds them."""

    def __init__(self, config: Config, home: str, hashes: ray.ObjectRef[npt.NDArray[np.bytes_]]) -> None:
        super().__init__(config, home, lambda builder: (builder.store, builder.embedder))
        self._hashes = ray.get(hashes)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        store, embedder = self.made
        files = [item for item in batch["item"] if isinstance(item, FileOutcome)]
        found = [item for item in batch["item"] if not isinstance(item, FileOutcome)]
        hashes = {passage.id: passage_hash(document, passage.file, embedder.name) for passage, document in found}
        if todo := [passage for passage, _ in found if not self._holds(passage.id, hashes[passage.id])]:
            vectors = embedded(embedder, todo).astype(np.float32)
            rows = [StoreRow(one, hashes[one.id], vector) for one, vector in zip(todo, vectors, strict=True)]
            patiently(partial(store.upsert, rows))
        return {"item": [([*hashes], [passage.id for passage in todo], files)]}

    def _holds(self, id: str, hash: str) -> bool:
        key = _key(id, hash)
        at = np.searchsorted(self._hashes, key)
        return bool(at < len(self._hashes) and self._hashes[at] == key)


def _key(id: str, hash: str) -> bytes:
    """Stands for a passage and its hash, in 32 bytes: a store of millions is held in memory on each node."""
    return blake2b(f"{hash} {id}".encode(), digest_size=16).hexdigest().encode()


def asking(config: Config, workers: int = 1) -> Spread:
    """Asks `workers` questions at a time on each node of the `cluster`, where the pipeline is built once."""
    actors = _on_each_node(config, Builder.pipeline, together=workers)

    def spread(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
        todo, running = iter(examples), dict[Any, tuple[Any, str]]()

        def ask(actor: Any) -> None:
            if example := next(todo, None):
                running[actor.use.remote(answered, arm, example)] = actor, example.id

        with _faults():
            for actor in actors * (workers + 1):  # one more than it works on, so that it need not wait for the next
                ask(actor)
            while running:
                [first], _ = ray.wait([*running])
                actor, id = running.pop(first)
                ask(actor)
                yield id, ray.get(first)

    return spread


def judging(config: Config, judges: Sequence[Judge]) -> tuple[Judging, int]:
    """Lets the judges of the configuration that need no language model judge on the nodes of the `cluster`, where they
    are built once, and how many judgements to make at a time. The others judge here: pace and budget are one machine's.
    Raises ConfigError where there are only others."""
    metrics = [one.metric for one in judges if not isinstance(one, PricedJudge) and one.metric not in METRICS]
    if not metrics:
        raise ConfigError("none of these judges works on a machine of yours; leave --ray out, or give --judge embedded")
    actors = _on_each_node(config, partial(Builder.judges, metrics=metrics), together=_TOGETHER)
    turns = cycle(actors)

    def judged(judge: Judge, record: Record) -> Score:
        if judge.metric not in metrics:
            return judge.judge(record)
        with _faults():
            score: Score = ray.get(next(turns).use.remote(_judged, judge.metric, record))
        return score

    return judged, len(actors) * _TOGETHER


def _judged(judges: Sequence[Judge], metric: str, record: Record) -> Score:
    return next(judge for judge in judges if judge.metric == metric).judge(record)


def _on_each_node(config: Config, make: Callable[[Builder], Any], together: int) -> list[Any]:
    """An actor on each node, which does so much together; Ray starts it elsewhere where the node dies."""
    actor = ray.remote(max_restarts=-1, max_task_retries=-1, max_concurrency=together, num_cpus=_WRITES)(_OnNode)
    places = (NodeAffinitySchedulingStrategy(node["NodeID"], soft=True) for node in _nodes())
    return [actor.options(scheduling_strategy=place).remote(config, os.getcwd(), make) for place in places]


def _nodes() -> list[dict[str, Any]]:
    """The nodes that can work. Raises ConfigError where there are none."""
    if found := [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]:
        return found
    raise ConfigError("no node of the Ray cluster has a core to work with; add one: ray start --address=…")


@contextmanager
def _faults() -> Iterator[None]:
    """What failed on a node, raised as it was there; what failed of Ray as ComponentError."""
    try:
        yield
    except ray.exceptions.RayError as error:
        if isinstance(cause := getattr(error, "cause", None), SurefootError):
            raise cause from error
        why = str(error).strip().rpartition("\n")[2]  # below a stack of calls
        raise ComponentError(f"Ray failed: {on_one_line(why)}; run it again to go on from there") from error
