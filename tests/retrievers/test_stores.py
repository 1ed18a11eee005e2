"""The laws of stores, over each engine that can be run here, with as many passages as SUREFOOT_TEST_PASSAGES says."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.stores import BATCH, COUNT, EXTRAS, opened, passages, postgres, row_of, rows
from surefoot.contracts import store as store_contract
from surefoot.embedders.hashing import Hashing
from surefoot.index.push import Pushed, batches, patiently, push
from surefoot.network import Network
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, EndpointError, IndexFault, NetworkError
from surefoot.types.metadata import Filter, Meta

PROGRAM = Path(__file__).parents[1] / "services" / "stores.py"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Callable[[], None]]]:
    if find_spec("pgserver") is None:
        pytest.skip("pgserver, which holds a real PostgreSQL, is not installed")
    with postgres() as made:
        yield made


@pytest.fixture(params=EXTRAS)
def engine(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(EXTRAS[request.param], reason=f"needs the extra {request.param}")
    return str(request.param)


@pytest.fixture
def make(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Makes stores in one empty place."""
    place = str(tmp_path / "lance")
    if engine == "pgvector":
        import psycopg

        place, _ = request.getfixturevalue("server")
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    make = lambda table="surefoot_passages", embedder=None, **options: opened(engine, place, table, embedder, **options)  # noqa: E731
    make.place = place  # type: ignore[attr-defined]
    return make


def wanted(count: int, changed: float = 0.0) -> dict[str, str]:
    return {row.passage.id: row.hash for row in map(row_of, passages(count, changed))}


def test_it_keeps_the_contract_of_a_store(make: Callable[..., Any]) -> None:
    store_contract(make(), Hashing())


@pytest.mark.parametrize(
    "fields",
    [
        {"year": 2024},
        {"year": {">=": 2021.5}},
        {"year": {"<": 3000, "!=": 2020}},
        {"lang": {"in": ["en", "de'--"]}},
        {"lang": {"not in": ["en"]}},
        {"lang": {">": "D", "<=": "de'--"}},
        {"lang": 'a"\\b'},
        {"lang": {">": '"'}},
        {"done": True},
        {"done": {"!=": True}},
        {"in.a-b": {"in": []}},
        {"in.a-b": "x"},
        {"year": "2024"},
        {"year": 2**53 + 1},
        {"lang": "en", "year": {"<=": 1e300}},
    ],
)
def test_a_filter_finds_what_fulfils_it(make: Callable[..., Any], fields: dict[str, Any]) -> None:
    """As `Filter.matches` says, in both halves: by words that every passage has, and by any likeness."""
    metas = [
        {"year": 2024, "lang": "en"},
        {"year": 2020.0, "lang": "de'--", "done": True},
        {"year": "2024", "done": False, "lang": 'a"\\b'},
        {"year": True, "done": 1, "in.a-b": "x"},
        {"year": 1e300, "lang": "Z\u00fc"},
        {"year": 2**53 + 1},
        {"year": 2**53},
        {},
    ]
    store = make(depth=2)
    every = [Passage(f"p{n}", "hut", meta=Meta(meta)) for n, meta in enumerate(metas)]
    push(store, rows((passage, Hashing().embed([passage.text])[0]) for passage in every))
    filter = Filter.of(fields)
    found = {passage.id: passage.meta for passage in store.retrieve("hut", 2, filter)}
    matching = {passage.id: passage.meta for passage in every if filter.matches(passage.meta)}
    assert found.items() <= matching.items()
    assert len(found) == min(2, len(matching))


