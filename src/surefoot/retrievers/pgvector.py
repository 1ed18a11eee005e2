"""Retrieval from PostgreSQL with the pgvector extension, for a corpus that has outgrown one machine."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import errors, pq, sql
from psycopg.types.json import Json

from surefoot.network import Network
from surefoot.run import forks
from surefoot.run.store import from_json
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, EndpointError, IndexFault, TraceFault
from surefoot.types.metadata import NO_FILTER, Condition, Filter, Meta
from surefoot.types.protocols import Embedder

Connection = psycopg.Connection[tuple[Any, ...]]
Vector = npt.ArrayLike
"""As many floats as the embedder has dimensions."""

_MOST_INDEXED = 2000
"""pgvector's HNSW holds no longer vectors; beyond it the search is exact, and reads the whole table."""

_SETTINGS = "SELECT set_config('statement_timeout', %s, false), set_config('hnsw.ef_search', %s, false)"

# PostgreSQL's own ranks know nothing of how rare a word is, and its cover density falls for questions, whose words
# seldom all occur: over 23,418 passages of Wikipedia and 384 questions, recall@1 is 0.27 with ts_rank_cd, 0.83 with
# ts_rank of the OR-ed words, 0.87 with ts_rank of each word weighted by its rarity, as here. A title counts double.
# A lexeme may hold a quote (of a URL's path), never a backslash.
# A table of another embedder is not searched: its distances would mean nothing, or its dimensions would not fit.
# The places are asked of the whole row, since a table of an earlier version has no such column: NULL then, no error.
_RETRIEVE = """
WITH {allowed} meta AS MATERIALIZED (SELECT embedder, passages FROM {meta}),
words AS (
  SELECT lexeme, ('''' || replace(lexeme, '''', '''''') || '''')::tsquery AS query
  FROM unnest(to_tsvector('english', %(question)s))
),
hits AS (
  SELECT id, ts_rank('{{0.5, 0, 0, 1}}', tsv, query)
    * ln(1 + (SELECT passages::float8 FROM meta) / count(*) OVER (PARTITION BY lexeme)) AS score
  FROM words JOIN {among} ON tsv @@ query
),
lexical AS (
  SELECT id, row_number() OVER (ORDER BY sum(score) DESC, id) AS rank FROM hits
  GROUP BY id ORDER BY rank LIMIT %(depth)s
),
nearest AS (
  SELECT id, embedding <=> %(vector)s::vector AS distance FROM {among}
  WHERE (SELECT embedder FROM meta) = %(embedder)s ORDER BY embedding <=> %(vector)s::vector LIMIT %(depth)s
),
semantic AS (
  SELECT id, row_number() OVER (ORDER BY distance, id) AS rank FROM nearest WHERE distance < 'NaN'
),
fused AS (
  SELECT id, sum(1.0 / (%(constant)s + rank))::float8 AS score
  FROM (SELECT * FROM lexical UNION ALL SELECT * FROM semantic) AS ranked
  GROUP BY id ORDER BY score DESC, id LIMIT %(k)s
)
SELECT meta.embedder, id, body, title, url, start, file, {table}.meta, to_json({table}) -> 'places', score
FROM meta LEFT JOIN (fused JOIN {table} USING (id)) ON true ORDER BY score DESC, id
"""

_COLUMNS = """
id text COLLATE "C" PRIMARY KEY, title text NOT NULL, body text NOT NULL, url text, start int NOT NULL,
embedding vector({dimensions}) NOT NULL, file text, meta json, places json
"""

# Set apart first, so that no approximate index is asked: it would find the nearest of all, and leave few that match.
_ALLOWED = "allowed AS MATERIALIZED (SELECT * FROM {table} WHERE {conditions}),"
_CONDITIONS: Mapping[str, LiteralString] = {
    "in": "coalesce(meta::jsonb -> {key} = ANY ({value}::jsonb[]), false)",
    "not in": "NOT coalesce(meta::jsonb -> {key} = ANY ({value}::jsonb[]), false)",
    "number": "CASE json_typeof(meta -> {key}) WHEN 'number' THEN (meta ->> {key})::numeric {order} {value}::numeric"
    " ELSE false END",
    "text": "CASE json_typeof(meta -> {key}) WHEN 'string' THEN (meta ->> {key}) COLLATE \"C\" {order} {value}"
    " ELSE false END",
}
"""The conditions of a filter in SQL, as `Condition.holds` has them; jsonb tells the kinds of values apart."""
_ORDERS: Mapping[str, LiteralString] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}

_PREPARE = f"""
CREATE TABLE IF NOT EXISTS {{meta}} (embedder text NOT NULL, dimensions int NOT NULL, passages bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {{table}} ({_COLUMNS}, tsv tsvector NOT NULL GENERATED ALWAYS AS (
  setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', body), 'D')) STORED);
CREATE TEMP TABLE pushed ({_COLUMNS}) ON COMMIT DROP
"""

