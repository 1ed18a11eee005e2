import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from services.stores import row_of, rows  # noqa: E402
from surefoot.embedders.hashing import Hashing  # noqa: E402
from surefoot.index.push import Pushed, push  # noqa: E402
from surefoot.retrievers.pgvector import Pgvector  # noqa: E402
from surefoot.text.places import located  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import ConfigError, EndpointError, IndexFault, SurefootError  # noqa: E402
from surefoot.types.metadata import Meta  # noqa: E402
from surefoot.types.protocols import Embedder, Matrix, StoreRow  # noqa: E402

LAUNCHER = Path(__file__).parents[1] / "services" / "postgres.py"
ENV = "SUREFOOT_TEST_DSN"


class Fixed:
    """An embedder that gives every text the same vector."""

    name = "fixed"

    def __init__(self, vector: Sequence[float]) -> None:
        self.vector = np.asarray(vector, dtype=np.float32)
        self.dimensions = len(self.vector)

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.tile(self.vector, (len(texts), 1))


PASSAGES = (
    Passage(
        "bridge", "The Ruvel bridge opened in 1931; its arch is of granite.", "Ruvel bridge", url="a.md", file="a.jsonl"
    ),
    Passage("hut", "The upper hut sleeps forty and opens in June.", "Upper Larrow hut", url="b.md", start=120),
    Passage("lower", "The lower hut is open all year round.", "Lower Larrow hut"),
    Passage("glacier", "The glacier has lost a third of its length since 1900.", "Hohrin glacier"),
    Passage("cheese", "Dumplings of cheese are eaten at the midsummer fair.", "Cheese dumplings"),
)