def test_a_filter_finds_the_few_of_many(make: Callable[..., Any]) -> None:
    """All of them, and by words and vectors no other."""
    push(store := make(), rows(passages(COUNT)))
    for few in ({0}, {*range(COUNT - 7, COUNT)}, {COUNT // 2, COUNT // 3}):
        found = store.retrieve("hut", 30, Filter.of({"n": {"in": [*few]}}))
        assert sorted(passage.meta["n"] for passage in found) == sorted(few)
    assert {passage.meta["n"] for passage in store.retrieve("hut", 30, Filter.of({"n": {"<": 20}}))} == {*range(20)}


def test_a_second_push_writes_its_changes_and_no_more(make: Callable[..., Any], monkeypatch: Any) -> None:
    """One passage in a hundred, and what is gone, which nothing finds any more."""
    assert push(make(), rows(passages(COUNT))) == Pushed(COUNT, 0, 0, 0)
    store, written, some = make(), [], -(-COUNT // 100)
    upsert = store.upsert
    monkeypatch.setattr(store, "upsert", lambda rows: (written.append(len(rows)), upsert(rows)))
    assert push(store, rows(passages(COUNT, 0.01))) == Pushed(0, some, COUNT - some, 0)
    assert sum(written) == some
    assert push(store, rows(passages(COUNT - 9))) == Pushed(0, some, COUNT - some - 9, 9)
    assert make().hashes() == wanted(COUNT - 9)
    gone = [passage.text for passage, _ in islice(passages(COUNT), COUNT - 9, None)]
    found = {id for text in gone for id in (store.retrieve(text, 1)[0].id, *store.nearest(text, 1))}
    assert found.isdisjoint({f"p{n}" for n in range(COUNT - 9, COUNT)})


def test_two_tables_do_not_touch(make: Callable[..., Any]) -> None:
    """In one place; whatever is written to one, the other has its own."""
    one, other = make("one"), make("other")
    push(one, rows(passages(COUNT)))
    push(other, rows(passages(COUNT // 2, 1.0)))
    push(one, rows(passages(COUNT // 4)))
    assert one.hashes() == wanted(COUNT // 4)
    assert other.hashes() == wanted(COUNT // 2, 1.0)
    assert "closed" not in one.retrieve("closed hut", 1)[0].text
    assert "closed" in other.retrieve("closed hut", 1)[0].text


def test_writers_of_the_same_passages_leave_each_once(make: Callable[..., Any]) -> None:
    """The table is made by the first; whoever comes second finds what is there, or tries again."""
    every = [*map(row_of, passages(COUNT))]

    def write(n: int) -> None:
        store = make()
        for batch in batches(every if n % 2 else every[::-1]):
            patiently(partial(store.upsert, batch))
        patiently(store.finish)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(write, range(3)))
    store = make()
    assert store.hashes() == wanted(COUNT)
    found = [passage.id for passage in store.retrieve("Hut 7", 30)]
    assert len(found) == len({*found}) == 30


def test_an_absent_table_says_to_push_and_has_no_hashes(make: Callable[..., Any]) -> None:
    assert make().hashes() == {}
    with pytest.raises(IndexFault, match="push an index"):
        make().retrieve("hut", 1)


def test_a_table_of_another_embedder_is_refused(make: Callable[..., Any]) -> None:
    """To read and to write; it stays as it was."""
    push(make(), rows(passages(3)))
    other = Hashing()
    other.name = "other"  # type: ignore[misc]
    for verb in (
        lambda store: store.retrieve("hut", 1),
        lambda store: store.hashes(),
        lambda store: store.upsert([row_of((Passage("p", "t"), np.zeros(256)))]),
    ):
        with pytest.raises(IndexFault, match=r"holds vectors of 'hashing-256', not of 'other'.*another name"):
            verb(make(embedder=other))
    assert make().hashes() == wanted(3)


def pushing(engine: str, place: str, lines: int) -> subprocess.Popen[str]:
    """A process that pushes to the table `killed`, and has printed so many lines."""
    command = [sys.executable, PROGRAM, engine, place, "killed", str(COUNT)]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    for _ in range(lines):
        assert run.stdout.readline() == "upsert\n"
    return run


def assert_whole(store: Any) -> None:
    """It holds all passages, and both halves find them."""
    push(store, rows(passages(COUNT)))
    assert store.hashes() == wanted(COUNT)
    for passage, _ in islice(passages(COUNT), 0, None, COUNT // 10):
        assert (store.retrieve(passage.text, 1)[0].id, store.nearest(passage.text, 1)) == (passage.id, (passage.id,))


def test_ten_kills_end_as_a_push_that_was_never_killed(make: Callable[..., Any], engine: str, request: Any) -> None:
    """Of the process that pushes, at any moment; and of PostgreSQL's processes, all at once."""
    chance, place = random.Random(7), make.place  # type: ignore[attr-defined]
    held = list[int]()
    for n in range(10):
        with pushing(engine, place, chance.randint(1, 3) * COUNT // BATCH // 20) as run:
            time.sleep(chance.uniform(0.0, 0.0003) * BATCH)
            if engine == "pgvector" and n % 2:
                request.getfixturevalue("server")[1]()
            run.kill()
        held.append(len(make("killed").hashes()))
    assert 0 < held[-1] < COUNT, "the kills came too early or too late: the test proves nothing"
    assert held == sorted(held)
    assert_whole(make("killed"))


def test_kills_at_the_end_of_a_push_leave_whole_indexes(make: Callable[..., Any], engine: str, request: Any) -> None:
    """While they are made; likewise of PostgreSQL's processes."""
    chance, place, rest = random.Random(7), make.place, list[str]()  # type: ignore[attr-defined]
    for n in range(4):
        with pushing(engine, place, 0) as run:
            assert run.stdout is not None
            while run.stdout.readline() != "finish\n":
                assert run.poll() is None
            time.sleep(chance.uniform(0.0, COUNT / 20_000))
            if engine == "pgvector" and n % 2:
                request.getfixturevalue("server")[1]()
            run.kill()
            rest.append(run.stdout.read())
    assert "" in rest, "the kills came too late: the test proves nothing"
    assert_whole(make("killed"))


def test_a_push_adds_a_part_to_an_index_in_lance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until there are many, which are merged: to write the whole index takes longer than all else of a small push. What
    was there before goes once it is old."""
    pytest.importorskip("lance", reason="pylance is not installed")
    pytest.importorskip("lancedb", reason="needs the extra lance")
    from surefoot.retrievers import lance

    monkeypatch.setattr(lance, "_LATE", 0)
    monkeypatch.setattr(lance, "_PARTS", 3)
    monkeypatch.setattr(lance, "_OLD", timedelta())
    store, parts = opened("lance", str(tmp_path)), list[int]()
    for n in range(5):
        push(store, rows(passages(100 + 10 * n)))
        parts.append(lance._parts(store._table()))
        (newest,) = islice(passages(100 + 10 * n), 99 + 10 * n, None)
        assert store.retrieve(newest[0].text, 1)[0].text == newest[0].text
        assert not any(index.num_unindexed_rows for index in store._table().list_indices())
        assert n == 0 or len(store._table().list_versions()) == 1
    assert parts == [1, 2, 3, 1, 2]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A bucket of a server that plays S3."""
    pytest.importorskip("lancedb", reason="needs the extra lance")
    server = pytest.importorskip("moto.server", reason="moto is not installed").ThreadedMotoServer(
        port=0, verbose=False
    )
    import httpx

    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "s3cret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    assert httpx.put(f"http://{host}:{port}/bucket", trust_env=False).status_code == 200
    yield "s3://bucket/store"
    server.stop()


def test_a_bucket_holds_a_store_for_writers_side_by_side(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the same engine; a bucket that is not there is named without a key, and not waited for."""
    from surefoot.retrievers import lance

    monkeypatch.setattr(lance, "_LATE", 0)
    store_contract(store := opened("lance", bucket), Hashing())
    for count in (20, 30):
        push(store, rows(passages(count)))
        assert store.retrieve("Hut 19", 1)[0].id == "p19"
    every = [*map(row_of, passages(20))]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: opened("lance", bucket, "both").upsert(every), range(3)))
    assert opened("lance", bucket, "both").hashes() == wanted(20)
    with pytest.raises(EndpointError, match=r"s3://other/store failed: NoSuchBucket$") as failed:
        opened("lance", "s3://other/store").hashes()
    assert failed.value.lasting
    with pytest.raises(NetworkError, match="allow"):
        opened("lance", bucket, network=Network(allow=[])).hashes()


def test_a_bucket_without_a_key_is_a_mistake_of_configuration(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is looked for on other machines."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(ConfigError, match="AWS_ACCESS_KEY_ID"):
        opened("lance", bucket).hashes()
    with pytest.raises(ConfigError, match="not in 'gs://bucket/x'"):
        opened("lance", "gs://bucket/x")
