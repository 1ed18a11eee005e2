"""Indexing on several local nodes of Ray, some of which are killed; likewise asking and judging."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs the extra ray")

import ray
from ray.cluster_utils import Cluster

from command_line import Surefoot, here as here, surefoot as surefoot
from services.stores import DSN_ENV, EXTRAS, opened, postgres
from sqlite_store import SqliteStore
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.embedders.hashing import Hashing
from surefoot.evaluate.ask import runs
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Spread, threads
from surefoot.index.build import build, discovered
from surefoot.index.push import Pushed, patiently, push
from surefoot.index.search import Index
from surefoot.integrations.ray import StoreReport, asking, cluster, index
from surefoot.judges.factuality import Factuality
from surefoot.run.store import values
from surefoot.types import Score
from surefoot.types.errors import ConfigError, IndexFault
from surefoot.types.metadata import Meta
from surefoot_lab import methods

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]  # Ray warns of itself

MANY = 60
KILLS = int(os.environ.get("SUREFOOT_TEST_KILLS", "3"))
WORK = b"ray::MapWorker", b"ray::FlatMap", b"ray::IDLE"
COMMAND = "from surefoot.integrations import ray; from surefoot.cli import main; ray.BATCH = 32; main()"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches, so that there are many."""
    monkeypatch.setattr("surefoot.integrations.ray.BATCH", 32)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    """Three nodes; the first, which holds the cluster together, works too. They import what these tests do."""
    patched, services = pytest.MonkeyPatch(), ExitStack()
    patched.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    patched.setenv("RAY_worker_niceness", "0")  # else what runs beside these tests makes them take minutes
    if find_spec("pgserver"):
        patched.setenv(DSN_ENV, services.enter_context(postgres())[0])
    made = Cluster(initialize_head=True, connect=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.add_node(num_cpus=1)
    made.add_node(num_cpus=1)
    yield made
    ray.shutdown()
    made.shutdown()
    services.close()
    patched.undo()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Pages, two tables with rows that say the same, and files that cannot be read; or a folder of yours."""
    folder = tmp_path / "docs"
    if yours := os.environ.get("SUREFOOT_TEST_FOLDER"):
        return Path(shutil.copytree(yours, folder))
    (folder / "more").mkdir(parents=True)
    for number in range(MANY):
        text = " ".join(f"Sentence {n} of page {number} says something else." for n in range(60))
        (folder / f"{number}.html").write_text(f"<title>Page {number}</title><h1>Head</h1><p>{text}</p>")
    rows = '{"id": "a", "text": "A row", "year": 1911}\n{"id": "a", "text": "Another"}\n{"text": "No id"}\n{"x'
    (folder / "rows.jsonl").write_text(rows)
    (folder / "more" / "rows.jsonl").write_text(rows)
    (folder / "torn.pdf").write_bytes(b"%PDF-1.7 and no more")
    (folder / "picture.bin").write_bytes(b"\0\1")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(tmp_path / "store.db"))


def config(folder: Path, **options: Any) -> dict[str, Any]:
    sections = {"use": "sqlite_store:SqliteStore", "path": str(folder / "store.db"), **options}
    return read({"retriever": sections, "embedder": {"use": "hashing"}}, {})


def run(docs: Path, on_progress: Callable[[int, int], None] = lambda done, total: None, **options: Any) -> StoreReport:
    return index(discovered([docs]), config(docs.parent, **options), Meta({"corpus": "test"}), on_progress)


def indexed(docs: Path) -> tuple[dict[str, tuple[str, bytes]], Any]:
    """Hash and vector of each passage of one machine's index, by its id, and the report."""
    place, embedder = docs.parent / "index.db", Hashing()
    report = build([docs], place, embedder, meta={"corpus": "test"})
    with Index.open(place) as made:
        return {row.passage.id: (row.hash, row.vector.tobytes()) for row in made.rows()}, report


def fill(docs: Path, store: SqliteStore) -> None:
    """Push what one machine indexes."""
    indexed(docs)
    with Index.open(docs.parent / "index.db") as made:
        push(store, made.rows)
    store.written()


def kill_workers(node: Any) -> None:
    """Kill the processes that work on a node, which Ray starts again."""
    raylet = node.all_processes["raylet"][0].process.pid
    for child in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split():
        with suppress(OSError):
            if Path(f"/proc/{child}/cmdline").read_bytes().startswith(WORK):  # the others are the node itself
                os.kill(int(child), signal.SIGKILL)


def test_nodes_and_workers_that_are_killed_lose_nothing(nodes: Cluster, docs: Path, store: SqliteStore) -> None:
    """The store holds what one machine's index holds, hash for hash and vector for vector."""
    last, killed = nodes.add_node(num_cpus=1), list[int]()

    def kill(done: int, total: int) -> None:
        if not killed:
            nodes.remove_node(last, allow_graceful=False)
            kill_workers(next(iter(nodes.worker_nodes)))
            killed.append(total - done)

    report = run(docs, kill)
    made, _ = indexed(docs)
    assert store.rows() == made
    assert killed[0] > 0, "all was read before anything was killed"
    assert (report.pushed.new, report.pushed.unchanged) == (len(made), 0)


@pytest.mark.parametrize("engine", EXTRAS)
def test_kills_leave_a_real_store_as_one_machine_fills_it(nodes: Cluster, docs: Path, engine: str) -> None:
    """The command is killed, run again and killed again; then nodes die, and no others come, and the processes of
    others."""
    pytest.importorskip(EXTRAS[engine], reason=f"needs the extra {engine}")
    if engine == "pgvector" and DSN_ENV not in os.environ:
        pytest.skip("pgserver, which holds a real PostgreSQL, is not installed")
    place = os.environ[DSN_ENV] if engine == "pgvector" else str(docs.parent / "lance")
    retriever = {"use": engine} | ({"dsn_env": DSN_ENV} if engine == "pgvector" else {"uri": place})
    store, others = opened(engine, place), [nodes.add_node(num_cpus=1) for _ in range(KILLS // 3)]
    options = [f"--set=retriever.{name}={value}" for name, value in retriever.items()]
    words = ["index", docs, "--ray", nodes.address, "--meta", "corpus=test", "--set=embedder.use=hashing", *options]
    held = 0
    for _ in range(2):
        with subprocess.Popen([sys.executable, "-c", COMMAND, *words], cwd=docs.parent) as driver:
            before = held
            while (held := len(patiently(store.hashes))) == before:  # a table that is being made is no mistake
                assert driver.poll() is None
                time.sleep(0.05)
            driver.kill()
    killed = list[int]()

    def kill(done: int, total: int) -> None:
        if len(killed) < KILLS and done >= (len(killed) + 1) * total // (KILLS + 1):
            killed.append(total - done)
            if others and len(killed) % 2:
                nodes.remove_node(others.pop(), allow_graceful=False)
            else:
                kill_workers(nodes.list_all_nodes()[len(killed) % 3])

    chosen = read({"retriever": retriever, "embedder": {"use": "hashing"}}, {})
    report = index(discovered([docs]), chosen, Meta({"corpus": "test"}), kill)
    build([docs], docs.parent / "index.db", Hashing(), meta={"corpus": "test"})
    with Index.open(docs.parent / "index.db") as made:
        assert push(store, made.rows) == Pushed(0, 0, made.info().passages, 0)
    assert 0 < held <= report.pushed.unchanged < report.pushed.unchanged + report.pushed.new
    assert len(killed) == KILLS
    assert killed[-1] > 0, "all was read before the last kill"


def test_files_that_are_not_read_are_reported_as_by_one_machine(nodes: Cluster, docs: Path) -> None:
    ours, (_, theirs) = run(docs), indexed(docs)
    assert theirs.notes == ours.notes
    assert sorted(ours.skipped) == sorted(theirs.skipped)
    assert ours.ignored == theirs.ignored


def test_only_what_changed_is_written(nodes: Cluster, docs: Path, store: SqliteStore) -> None:
    """One machine had filled the store. What is gone is taken out."""
    fill(docs, store)
    (docs / "0.html").write_text("<p>Quite another page.</p>")
    (docs / "1.html").unlink()
    pushed = run(docs).pushed
    assert store.written() == pushed.new + pushed.changed == 1
    assert store.rows() == indexed(docs)[0]


def test_a_run_that_was_ended_goes_on_from_there(nodes: Cluster, docs: Path, store: SqliteStore) -> None:
    """What the nodes raise is raised here as it was there."""
    with pytest.raises(IndexFault, match="the store is full; get a larger one"):
        run(docs, most=100)
    there = len(store.hashes())
    assert 0 < there <= store.written()
    assert run(docs).pushed.unchanged == there
    assert store.written() == len(store.hashes()) - there


def test_a_key_that_a_node_lacks_is_named(nodes: Cluster, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never sent there."""
    monkeypatch.setenv("SQLITE_KEY", "secret")
    with pytest.raises(ConfigError, match="the environment variable SQLITE_KEY is not set; set it"):
        run(docs, key_env="SQLITE_KEY")


def test_a_file_that_a_node_lacks_empties_no_store(nodes: Cluster, docs: Path, store: SqliteStore) -> None:
    """A path of this process alone stands for a folder that the node has not mounted."""
    fill(docs, store)
    found, held = discovered([docs]), store.rows()
    with (docs / "0.html").open() as file:
        found[0].files[0] = replace(found[0].files[0], place=Path(f"/proc/self/fd/{file.fileno()}"))
        with pytest.raises(IndexFault, match="each node must see the files at the same paths"):
            index(found, config(docs.parent), Meta({"corpus": "test"}))
    assert store.rows().keys() == held.keys()


def test_a_folder_that_cannot_be_opened_empties_no_store(nodes: Cluster, docs: Path, store: SqliteStore) -> None:
    """Root can open any, so one is named by hand."""
    fill(docs, store)
    held = store.rows()
    (docs / "more" / "rows.jsonl").unlink()
    found = discovered([docs])
    found[0].closed.append(docs / "more")
    assert index(found, config(docs.parent), Meta({"corpus": "test"})).pushed.gone == 0
    assert store.rows() == held


def test_the_command_says_what_was_written(nodes: Cluster, surefoot: Surefoot, here: Path) -> None:
    """And what was not read, and why. Paths of the configuration begin in the folder that it was called in."""
    (here / "library" / "torn.pdf").write_bytes(b"%PDF-1.7 and no more")
    (here / "surefoot.toml").write_text('embedder = "hashing"\n')
    choice = ("--set", "retriever.use=sqlite_store:SqliteStore", "--set", "retriever.path=store.db")
    done = surefoot("index", "library", "--ray", "local", *choice)
    assert (done.code, done.err.count("skipped")) == (0, 1), done.err
    assert "Files     3, 1 skipped, 0 not read\nPassages  2 new, 0 changed, 0 unchanged, 0 gone · " in done.out
    assert len(SqliteStore("store.db").hashes()) == 2


def test_questions_are_answered_as_by_one_machine(nodes: Cluster, surefoot: Surefoot, here: Path) -> None:
    """While a node dies, and what is answered is not asked again."""
    (here / "surefoot.toml").write_text('embedder = "hashing"\nevaluator = "lexical"\n')
    assert surefoot("index", "library").code == 0
    examples = [Example(f"q{n}", f"Who built the Ruvel Bridge in {1900 + n}?", (), frozenset()) for n in range(12)]
    chosen, arms = read("surefoot.toml", {}), methods.arms(["crag"], searches=False, top=5)
    last, asked = nodes.add_node(num_cpus=1), list[int]()

    def kill(done: int, total: int) -> None:
        asked.append(done)
        if done == 2:
            nodes.remove_node(last, allow_graceful=False)

    def traces(spread: Spread, folder: str, on_done: Callable[[int, int], None]) -> list[Any]:
        [(_, found)] = runs.run(arms, examples, spread, here / folder, {}, on_done)
        return [(one.question, one.answer, one.decision, one.error) for one in found]

    with cluster():
        ours = traces(asking(chosen, 1), "ours", kill)
        assert ours == traces(asking(chosen, 1), "ours", lambda done, total: asked.append(done - total))
    assert asked == [*range(13), 0]
    assert ours == traces(threads(Builder(chosen).pipeline()), "theirs", lambda done, total: None)


def test_records_are_judged_as_by_one_machine(
    nodes: Cluster, surefoot: Surefoot, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not by this process."""
    golds = ("Aldwin", "Larrow", "Tomas Aldwin", "nobody")
    records = [{"question": f"Who was {n}?", "answer": "Aldwin", "ground_truth": gold} for n, gold in enumerate(golds)]
    (here / "records.jsonl").write_text("\n".join(map(json.dumps, records)))
    words = ("evaluate", "records.jsonl", "--judge", "embedded", "--metric", "factuality")
    with monkeypatch.context() as patched:
        patched.setattr(Factuality, "judge", None)
        assert surefoot(*words, "--run", "ours", "--ray", "local").code == 0
    assert surefoot(*words, "--run", "theirs").code == 0
    ours, theirs = (values(here / folder / "scores.jsonl", Score) for folder in ("ours", "theirs"))
    assert len(ours) == 4
    assert ours == theirs


def test_judges_that_ask_an_endpoint_have_no_use_for_nodes(nodes: Cluster, surefoot: Surefoot, here: Path) -> None:
    """Their pace and their budget are one machine's."""
    (here / "records.jsonl").write_text('{"question": "Who?", "answer": "Aldwin"}')
    done = surefoot("evaluate", "records.jsonl", "--judge", "llm", "--run", "out", "--ray", "local")
    assert done.code == 2
    assert "none of these judges works on a machine of yours" in done.err


def test_a_retriever_that_is_no_store_is_refused(docs: Path) -> None:
    with pytest.raises(ConfigError, match="is no store"):
        index(discovered([docs]), read({"embedder": {"use": "hashing"}}, {}), Meta())


def test_a_cluster_without_cores_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ray, "nodes", lambda: [{"Alive": True, "Resources": {}}, {"Alive": False, "Resources": {"CPU": 2}}]
    )
    with pytest.raises(ConfigError, match="no node of the Ray cluster has a core"):
        asking(read({}, {}))


def test_an_address_without_a_cluster_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)

    def refused(address: str, **options: Any) -> None:
        raise ConnectionError("could not connect")

    monkeypatch.setattr(ray, "init", refused)
    with pytest.raises(ConfigError, match=r"no Ray cluster at .nowhere:1.*give HOST:PORT"), cluster("nowhere:1"):
        pass