_HAS_COLUMN = "SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = %s AND NOT attisdropped"
_LATER: Mapping[str, LiteralString] = {
    "file": "ALTER TABLE {table} ADD COLUMN file text",
    "meta": "ALTER TABLE {table} ADD COLUMN meta json",
    "places": "ALTER TABLE {table} ADD COLUMN places json",
}
"""Columns that tables of earlier versions lack."""

_COPY = "COPY pushed (id, title, body, url, start, embedding, file, meta, places) FROM STDIN (FORMAT BINARY)"

_DELETE = "DELETE FROM {table} AS t WHERE NOT EXISTS (SELECT FROM pushed AS p WHERE p.id = t.id)"

_UPDATE = """
UPDATE {table} AS t
SET title = p.title, body = p.body, url = p.url, start = p.start, embedding = p.embedding, file = p.file,
    meta = p.meta, places = p.places
FROM pushed AS p
WHERE p.id = t.id
AND (p.title, p.body, p.url, p.start, p.file, p.meta::text, p.places::text)
    IS DISTINCT FROM (t.title, t.body, t.url, t.start, t.file, t.meta::text, t.places::text)
"""

_INSERT = """
INSERT INTO {table} (id, title, body, url, start, embedding, file, meta, places)
SELECT id, title, body, url, start, embedding, file, meta, places FROM pushed AS p
WHERE NOT EXISTS (SELECT FROM {table} AS t WHERE t.id = p.id)
"""

_LEXICAL_INDEX = "CREATE INDEX IF NOT EXISTS {lexical} ON {table} USING gin (tsv)"
_VECTOR_INDEX = "CREATE INDEX IF NOT EXISTS {semantic} ON {table} USING hnsw (embedding vector_cosine_ops)"

_REASONS = (
    "Connection refused",
    "No such file or directory",
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "timeout expired",
    "could not translate host name",
    "failed to resolve host",
    "too many clients",
    "the database system is",
    "does not exist",
    "SSL",
)
"""Parts of an error that may be repeated. The rest may quote a password: with an unescaped "@" in it, what follows is
part of the host's name."""


@dataclass(frozen=True, slots=True)
class PushReport:
    """The passages of the table that a push added, changed, deleted and left."""

    added: int
    changed: int
    deleted: int
    unchanged: int

    def __str__(self) -> str:
        return f"Pushed    {self.added} new, {self.changed} changed, {self.unchanged} unchanged, {self.deleted} gone"


