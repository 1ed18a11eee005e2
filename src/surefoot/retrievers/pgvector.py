"""Retrieval from PostgreSQL with the pgvector extension, for a corpus that has outgrown one machine."""

import json
import math
import os
import re
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, LiteralString

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import errors, pq, sql

from surefoot.network import Network
from surefoot.run.store import from_json, to_json
from surefoot.text.words import encodable
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, EndpointError, IndexFault, TraceFault
from surefoot.types.metadata import NO_FILTER, FieldCondition, Filter
from surefoot.types.protocols import Embedder, StoreRow, embedded_questions

Connection = psycopg.Connection[tuple[Any, ...]]

_MOST_INDEXED = 2000
"""pgvector's HNSW holds no longer vectors; beyond it the search is exact, and reads the whole table."""

_TABLES = """
CREATE TABLE IF NOT EXISTS {meta} (embedder text NOT NULL);
INSERT INTO {meta} SELECT {embedder} WHERE NOT EXISTS (SELECT FROM {meta});
CREATE TABLE IF NOT EXISTS {table} (
  id text COLLATE "C" PRIMARY KEY, hash text NOT NULL, passage json NOT NULL, embedding vector({dimensions}) NOT NULL,
  tsv tsvector NOT NULL GENERATED ALWAYS AS (
    setweight(to_tsvector('english', passage ->> 'title'), 'A')
    || setweight(to_tsvector('english', passage ->> 'text'), 'D')) STORED)
"""
# In the order of ids, so that two processes that write the same passages wait for each other and do not lock up.
_UPSERT = """
INSERT INTO {table} AS held (id, hash, passage, embedding)
SELECT id, hash, passage::json, embedding::vector FROM
  unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS row (id, hash, passage, embedding) ORDER BY id COLLATE "C"
ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, passage = excluded.passage, embedding = excluded.embedding
WHERE held.hash <> excluded.hash
"""
_LEXICAL_INDEX = "CREATE INDEX IF NOT EXISTS {lexical} ON {table} USING gin (tsv)"
_VECTOR_INDEX = "CREATE INDEX IF NOT EXISTS {semantic} ON {table} USING hnsw (embedding vector_cosine_ops)"

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
"""What two processes may not do to a table at once."""

# The words are joined by OR: those of a question seldom all occur in one passage. A title counts double. A table of
# another embedder is not searched: its distances would mean nothing, or its dimensions would not fit.
_RETRIEVE = """
WITH {allowed} held AS MATERIALIZED (SELECT embedder FROM {meta}),
query AS (SELECT replace(plainto_tsquery('english', %(question)s)::text, ' & ', ' | ')::tsquery AS words),
lexical AS (
  SELECT id, row_number() OVER (ORDER BY ts_rank('{{0.5, 0, 0, 1}}', tsv, words) DESC, id) AS rank
  FROM query JOIN {among} ON tsv @@ words ORDER BY rank LIMIT %(depth)s
),
nearest AS (
  SELECT id, embedding <=> %(vector)s::vector AS distance FROM {among}
  WHERE (SELECT embedder FROM held) = %(embedder)s ORDER BY embedding <=> %(vector)s::vector LIMIT %(depth)s
),
semantic AS (SELECT id, row_number() OVER (ORDER BY distance, id) AS rank FROM nearest WHERE distance < 'NaN'),
fused AS (
  SELECT id, sum(1.0 / (%(constant)s + rank))::float8 AS score
  FROM (SELECT * FROM lexical UNION ALL SELECT * FROM semantic) AS ranked
  GROUP BY id ORDER BY score DESC, id LIMIT %(k)s
)
SELECT embedder, passage, score FROM held LEFT JOIN (fused JOIN {table} USING (id)) ON true ORDER BY score DESC, id
"""
_NEAREST = """
SELECT id FROM {table} ORDER BY embedding <=> %(vector)s::vector LIMIT %(k)s
"""
# Set apart first, so that no approximate index is asked: it would find the nearest of all, and leave few that match.
_ALLOWED = "allowed AS MATERIALIZED (SELECT * FROM {table} WHERE {conditions}),"
_VALUE: LiteralString = "(passage -> 'meta')::jsonb -> {key}"
_TEXT: LiteralString = "passage -> 'meta' ->> {key}"
_CONDITIONS: Mapping[str, LiteralString] = {
    "in": f"coalesce({_VALUE} = ANY ({{value}}::jsonb[]), false)",
    "not in": f"NOT coalesce({_VALUE} = ANY ({{value}}::jsonb[]), false)",
    "number": f"CASE jsonb_typeof({_VALUE}) WHEN 'number' THEN ({_TEXT})::numeric {{order}} {{value}}::numeric"
    " ELSE false END",
    "text": f"CASE jsonb_typeof({_VALUE}) WHEN 'string' THEN ({_TEXT}) COLLATE \"C\" {{order}} {{value}}"
    " ELSE false END",
}
"""The conditions of a filter in SQL, as `FieldCondition.holds` has them; jsonb tells the kinds of values apart."""
_ORDERS: Mapping[str, LiteralString] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}

