"""The vectors of a collection in memory, and which of its passages a filter allows."""

import sqlite3

import numpy as np
import numpy.typing as npt

from surefoot.index.connection import Connection
from surefoot.index.contents import packed
from surefoot.types.metadata import FieldCondition
from surefoot.types.protocols import Matrix

_VECTORS = "SELECT passages.rowid, vector FROM passages LEFT JOIN vectors USING (rowid) ORDER BY id"


Numbers = npt.NDArray[np.int64]


def load_vectors(db: Connection, dimensions: int) -> tuple[Numbers, Matrix]:
    """The passages of the collection, by row, and their vectors, in the order of the passages' ids. Raises
    sqlite3.DatabaseError where one is missing or damaged."""
    rows = db.execute(_VECTORS).fetchall()
    if any(not isinstance(vector, bytes) or len(vector) != 2 * dimensions for _, vector in rows):
        raise sqlite3.DatabaseError(f"a vector is missing, or not of {dimensions} numbers")
    rowids = np.fromiter((rowid for rowid, _ in rows), dtype=np.int64, count=len(rows))
    flat = np.frombuffer(b"".join(vector for _, vector in rows), dtype=np.float16)
    entered = db.execute(f"SELECT count(*) FROM main.{db.lexicon}_docsize").fetchone()[0]  # nosec B608 # a name of ours
    if len(rows) != entered or not np.isfinite(flat).all():
        raise sqlite3.DatabaseError("its vectors are not those of its passages")
    matrix = flat.reshape(len(rows), dimensions).astype(np.float32)
    matrix.flags.writeable = False
    return rowids, matrix


def load_owners(db: Connection) -> tuple[Numbers, Numbers]:
    """The passages of the collection and their documents, by row."""
    rows = db.execute("SELECT rowid, document FROM passages").fetchall()
    both = np.array(rows, dtype=np.int64).reshape(len(rows), 2)
    return both[:, 0], both[:, 1]


def fulfilling(db: Connection, condition: FieldCondition, count: int) -> npt.NDArray[np.bool_]:
    """True where the document in each of `count` rows fulfils the condition, as `FieldCondition.holds` has it."""
    values = [packed(value) for value in condition.values]
    if condition.operator in ("in", "not in"):
        test = f"value IN ({', '.join('?' * len(values))})"
    else:
        kind = "typeof(value) = 'text'" if isinstance(values[0], str) else "typeof(value) IN ('integer', 'real')"
        test = f"value {condition.operator} ? AND {kind}"
    query = f"SELECT document FROM fields WHERE key = ? AND {test}"  # nosec B608 # an operator, and words of ours
    rows = db.execute(query, (condition.key, *values)).fetchall()
    found = np.fromiter((document for (document,) in rows), dtype=np.int64, count=len(rows))
    holds = np.zeros(count, dtype=np.bool_)
    holds[found[found < count]] = True
    return ~holds if condition.operator == "not in" else holds


def best(scores: npt.NDArray[np.float32], k: int) -> list[int]:
    """Rows of the `k` highest scores, highest first, equal ones in the order of rows."""
    least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
    enough = np.flatnonzero(scores >= least)
    return [int(n) for n in enough[np.argsort(-scores[enough], kind="stable")][:k]]