class Pgvector:
    """A retriever over a table that `push` filled: full text and vectors, fused in one round trip to PostgreSQL.

    The DSN holds a password, so it is read from the environment variable `dsn_env` and from nowhere else. Each half
    finds `depth` passages: by the question's words (PostgreSQL's English stems; any of them counts, a rare one more)
    and by cosine. A passage scores the sum of 1 / (`constant` + its rank) over the halves that found it. The nearest
    vectors are approximate (HNSW). `timeout` is in seconds, for connecting and for one retrieval. A server beyond a
    unix socket must be one that `network` allows, else NetworkError is raised; None: one without restrictions. Raises
    ConfigError.
    """

    name = "pgvector"

    def __init__(
        self,
        embedder: Embedder,
        dsn_env: str = "SUREFOOT_PG_DSN",
        table: str = "surefoot_passages",
        depth: int = 50,
        constant: int = 60,
        timeout: float = 10.0,
        network: Network | None = None,
    ) -> None:
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,49}", table):
            raise ConfigError(f"no table can be called {table!r}; use up to 50 of a-z, 0-9 and _, the first no digit")
        self.embedder = embedder
        self.dsn_env = dsn_env
        self.table = table
        self.depth = depth
        self.constant = constant
        self.timeout = timeout
        self._network = network or Network()
        self._dsn()
        self._idle: deque[Connection] = deque()
        weakref.finalize(self, _close, self._idle)
        forks.renewing(self)

    def renew(self) -> None:
        """Start with connections of this process."""
        forks.abandon(self._idle)
        self._idle = deque()

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, best first. With a filter the nearest are exact, and every passage that matches is
        read. Raises EndpointError; IndexFault where the table is absent or another embedder's."""
        text = _storable(question)
        embed = getattr(self.embedder, "embed_questions", self.embedder.embed)
        parameters: dict[str, object] = {
            "question": text,
            "vector": "[" + ",".join(map(str, embed([text])[0].tolist())) + "]",
            "embedder": self.embedder.name,
            "depth": self.depth,
            "constant": self.constant,
            "k": k,
        }
        with self._faults():
            rows = self._fetch(self._search(filter), parameters)
        self._check_embedder(rows[0][0] if rows else None)
        return tuple(
            Passage(id, body, title, "corpus", url, start, score, file=file, meta=Meta(meta), places=_places(places))
            for _, id, body, title, url, start, file, meta, places, score in rows
            if id is not None
        )

    def push(self, rows: Iterable[tuple[Passage, Vector]]) -> PushReport:
        """Makes the table hold exactly these passages, in one transaction: who retrieves meanwhile sees the old ones.

        Makes the extension, the tables and the indexes where they are absent. A passage that is there already is not
        written again. Raises EndpointError; IndexFault where the table is another embedder's or two passages share an
        id, and then nothing has changed.
        """
        with self._faults(), self._connect(timeout=0) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [self.table])
            self._extend(connection)
            self._prepare(connection)
            total = _stream(connection, rows)
            deleted, changed, added = (self._execute(connection, each) for each in (_DELETE, _UPDATE, _INSERT))
            self._finish(connection, total)
        return PushReport(added, changed, deleted, unchanged=total - added - changed)

    def _extend(self, connection: Connection) -> None:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege) as error:
            raise EndpointError(
                f"the PostgreSQL server of {self.dsn_env} lacks pgvector ({error.diag.message_primary}); "
                "have its administrator install it and run: CREATE EXTENSION vector"
            ) from error

    def _prepare(self, connection: Connection) -> None:
        self._execute(connection, _PREPARE)
        # Only where one is missing, since it locks readers out until the push has ended.
        for column, statement in _LATER.items():
            if not connection.execute(_HAS_COLUMN, [self.table, column]).fetchone():
                self._execute(connection, statement)
        held = connection.execute(self._sql("SELECT embedder FROM {meta}")).fetchone()
        if held:
            self._check_embedder(held[0])

    def _finish(self, connection: Connection, total: int) -> None:
        self._execute(connection, "DELETE FROM {meta}")
        row = [self.embedder.name, self.embedder.dimensions, total]
        connection.execute(self._sql("INSERT INTO {meta} (embedder, dimensions, passages) VALUES (%s, %s, %s)"), row)
        self._execute(connection, _LEXICAL_INDEX)
        if self.embedder.dimensions <= _MOST_INDEXED:
            self._execute(connection, _VECTOR_INDEX)
        self._execute(connection, "ANALYZE {table}")

    def _check_embedder(self, held: str | None) -> None:
        if held is None:
            raise IndexFault(f"the PostgreSQL table {self.table} is empty; push an index to it first")
        if held != self.embedder.name:
            raise IndexFault(
                f"the PostgreSQL table {self.table} holds vectors of {held!r}, not of {self.embedder.name!r}; "
                "configure that embedder, or push to a table of another name"
            )

    def _search(self, filter: Filter) -> sql.Composed:
        """The statement that retrieves what the filter lets through."""
        table = sql.Identifier(self.table)
        conditions = sql.SQL(" AND ").join(map(_condition, filter.conditions))
        allowed = sql.SQL(_ALLOWED).format(table=table, conditions=conditions) if filter else sql.SQL("")
        among = sql.SQL("allowed") if filter else table
        meta = sql.Identifier(f"{self.table}_meta")
        return sql.SQL(_RETRIEVE).format(table=table, meta=meta, allowed=allowed, among=among)

    def _fetch(self, search: sql.Composed, parameters: dict[str, object]) -> list[tuple[Any, ...]]:
        """The rows, over an idle connection where there is a living one: the server may have restarted meanwhile."""
        while (connection := self._idle_connection()) is not None:
            try:
                return self._fetch_over(connection, search, parameters)
            except psycopg.OperationalError:
                if not connection.closed:
                    raise
        return self._fetch_over(self._connect(self.timeout), search, parameters)

    def _fetch_over(
        self, connection: Connection, search: sql.Composed, parameters: dict[str, object]
    ) -> list[tuple[Any, ...]]:
        try:
            return connection.execute(search, parameters).fetchall()
        finally:
            if not connection.closed:
                self._idle.append(connection)

    def _idle_connection(self) -> Connection | None:
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _connect(self, timeout: float) -> Connection:
        """A connection that gives a statement `timeout` seconds, 0 meaning as long as it takes."""
        for host, port in _servers(self._dsn()):
            self._network.require(host, port)
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
            fault = (
                "not a connection string; write postgresql://user:password@host:5432/database, escaping the password"
            )
            raise ConfigError(f"the environment variable {self.dsn_env} is {fault}") from None
        except psycopg.Error as error:
            reason = next((known for known in _REASONS if known in str(error)), "no connection")
            raise EndpointError(f"the PostgreSQL server of {self.dsn_env} cannot be reached: {reason}") from None
        connection.execute(_SETTINGS, [str(math.ceil(timeout * 1000)), str(min(2 * self.depth, 1000))])
        return connection

    def _dsn(self) -> str:
        if dsn := os.environ.get(self.dsn_env):
            return dsn
        raise ConfigError(
            f"the environment variable {self.dsn_env} is not set; "
            "set it to postgresql://user:password@host:5432/database"
        )

    def _sql(self, statement: LiteralString) -> sql.Composed:
        return sql.SQL(statement).format(
            table=sql.Identifier(self.table),
            meta=sql.Identifier(f"{self.table}_meta"),
            lexical=sql.Identifier(f"{self.table}_tsv"),
            semantic=sql.Identifier(f"{self.table}_embedding"),
            dimensions=sql.Literal(self.embedder.dimensions),
        )

    def _execute(self, connection: Connection, statement: LiteralString) -> int:
        return connection.execute(self._sql(statement)).rowcount

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except (errors.UndefinedTable, errors.UndefinedColumn) as error:
            raise IndexFault(
                f"PostgreSQL has no table {self.table} of Surefoot's ({error.diag.message_primary}); "
                "push an index to it first"
            ) from error
        except errors.UniqueViolation as error:
            raise IndexFault(f"two of the passages share an id: {error.diag.message_detail}") from error
        except errors.QueryCanceled as error:
            raise EndpointError(f"PostgreSQL gave no answer within {self.timeout:g} s; raise the timeout") from error
        except psycopg.Error as error:
            reason = error.diag.message_primary or "the connection was lost"
            raise EndpointError(f"the PostgreSQL server of {self.dsn_env} failed: {reason}") from error