_PASSING = (
    "Connection refused|No such file or directory|timeout expired|too many clients|starting up|shutting down|recovery"
).split("|")
_LASTING = (
    "password authentication failed|no password supplied|no pg_hba.conf entry|could not translate host name"
    "|failed to resolve host|does not exist|SSL"
).split("|")
"""Parts of an error that may be repeated. The rest may quote a password: with an unescaped "@" in it, what follows is
part of the host's name."""


@dataclass(eq=False)
class Pgvector:
    """A store in a table of PostgreSQL: full text and vectors, fused in one round trip.

    The DSN holds a password, so it is read from the environment variable `dsn_env` alone. Each half finds `depth`
    passages: by any of the question's words, in the order of PostgreSQL's `ts_rank` (English stems; recall@1 of 0.83
    where BM25 has 0.87, over 384 questions), and by cosine, approximately (HNSW). A passage scores the sum of
    1 / (`constant` + its rank) over the halves that found it. `timeout`: seconds for connecting and for one retrieval.
    Raises ConfigError, and NetworkError for a server beyond a unix socket that `network` does not allow.
    """

    name: ClassVar[str] = "pgvector"
    embedder: Embedder
    dsn_env: str = "SUREFOOT_PG_DSN"
    table: str = "surefoot_passages"
    depth: int = 50
    constant: int = 60
    timeout: float = 10.0
    network: Network = field(default_factory=Network)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,49}", self.table):
            wrong = f"no table can be called {self.table!r}"
            raise ConfigError(f"{wrong}; use up to 50 of a-z, 0-9 and _, the first no digit")
        self._dsn()  # a missing variable is named now, not at the first question
        self._idle: deque[Connection] = deque()
        self._made = False
        weakref.finalize(self, _close, self._idle)

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, best first. With a filter the nearest are exact, and every passage that matches is
        read. Raises EndpointError; IndexFault where the table is absent or another embedder's."""
        text = _storable(question)
        parameters = {
            "question": text,
            "vector": _vector(embedded_questions(self.embedder, [text])[0]),
            "embedder": self.embedder.name,
            "depth": self.depth,
            "constant": self.constant,
            "k": k,
        }
        conditions = sql.SQL(" AND ").join(map(_condition, filter.conditions))
        allowed = sql.SQL(_ALLOWED).format(table=sql.Identifier(self.table), conditions=conditions)
        among = sql.Identifier("allowed" if filter else self.table)
        search = self._sql(_RETRIEVE, allowed=allowed if filter else sql.SQL(""), among=among)
        with self._faults():
            rows = self._fetched(search, parameters)
        self._check_embedder(rows[0][0] if rows else None)
        return tuple(replace(_passage(held), score=score) for _, held, score in rows if held is not None)

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        """The ids of the `k` passages nearest by vector, as the index finds them. Raises as `retrieve` does."""
        vector = _vector(embedded_questions(self.embedder, [_storable(question)])[0])
        with self._faults():
            rows = self._fetched(self._sql(_NEAREST), {"vector": vector, "k": k})
        return tuple(id for (id,) in rows)

    def hashes(self) -> dict[str, str]:
        """The hash of each passage in the table, by its id; none where there is no table. Raises EndpointError;
        IndexFault where the table is another embedder's."""
        with self._changing() as connection:
            if connection.execute("SELECT to_regclass(%s)", [self.table]).fetchone() == (None,):
                return {}
            held = connection.execute(self._sql("SELECT embedder FROM {meta}")).fetchone()
            self._check_embedder(held[0] if held else None)
            return dict(connection.execute(self._sql("SELECT id, hash FROM {table}")))

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        """Write those of the passages that the table does not hold with the same hash, in one transaction. The first
        makes the extension and the tables. Raises EndpointError; IndexFault where the table is another embedder's."""
        with self._changing() as connection:
            if not self._made:
                self._make(connection)
                self._made = True
            ids, hashes, vectors = (
                [row.passage.id for row in rows],
                [row.hash for row in rows],
                [_vector(row.vector) for row in rows],
            )
            passages = [json.dumps(_clean(to_json(row.passage)), ensure_ascii=False) for row in rows]
            connection.execute(self._sql(_UPSERT), [ids, hashes, passages, vectors])

    def delete(self, ids: Collection[str]) -> None:
        """Take these passages out. Raises EndpointError; IndexFault where there is no table."""
        with self._changing() as connection:
            connection.execute(self._sql("DELETE FROM {table} WHERE id = ANY (%s)"), [[*ids]])

    def finish(self) -> None:
        """Make the indexes where they are absent, which is faster after the first push than before it; later writing
        keeps them up to date. Raises EndpointError; IndexFault where there is no table."""
        with self._changing() as connection, connection.transaction():
            connection.execute(_LOCK, [self.table])
            connection.execute(
                "SET LOCAL maintenance_work_mem = '512MB'"
            )  # where the graph does not fit, it takes long
            connection.execute(self._sql(_LEXICAL_INDEX))
            if self.embedder.dimensions <= _MOST_INDEXED:
                connection.execute(self._sql(_VECTOR_INDEX))
            connection.execute(self._sql("ANALYZE {table}"))

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        """A connection that gives a statement as long as it takes."""
        with self._faults(), self._connected(timeout=0) as connection:
            yield connection

    def _make(self, connection: Connection) -> None:
        """Make the extension and the tables where they are absent."""
        with connection.transaction():
            connection.execute(_LOCK, [self.table])
            try:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
                raise IndexFault(
                    f"the PostgreSQL server of {self.dsn_env} lacks pgvector ({error.diag.message_primary}); "
                    "have its administrator install it and run: CREATE EXTENSION vector"
                ) from error
            connection.execute(self._sql(_TABLES, embedder=sql.Literal(self.embedder.name)))
            held = connection.execute(self._sql("SELECT embedder FROM {meta}")).fetchone()
            self._check_embedder(held[0] if held else None)

    def _check_embedder(self, held: str | None) -> None:
        if held is None:
            raise IndexFault(f"the PostgreSQL table {self.table} is empty; push an index to it first")
        if held != self.embedder.name:
            raise IndexFault(
                f"the PostgreSQL table {self.table} holds vectors of {held!r}, not of {self.embedder.name!r}; "
                "configure that embedder, or push to a table of another name"
            )

    def _fetched(self, search: sql.Composed, parameters: Mapping[str, object]) -> list[tuple[Any, ...]]:
        """The rows, over an idle connection where there is a living one: the server may have restarted meanwhile."""
        while True:
            try:
                connection, fresh = self._idle.pop(), False
            except IndexError:
                connection, fresh = self._connected(self.timeout), True
            try:
                return connection.execute(search, parameters).fetchall()
            except psycopg.OperationalError:
                if fresh or not connection.closed:
                    raise
            finally:
                if not connection.closed:
                    self._idle.append(connection)

    def _connected(self, timeout: float) -> Connection:
        """A connection that gives a statement `timeout` seconds, 0 meaning as long as it takes."""
        for host, port in _servers(self._dsn()):
            self.network.require(host, port)
        try:
            connection = psycopg.connect(
                self._dsn(),
                autocommit=True,
                client_encoding="utf8",
                connect_timeout=math.ceil(self.timeout),
                tcp_user_timeout=int(self.timeout * 1000),
                prepare_threshold=None,  # a pooler in between (pgbouncer) may not keep prepared statements
            )
        except psycopg.ProgrammingError:
            raise ConfigError(
                f"the environment variable {self.dsn_env} is not a connection string; "
                "write postgresql://user:password@host:5432/database, escaping the password"
            ) from None
        except psycopg.Error as error:
            reason = next((known for known in (*_PASSING, *_LASTING) if known in str(error)), "no connection")
            failed = EndpointError(f"the PostgreSQL server of {self.dsn_env} cannot be reached: {reason}")
            failed.lasting = reason in _LASTING
            raise failed from None
        connection.execute("SELECT set_config('statement_timeout', %s, false)", [str(math.ceil(timeout * 1000))])
        connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", [str(min(2 * self.depth, 1000))])
        return connection

    def _dsn(self) -> str:
        if dsn := os.environ.get(self.dsn_env):
            return dsn
        raise ConfigError(
            f"the environment variable {self.dsn_env} is not set; "
            "set it to postgresql://user:password@host:5432/database"
        )

    def _sql(self, statement: LiteralString, **parts: sql.Composable) -> sql.Composed:
        names = {"table": "", "meta": "_meta", "lexical": "_tsv", "semantic": "_embedding"}
        named = {name: sql.Identifier(f"{self.table}{suffix}") for name, suffix in names.items()}
        return sql.SQL(statement).format(**named, dimensions=sql.Literal(self.embedder.dimensions), **parts)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (errors.UndefinedTable, errors.UndefinedColumn) as error:
            raise IndexFault(
                f"PostgreSQL has no table {self.table} of Surefoot's ({error.diag.message_primary}); push an index "
                "first, to a table of another name where this one is not ours"
            ) from error
        except (errors.UniqueViolation, errors.CardinalityViolation) as error:
            raise IndexFault("two of the passages share an id; give each its own") from error
        except errors.QueryCanceled as error:
            raise EndpointError(f"PostgreSQL gave no answer within {self.timeout:g} s; raise the timeout") from error
        except psycopg.Error as error:
            reason = error.diag.message_primary or "the connection was lost"
            raise EndpointError(f"the PostgreSQL server of {self.dsn_env} failed: {reason}") from error


