"""A store in Lance: a folder, or a bucket of S3, that any number of machines search and write to without a server."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlsplit

import lancedb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from lancedb.index import FTS, BTree, IvfSq
from lancedb.query import MatchQuery
from lancedb.table import Table

from surefoot.index.connection import checked_name
from surefoot.network import Network
from surefoot.network.credentials import key, s3_endpoint
from surefoot.run.store import from_json, to_json
from surefoot.text.words import encodable
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, EndpointError, IndexFault, TraceFault, on_one_line
from surefoot.types.metadata import NO_FILTER, FieldCondition, Filter
from surefoot.types.protocols import Embedder, StoreRow, embedded_questions

_INDEXED_FROM = 20_000
"""Passages from which vectors have an index; fewer are compared one by one."""
_PROBES, _REFINED = 20, 2
"""Of the index of vectors: parts that are searched, and how many times as many as wanted are compared in full."""
_LATE, _FILES = 200, 40
"""Passages that no index holds, which each search reads, and files, from which they are joined with the others."""
_PARTS = 8
"""Parts of an index, of which each push adds one, from which they are merged."""
_OLD = timedelta(minutes=10)
"""Age from which the files of earlier versions are removed; whoever searches meanwhile reads no older ones."""
_EXACT = 2**53
"""Whole numbers up to here are compared as floating-point ones, which they equal."""
_LASTING = "NoSuchBucket AccessDenied Forbidden InvalidAccessKeyId SignatureDoesNotMatch".split()
_PASSING = "refused|timed out|dns|reset|SlowDown|ServiceUnavailable|InternalError|conflict".split("|")
"""Parts of an error of S3 that may be repeated; the rest may quote a key."""


@dataclass(eq=False)
class Lance:
    """A store in Lance, in a folder or a bucket: full text (BM25) and vectors, fused by rank.

    `uri` is a folder, or `s3://bucket/folder`, whose keys, region and AWS_ENDPOINT_URL are read from the environment
    alone. Each half finds `depth` passages: by any of the question's words (English stems), and by cosine, in many by
    an approximate index. A passage scores the sum of 1 / (`constant` + its rank) over the halves that found it. The
    engine runs in this process, and each search sees what was written last. Raises ConfigError, and NetworkError for
    an endpoint that `network` does not allow.
    """

    name: ClassVar[str] = "lance"
    embedder: Embedder
    uri: str = ".surefoot/lance"
    table: str = "surefoot_passages"
    depth: int = 50
    constant: int = 60
    network: Network = field(default_factory=Network)

    def __post_init__(self) -> None:
        checked_name(self.table)
        self._remote = "://" in self.uri
        self._made: Table | None = None
        if self._remote and urlsplit(self.uri).scheme != "s3":
            raise ConfigError(f"a store in Lance lies in a folder or in s3://bucket/folder, not in {self.uri!r}")

    def retrieve(self, question: str, k: int, filter: Filter = NO_FILTER) -> tuple[Passage, ...]:
        """At most `k` passages, best first; with a filter, the best of those that match. Raises EndpointError;
        IndexFault where there is no table, or one of another embedder."""
        where = " AND ".join(map(_condition, filter.conditions))
        vector = embedded_questions(self.embedder, [question])[0]
        with self._faults():
            table = self._table()
            words = table.search(MatchQuery(encodable(question), "words"), query_type="fts")
            near = self._near(table, vector) if vector.any() else None
            scores = defaultdict[str, float](float)
            for query, column, sign in ((words, "_score", -1), (near, "_distance", 1)):
                found = _rows(query, where, ["id", column], self.depth) if query else []
                ranked = sorted((sign * row[column], row["id"]) for row in found)
                for rank, (_, id) in enumerate(ranked, start=1):
                    scores[id] += 1 / (self.constant + rank)
            best = sorted(scores, key=lambda id: (-scores[id], id))[: max(k, 0)]
            held = {
                row["id"]: row for row in _rows(table.search(), _among(best), ["id", "words", "passage"], len(best))
            }
        return tuple(replace(_passage(held[id]), score=scores[id]) for id in best if id in held)

    def nearest(self, question: str, k: int) -> tuple[str, ...]:
        """The ids of the `k` passages nearest by vector, as the index finds them. Raises as `retrieve` does."""
        with self._faults():
            near = self._near(self._table(), embedded_questions(self.embedder, [question])[0])
            return tuple(row["id"] for row in _rows(near, "", ["id", "_distance"], k))

    def hashes(self) -> Mapping[str, str]:
        """The hash of each passage in the table, by its id; none where there is no table. Raises EndpointError;
        IndexFault where the table is another embedder's."""
        with self._faults():
            if self._opened() is None:
                return {}
            held = self._table().search().select(["id", "hash"]).to_arrow()
            return dict(zip(held["id"].to_pylist(), held["hash"].to_pylist(), strict=True))

    def upsert(self, rows: Sequence[StoreRow]) -> None:
        """Write those of the passages that the table does not hold with the same hash, in one commit; the first makes
        the table. Raises EndpointError; IndexFault where the table is another embedder's."""
        columns = [
            pa.array([row.passage.id for row in rows], pa.string()),
            pa.array([row.hash for row in rows], pa.string()),
            pa.array([encodable(f"{row.passage.title}\n{row.passage.text}") for row in rows], pa.string()),
            pa.array([json.dumps(to_json(replace(row.passage, text=""))) for row in rows], pa.json_()),
            pa.FixedSizeListArray.from_arrays(np.concatenate([row.vector for row in rows]), self.embedder.dimensions),
        ]
        with self._faults():
            table = self._opened() or self._create()
            self._check_embedder(table)
            # Lance 7 panics where it replaces a row with a JSON column by way of an index.
            merge = (
                table.merge_insert("id").use_index(False).when_matched_update_all(where="target.hash <> source.hash")
            )
            merge.when_not_matched_insert_all().execute(pa.table(columns, schema=self._schema))

    def delete(self, ids: Collection[str]) -> None:
        """Take these passages out. Raises EndpointError; IndexFault where there is no table."""
        with self._faults():
            self._table().delete(_among(ids))

    def finish(self) -> None:
        """Make the indexes where they are absent; once much came since, add it to them and join small files. Raises
        EndpointError; IndexFault where there is no table."""
        with self._faults():
            table = self._table()
            made = {column: index for index in table.list_indices() for column in index.columns}
            wanted = {"id": BTree(), "words": FTS()}
            if table.count_rows() >= _INDEXED_FROM:
                wanted["vector"] = IvfSq(distance_type="cosine")
            late = max((index.num_unindexed_rows for index in made.values()), default=0)
            if late > _LATE:  # LanceDB's own `optimize` writes the whole index of words anew
                parts, data = _parts(table), table.to_lance()
                data.optimize.optimize_indices(num_indices_to_merge=parts if parts >= _PARTS else 0)
                data.cleanup_old_versions(_OLD)
            if table.stats()["fragment_stats"]["num_fragments"] > _FILES:
                table.optimize(cleanup_older_than=_OLD)
            for column, config in wanted.items():
                if column not in made:
                    table.create_index(column, config=config, replace=False)

    @cached_property
    def _schema(self) -> pa.Schema:
        # By its key Lance sees that two processes insert one passage at once, and lets the later one try again.
        primary = {"lance-schema:unenforced-primary-key": "true"}
        vector = pa.list_(pa.float32(), self.embedder.dimensions)
        id = pa.field("id", pa.string(), nullable=False, metadata=primary)
        others = [("hash", pa.string()), ("words", pa.string()), ("passage", pa.json_()), ("vector", vector)]
        return pa.schema([id, *others], metadata={"embedder": self.embedder.name})

    @cached_property
    def _database(self) -> lancedb.DBConnection:
        options = {}
        if self._remote:
            host, endpoint = s3_endpoint()
            self.network.require(host)
            key(self.uri, "AWS_ACCESS_KEY_ID")  # else keys are looked for on the cloud's own machines
            if endpoint:
                options = {"aws_endpoint": endpoint, "allow_http": str(endpoint.startswith("http:")).lower()}
        return lancedb.connect(self.uri, storage_options=options, read_consistency_interval=timedelta(0))

    def _opened(self) -> Table | None:
        """The table; None: there is none yet."""
        if self._made is None and self.table in self._database.list_tables(limit=None).tables:
            self._made = self._database.open_table(self.table)
        return self._made

    def _create(self) -> Table:
        try:
            self._made = self._database.create_table(self.table, schema=self._schema)
        except ValueError as error:
            if "already exists" not in str(error):
                raise
            self._made = self._database.open_table(self.table)  # another process was first
        return self._made

    def _table(self) -> Table:
        table = self._opened()
        if table is None:
            raise IndexFault(f"{self.uri} has no table {self.table}; push an index to it first")
        self._check_embedder(table)
        return table

    def _check_embedder(self, table: Table) -> None:
        held = (table.schema.metadata or {}).get(b"embedder", b"").decode()
        if held != self.embedder.name:
            raise IndexFault(
                f"the table {self.table} in {self.uri} holds vectors of {held!r}, not of {self.embedder.name!r}; "
                "configure that embedder, or push to a table of another name"
            )

    def _near(self, table: Table, vector: npt.NDArray[np.float32]) -> Any:
        return table.search(vector).distance_type("cosine").nprobes(_PROBES).refine_factor(_REFINED)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Lance has no errors of its own: what fails is a ValueError, a RuntimeError or an OSError."""
        try:
            yield
        except (ValueError, RuntimeError, OSError) as error:
            text = str(error)
            known = next((reason for reason in (*_LASTING, *_PASSING) if reason in text), type(error).__name__)
            failed = EndpointError(f"the store {self.uri} failed: {known if self._remote else on_one_line(text)}")
            failed.lasting = known in _LASTING
            raise failed from (None if self._remote else error)


def _rows(query: Any, where: str, columns: Sequence[str], most: int) -> list[dict[str, Any]]:
    """What a query finds among the rows that a condition allows, applied before it searches."""
    query = query.where(where, prefilter=True) if where else query
    found: list[dict[str, Any]] = query.select([*columns]).limit(most).to_list() if most > 0 else []
    return found


def _parts(table: Table) -> int:
    """The parts of the index that has most."""
    return max(table.index_stats(index.name).num_indices or 1 for index in table.list_indices())


def _among(ids: Collection[str]) -> str:
    return f"id IN ({', '.join(map(_quoted, ids))})"


def _quoted(text: str) -> str:
    """The text as SQL writes it; nothing but a quote ends it."""
    return "'" + text.replace("'", "''") + "'"


def _condition(condition: FieldCondition) -> str:
    """A condition of a filter in SQL, as `FieldCondition.holds` has it: texts, numbers and truth values are told apart
    by how JSON spells them."""
    place = _quoted("$.meta." + json.dumps(condition.key, ensure_ascii=False))
    value = f"json_extract(passage, {place})"
    text = f"json_get_string(json_get(passage, 'meta'), {_quoted(condition.key)})"
    tests = [_test(value, text, condition.operator, wanted) for wanted in condition.values]
    test = f"coalesce({' OR '.join(tests) or 'false'}, false)"
    return f"NOT {test}" if condition.operator == "not in" else test


def _test(value: str, text: str, operator: str, wanted: object) -> str:
    order = "=" if operator in ("in", "not in") else operator
    if isinstance(wanted, bool):
        return f"{value} = '{json.dumps(wanted)}'"
    if isinstance(wanted, str):
        return f"({value} LIKE '\"%' AND {text} {order} {_quoted(wanted)})"
    kind = "bigint" if isinstance(wanted, int) and abs(wanted) > _EXACT else "double"
    return f"TRY_CAST({value} AS {kind}) {order} CAST('{wanted!r}' AS {kind})"


def _passage(row: Mapping[str, Any]) -> Passage:
    try:
        passage = from_json(Passage, json.loads(row["passage"]))
    except (TraceFault, ValueError) as error:
        raise IndexFault(f"a passage in Lance is damaged ({error}); push the index to another table") from error
    return replace(passage, text=row["words"][len(passage.title) + 1 :])