def embedded(passages: Iterable[Passage], embedder: Embedder | None = None) -> Iterator[tuple[Passage, Matrix]]:
    embedder = embedder or Hashing()
    return ((each, embedder.embed([f"{each.title} {each.text}"])[0]) for each in passages)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The DSN of a real server, which ends with this module's tests."""
    if find_spec("pgserver") is None:
        pytest.skip("pgserver, which holds a real PostgreSQL, is not installed")
    with subprocess.Popen([sys.executable, LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        dsn = run.stdout.readline().strip()
        assert dsn, "the launcher did not start a server; its reason is above"
        yield dsn


@pytest.fixture
def make(server: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pgvector]:
    """Makes retrievers over a database without any table of theirs."""
    monkeypatch.setenv(ENV, server)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    return lambda embedder=None, **settings: Pgvector(embedder or Hashing(), dsn_env=ENV, **settings)


def pushed(make: Callable[..., Pgvector]) -> Pgvector:
    retriever = make()
    filled(retriever, embedded(PASSAGES))
    return retriever


def filled(retriever: Pgvector, passages: Iterable[tuple[Passage, npt.ArrayLike]]) -> Pushed:
    return push(retriever, rows(passages, retriever.embedder.name))


def rows_of(passages: Iterable[Passage]) -> Iterator[StoreRow]:
    return map(row_of, embedded(passages))


def ids(passages: Sequence[Passage]) -> list[str]:
    return [each.id for each in passages]


def versions() -> list[tuple[str, str]]:
    """Which version of each row the table holds."""
    with psycopg.connect(os.environ[ENV]) as connection:
        return connection.execute("SELECT id, xmin::text FROM surefoot_passages ORDER BY id").fetchall()


def eventually(count: str) -> int:
    """The count as soon as it is above 0; 0 after a minute."""
    with psycopg.connect(os.environ[ENV], autocommit=True) as connection:
        for _ in range(1200):
            if number := connection.execute(count).fetchone()[0]:
                return number
            time.sleep(0.05)
    return 0


@pytest.mark.slow
class TestRetrieve:
    def test_a_word_of_the_title_outweighs_one_of_the_text(self, make):
        """A passage is mostly about what its title names."""
        retriever = make(Fixed([0.0, 0.0]))
        about = [
            (Passage("a-text", "granite", "arch"), [0.0, 1.0]),
            (Passage("b-title", "arch", "granite"), [0.0, 1.0]),
        ]
        filled(retriever, about)
        assert ids(retriever.retrieve("granite", 2)) == ["b-title", "a-text"]

    def test_the_words_and_the_vector_both_count(self, make):
        """The score is the sum of the reciprocal ranks: first in both halves, then first in one alone."""
        retriever = make(Fixed([1.0, 0.0]), constant=60)
        rows = [(Passage("both", "granite"), [1.0, 0.0]), (Passage("near", "other"), [0.9, 0.1])]
        filled(retriever, [*rows, (Passage("far", "third"), [0.0, 1.0])])
        found = retriever.retrieve("granite", 3)
        assert ids(found) == ["both", "near", "far"]
        assert [each.score for each in found] == pytest.approx([2 / 61, 1 / 62, 1 / 63])

    @pytest.mark.parametrize(
        "question",
        [
            "the of and",
            "'; DROP TABLE surefoot_passages; --",
            "a & b | !(c <-> d):*",
            "%(k)s %s {table} \\ \\' ''",
            "it\\'s 'hut\\'",
            "http://example.com/a'b\\c?d=é hit-and-run",
        ],
    )
    def test_no_question_breaks_the_query(self, make, question):
        """Quotes, operators and placeholders are words like others, or nothing."""
        retriever = pushed(make)
        assert len(retriever.retrieve(question, 5)) <= 5
        assert ids(retriever.retrieve("granite arch of the Ruvel bridge", 1)) == ["bridge"]

    def test_a_large_table_is_searched_through_its_indexes(self, make):
        """Neither the words nor the vectors of the whole table are read."""
        retriever = make(Fixed([0.0] * 8))
        vectors = np.random.default_rng(7).normal(size=(3000, 8))
        filled(retriever, ((Passage(f"p{i}", f"word{i}"), vector) for i, vector in enumerate(vectors)))
        retriever.embedder = Fixed(vectors[1234])
        found = retriever.retrieve("word1234", 50)
        del retriever  # a session reports what it scanned when it ends
        assert found[0].id == "p1234"
        assert len(found) == 50
        for index in ("surefoot_passages_tsv", "surefoot_passages_embedding"):
            assert eventually(f"SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '{index}'")

    def test_threads_retrieve_side_by_side(self, make):
        """One retriever serves many threads, and gives each the answer to its own question."""
        retriever = pushed(make)
        questions = ["Ruvel bridge", "Upper Larrow hut", "Hohrin glacier", "Cheese dumplings"] * 10
        with ThreadPoolExecutor(4) as threads:
            firsts = list(threads.map(lambda question: retriever.retrieve(question, 1)[0].title, questions))
        assert firsts == questions

    def test_a_connection_that_died_while_idle_is_replaced(self, make):
        """A restarted server does not fail the next question."""
        retriever = pushed(make)
        retriever.retrieve("hut", 1)
        with psycopg.connect(os.environ[ENV], autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        assert ids(retriever.retrieve("Ruvel bridge", 1)) == ["bridge"]


@pytest.mark.slow
class TestPush:
    def test_a_passage_comes_back_whole(self, make):
        """Every field that an index gives it, so that a citation leads as far as it does from the index itself."""
        whole = Passage(
            "hut",
            "Built by miners.\n\nThe roof is of larch.",
            "The hut",
            url="hut.html#a",
            start=3,
            file="hut.html",
            meta=Meta({"year": 1927}),
            places=((0, "a"), (18, 'b "ü"')),
        )
        given = {field.name for field in fields(Passage) if getattr(whole, field.name) != field.default}
        assert given == {field.name for field in fields(Passage)} - {"source", "score", "via", "trust"}
        retriever = make()
        filled(retriever, embedded([whole]))
        (found,) = retriever.retrieve("larch", 1)
        assert replace(found, score=None) == whole
        assert located(found, 18).url == 'hut.html#b "ü"'

    def test_a_damaged_passage_is_an_index_fault(self, make):
        """Somebody else wrote to the table."""
        retriever = pushed(make)
        with psycopg.connect(os.environ[ENV], autocommit=True) as connection:
            connection.execute("""UPDATE surefoot_passages SET passage = '{"title": "", "text": "hut"}'""")
        with pytest.raises(IndexFault, match="push the index again"):
            retriever.retrieve("hut", 1)

    def test_only_what_has_changed_is_written(self, make):
        """A row of the same hash keeps its version, whoever writes it again."""
        retriever = pushed(make)
        before = versions()
        retriever.upsert([*rows_of(PASSAGES)])
        assert versions() == before
        changed = [replace(PASSAGES[0], text="A ferry crosses."), *PASSAGES[1:]]
        assert str(filled(retriever, embedded(changed))) == "0 new, 1 changed, 4 unchanged, 0 gone"
        assert replace(retriever.retrieve("ferry", 1)[0], score=None) == changed[0]

    def test_a_batch_is_written_whole_or_not_at_all(self, make):
        """Here one of two passages of one id."""
        retriever = pushed(make)
        with pytest.raises(IndexFault, match=r"share an id"):
            retriever.upsert([*rows_of([Passage("new", "A new hut.")] * 2)])
        assert len(retriever.hashes()) == 5

    def test_texts_that_postgresql_cannot_hold_keep_their_length(self, make):
        """NUL and lone surrogates are replaced one for one, so that offsets into the passage still hold."""
        retriever = make()
        filled(retriever, embedded([Passage("odd", "a\0b\ud800c hut")]))
        assert retriever.retrieve("hut", 1)[0].text == "a b?c hut"

    def test_vectors_too_long_for_an_index_are_searched_all_the_same(self, make):
        """pgvector indexes no more than 2,000 dimensions."""
        vector = np.eye(2001, dtype=np.float32)[0]
        retriever = make(Fixed(vector))
        filled(retriever, [(Passage("long", "hut"), vector)])
        assert ids(retriever.retrieve("", 1)) == ["long"]


@pytest.mark.slow
class TestFaults:
    def test_another_embedder_cannot_use_the_table(self, make):
        """Of the same or of other dimensions: the error says which embedder the table was made with."""
        retriever = pushed(make)
        for other in (Fixed([0.0] * 9), Fixed([0.0] * 256)):
            says = "holds vectors of 'hashing-256', not of 'fixed'.*another name"
            with pytest.raises(IndexFault, match=says):
                make(other).retrieve("hut", 1)
            with pytest.raises(IndexFault, match=says):
                filled(make(other), embedded(PASSAGES, other))
        assert len(retriever.retrieve("hut", 9)) == 5

    def test_a_table_of_somebody_else_is_left_alone(self, make):
        """A table of that name with other columns is an error, not ours to change."""
        with psycopg.connect(os.environ[ENV]) as connection:
            connection.execute("CREATE TABLE surefoot_passages (id text)")
        with pytest.raises(IndexFault, match="no table surefoot_passages of Surefoot's"):
            filled(make(), embedded(PASSAGES))

    def test_a_server_that_cannot_have_pgvector_is_named(self, make, monkeypatch):
        """Who may not make the extension is told who may, and how."""
        with psycopg.connect(os.environ[ENV]) as connection:
            connection.execute("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'")
            connection.execute("GRANT ALL ON SCHEMA public TO guest")
        guest = psycopg.conninfo.make_conninfo(os.environ[ENV], user="guest", password="guest")
        monkeypatch.setenv(ENV, guest)
        with pytest.raises(IndexFault, match=r"lacks pgvector.*CREATE EXTENSION vector"):
            filled(make(), embedded(PASSAGES))

    def test_a_slow_server_is_given_up(self, make):
        """After `timeout` seconds, here of waiting for a lock; the retriever works again afterwards."""
        retriever = make(timeout=2)
        filled(retriever, embedded(PASSAGES))
        with psycopg.connect(os.environ[ENV]) as connection:
            connection.execute("LOCK TABLE surefoot_passages")
            with pytest.raises(EndpointError, match=r"no answer within 2 s"):
                retriever.retrieve("hut", 1)
        assert len(retriever.retrieve("hut", 1)) == 1

    def test_a_lost_connection_during_a_push_costs_one_more_attempt(self, make):
        """The server ends the session that writes."""
        retriever = make()

        upsert, failed = retriever.upsert, []

        def failing(rows):
            with psycopg.connect(os.environ[ENV]) as other, ThreadPoolExecutor(1) as thread:
                if failed:
                    return upsert(rows)
                other.execute("LOCK TABLE surefoot_passages_meta")
                writing = thread.submit(upsert, rows)
                assert eventually("SELECT count(*) FROM pg_locks WHERE NOT granted")
                other.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted")
                failed.append(writing.exception())
                raise failed[0]

        filled(make(), embedded(PASSAGES[:1]))
        retriever.upsert = failing
        assert filled(retriever, embedded(PASSAGES)).new == 4
        assert isinstance(failed[0], EndpointError)


class TestSecrets:
    @pytest.mark.parametrize(
        ("dsn", "error"),
        [
            ("postgresql://user:s3cret@127.0.0.1:9/db", EndpointError),
            ("postgresql://user:pa@s3cret@127.0.0.1:9/db", SurefootError),
            ("postgresql://user:x@127.0.0.1:s3cret/db", SurefootError),
            ("postgresql//user:s3cret@127.0.0.1/db", ConfigError),
            ("s3cret", ConfigError),
            ("host=/nowhere password=s3cret", EndpointError),
        ],
    )
    def test_a_server_that_cannot_be_reached_does_not_show_the_password(self, monkeypatch, dsn, error):
        """Down, or a DSN that is misread: one line that names the variable, and no part of its value."""
        monkeypatch.setenv(ENV, dsn)
        retriever = Pgvector(Hashing(), dsn_env=ENV, timeout=2)
        with pytest.raises(error, match=ENV) as caught:
            retriever.retrieve("hut", 1)
        shown = "".join(traceback.format_exception(caught.value)) + f"{retriever!r} {vars(retriever)!r}"
        assert "s3cret" not in shown
        assert "\n" not in str(caught.value)

    def test_a_missing_variable_is_named_at_once(self, monkeypatch):
        """When the retriever is made, not at the first question."""
        monkeypatch.delenv(ENV, raising=False)
        with pytest.raises(ConfigError, match=f"{ENV} is not set"):
            Pgvector(Hashing(), dsn_env=ENV)

    @pytest.mark.parametrize("table", ["", "Passages", "a.b", 'a"; DROP TABLE b', "1a", "a" * 51])
    def test_a_table_name_that_is_no_plain_name_is_refused(self, table):
        """Before anything is sent anywhere."""
        with pytest.raises(ConfigError, match="no table can be called"):
            Pgvector(Hashing(), table=table)