def _servers(dsn: str) -> list[tuple[str, int]]:
    """The hosts and ports that libpq will try, after its environment variables; a unix socket is none."""
    try:
        options = pq.Conninfo.parse(dsn.encode())
    except psycopg.OperationalError:  # connecting names the fault
        return []
    found = {each.keyword: each.val for each in (*pq.Conninfo.get_defaults(), *options) if each.val}
    host, hostaddr, port, service = (
        found.get(key, b"").decode(errors="replace") for key in (b"host", b"hostaddr", b"port", b"service")
    )
    if service:
        return [(f"the PostgreSQL service {service}", 5432)]
    hosts, ports = (host or hostaddr).split(","), port.split(",")
    everywhere = ports * len(hosts) if len(ports) == 1 else ports
    numbers = [int(port) if port.isdigit() else 5432 for port in everywhere]
    return [(host, port) for host, port in zip(hosts, numbers, strict=False) if host[:1] not in "/@"]


def _condition(condition: FieldCondition) -> sql.Composed:
    """A condition of a filter; its key and values are literals, which psycopg quotes."""
    first = condition.values[0] if condition.values else None
    kind = condition.operator if condition.operator not in _ORDERS else "text" if isinstance(first, str) else "number"
    listed = [json.dumps(value) for value in condition.values]
    value = first if kind == "text" else repr(first) if kind == "number" else listed
    order = sql.SQL(_ORDERS.get(condition.operator, ""))
    return sql.SQL(_CONDITIONS[kind]).format(key=sql.Literal(condition.key), value=sql.Literal(value), order=order)


def _passage(held: Any) -> Passage:
    try:
        return from_json(Passage, held)
    except TraceFault as error:
        raise IndexFault(f"a passage in PostgreSQL is damaged ({error}); push the index again") from error


def _vector(vector: npt.NDArray[np.float32]) -> str:
    """The vector as pgvector reads it."""
    return json.dumps(vector.tolist())


def _clean(value: Any) -> Any:
    """The JSON value with every text as PostgreSQL can hold it."""
    if isinstance(value, dict):
        return {_storable(key): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [*map(_clean, value)]
    return _storable(value) if isinstance(value, str) else value


def _storable(text: str) -> str:
    """The text, as long as before, without what PostgreSQL cannot hold: NUL and lone surrogates."""
    return encodable(text.replace("\0", " "))


def _close(idle: Iterable[Connection]) -> None:
    for connection in idle:
        connection.close()