def _servers(dsn: str) -> list[tuple[str, int]]:
    """The hosts and ports that libpq will try, after its environment variables; a unix socket is none."""
    try:
        given = pq.Conninfo.parse(dsn.encode())
    except psycopg.OperationalError:  # connecting says what is wrong with it
        return []
    found = {each.keyword: each.val for each in (*pq.Conninfo.get_defaults(), *given) if each.val}
    host, hostaddr, port, service = (
        found.get(key, b"").decode(errors="replace") for key in (b"host", b"hostaddr", b"port", b"service")
    )
    if service:
        return [(f"the PostgreSQL service {service}", 5432)]
    hosts, ports = (host or hostaddr).split(","), port.split(",")
    everywhere = ports * len(hosts) if len(ports) == 1 else ports
    numbers = [
        int(port) if port.isdigit() else 5432 for port in everywhere
    ]  # of another, connecting says what is wrong
    return [(host, port) for host, port in zip(hosts, numbers, strict=False) if host[:1] not in "/@"]


def _condition(condition: Condition) -> sql.Composed:
    """A condition of a filter; its key and values are literals, which psycopg quotes."""
    first = condition.values[0] if condition.values else None
    kind = condition.operator if condition.operator not in _ORDERS else "text" if isinstance(first, str) else "number"
    listed = [json.dumps(value) for value in condition.values]
    value = first if kind == "text" else repr(first) if kind == "number" else listed
    order = sql.SQL(_ORDERS.get(condition.operator, ""))
    return sql.SQL(_CONDITIONS[kind]).format(key=sql.Literal(condition.key), value=sql.Literal(value), order=order)


def _stream(connection: Connection, rows: Iterable[tuple[Passage, Vector]]) -> int:
    """Copies the rows into the table `pushed`; their number."""
    cursor = connection.cursor()
    with cursor.copy(_COPY) as copy:
        copy.set_types(["text", "text", "text", "text", "int4", "bytea", "text", "json", "json"])
        for passage, vector in rows:
            url, file = (None if each is None else _storable(each) for each in (passage.url, passage.file))
            texts = (_storable(passage.id), _storable(passage.title), _storable(passage.text), url)
            places = [(at, _storable(place)) for at, place in passage.places]
            copy.write_row((*texts, passage.start, _binary(vector), file, Json(dict(passage.meta)), Json(places)))
    return cursor.rowcount


def _places(held: Any) -> tuple[tuple[int, str], ...]:
    try:
        return from_json(tuple[tuple[int, str], ...], held or [])
    except TraceFault as error:
        raise IndexFault(
            f"the places of a passage in PostgreSQL are damaged ({error}); push the index again"
        ) from error


def _binary(vector: Vector) -> bytes:
    """The vector as pgvector receives it: the number of dimensions, two bytes of nothing, floats; big-endian."""
    floats = np.asarray(vector, dtype=">f4")
    return struct.pack(">hh", floats.size, 0) + floats.tobytes()


def _storable(text: str) -> str:
    """The text, as long as before, without what PostgreSQL cannot hold: NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _close(idle: deque[Connection]) -> None:
    while idle:
        idle.pop().close()
