"""The vectors of a collection: a search for the nearest, and which of its passages a filter allows.

What came lately is in memory and compared one by one. Where there is more, most of it lies in a file beside the index
(`surefoot.index.vector_file`), which every process maps and none reads whole.
"""

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from surefoot.index import beside
from surefoot.index.connection import Connection
from surefoot.index.contents import packed
from surefoot.index.vector_file import BY_COLLECTION, BY_ROW, Numbers, VectorFile, numbers, read_vectors
from surefoot.types.metadata import FieldCondition
from surefoot.types.protocols import Matrix


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of a collection at one generation."""

    file: VectorFile | None
    rowids: Numbers
    """The passages that the file does not hold, ascending."""
    documents: Numbers
    """The document of each, by row."""
    matrix: Matrix
    """The vector of each."""
    last: int
    """No passage up to this row has yet to be read."""

    @classmethod
    def load(cls, db: Connection, path: Path, dimensions: int, before: Self | None) -> Self:
        """The vectors as they are now. Of what was loaded before, only what came since is read."""
        place, identity = beside.place(path, db.number, "vectors"), beside.identity(path, db)
        file = VectorFile.open(place, identity, dimensions, before.file if before else None)
        same = before is not None and before.file is file
        top = file.top if file else 0
        by = BY_ROW if file else BY_COLLECTION
        query = f"SELECT rowid, document FROM main.passages {by} WHERE collection = ? AND rowid > ? ORDER BY rowid"  # nosec B608 # words of ours
        rows = numbers(db.execute(query, (db.number, top)))
        old, matrix = np.zeros(0, np.int64), np.zeros((0, dimensions), np.float32)
        last = top
        if before is not None and same:
            stays = np.isin(before.rowids, rows[:, 0], assume_unique=True)
            old, last = before.rowids[stays], before.last
            matrix = before.matrix if stays.all() else before.matrix[stays]
        fresh, vectors = read_vectors(db, dimensions, f"AND passages.rowid > {last} ORDER BY passages.rowid", by)
        rowids = np.concatenate([old, fresh])
        if not np.array_equal(rowids, rows[:, 0]):
            raise sqlite3.DatabaseError("its vectors are not those of its passages")
        matrix = np.concatenate([matrix, vectors]) if len(fresh) else matrix
        return cls(file, rowids, rows[:, 1], matrix, int(rowids[-1]) if len(rowids) else last)

    def nearest(
        self, query: npt.NDArray[np.float32], k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        """The rows of the `k` nearest by cosine with it, nearest first, and all that are as near as the last; a row of
        the file may be of a passage that is gone. `allowed` is true at each row that may be found."""
        scores, rowids = self.matrix @ query, self.rowids
        if allowed is not None:
            scores, rowids = scores[allowed[rowids]], rowids[allowed[rowids]]
        if self.file:
            others, found = self.file.nearest(query, k, allowed)
            rowids, scores = np.concatenate([others, rowids]), np.concatenate([found, scores])
        # Rounded, since for equal rows the last bits of the product depend on their place in the matrix.
        scores = np.round(scores, 6)
        least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
        enough = np.flatnonzero(scores >= least)
        return [(int(rowids[n]), float(scores[n])) for n in enough[np.argsort(-scores[enough], kind="stable")]]

    def in_file(self, row: int) -> bool:
        """Whether a row is of the file, and may be of a passage that is gone."""
        return self.file is not None and row <= self.file.top

    def owners(self) -> tuple[Numbers, Numbers]:
        """The passages and their documents, by row; some of the file may be gone."""
        if not self.file:
            return self.rowids, self.documents
        return np.concatenate([self.file.rowids, self.rowids]), np.concatenate([self.file.documents, self.documents])


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
