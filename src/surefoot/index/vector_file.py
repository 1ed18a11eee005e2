"""A file beside a large index, from which the vectors of a collection are searched without being loaded.

It holds them as the index does, and of each number its sign, after a rotation that spreads what the vectors tell over
all of them: a million vectors of 256 numbers have 32 MB of signs. The vectors whose signs differ least from the
question's are compared with it in full. Rows that the index got since are searched beside it, and what it holds of
passages that are gone is passed over.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from surefoot.index.connection import Connection
from surefoot.run import store
from surefoot.types.protocols import Matrix

Numbers = npt.NDArray[np.int64]

CANDIDATES, MORE = 10_000, 100
"""Vectors compared in full for a question, or so many for each passage asked for, if that is more: among a million
passages they hold 99 of 100 of the ten that are nearest, and 98 of the fifty."""
_NEVER = np.iinfo(np.uint16).max
_PART = 8_192  # vectors read, or compared by their signs, at a time
_HEAD = 4_096  # bytes of the header
_SAMPLE = 20_000  # vectors of which the mean is taken
_VECTORS = "SELECT passages.rowid, vector FROM main.passages {by} LEFT JOIN vectors USING (rowid) WHERE collection = ?"
BY_ROW, BY_COLLECTION = "NOT INDEXED", "INDEXED BY passages_of_documents"
"""How SQLite finds passages: some of many by their rows, all of a collection by an index that holds no texts."""


@dataclass(frozen=True, slots=True)
class VectorFile:
    """A file of vectors, mapped."""

    stamp: tuple[int, int]
    rowids: Numbers
    """The passages, ascending."""
    documents: Numbers
    rotation: Matrix
    mean: npt.NDArray[np.float32]
    signs: npt.NDArray[np.uint64]
    """A row for each 64 numbers, in which each passage has one of these."""
    vectors: npt.NDArray[np.float16]

    @property
    def top(self) -> int:
        """The highest row."""
        return int(self.rowids[-1])

    @classmethod
    def open(cls, place: Path, identity: list[Any], dimensions: int, before: VectorFile | None) -> VectorFile | None:
        """The file in this place; None: there is none, or it was made of another index. The one that is open already is
        given back where it is still the same."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with place.open("rb") as file:
                status = os.fstat(file.fileno())
                stamp = status.st_ino, status.st_mtime_ns
                if before and before.stamp == stamp:
                    return before
                head = json.loads(file.read(_HEAD))
            count = int(head["passages"])
            if head["of"] == identity and count > 0 and status.st_size == _size(count, dimensions):
                return cls(stamp, *_parts(place, count, dimensions, "r"))
        return None

    def nearest(
        self, query: npt.NDArray[np.float32], k: int, allowed: npt.NDArray[np.bool_] | None
    ) -> tuple[Numbers, npt.NDArray[np.float32]]:
        """The rows of those that are likely the nearest, and their cosines; `allowed` is true at each row that may be
        found."""
        turned = _signs((query - self.mean)[None], self.rotation)[:, 0]
        apart = np.zeros(len(self.rowids), np.uint16)
        for start in range(0, len(apart), _PART):
            for signs, own in zip(self.signs, turned, strict=True):
                apart[start : start + _PART] += np.bitwise_count(signs[start : start + _PART] ^ own)
        if allowed is not None:
            apart[~allowed[self.rowids]] = _NEVER
        size = max(CANDIDATES, MORE * k)
        most = np.partition(apart, size)[size] if size < len(apart) else _NEVER
        near = np.flatnonzero((apart <= most) & (apart < _NEVER))
        return self.rowids[near], np.nan_to_num(self.vectors[near].astype(np.float32) @ query)


def read_vectors(db: Connection, dimensions: int, clause: str, by: str = BY_ROW) -> tuple[Numbers, Matrix]:
    """The passages of the collection that a clause of ours selects, by row, and their vectors, a row each. Raises
    sqlite3.DatabaseError where one is missing or damaged."""
    rows = db.execute(f"{_VECTORS.format(by=by)} {clause}", (db.number,)).fetchall()  # nosec B608 # of constants and numbers
    rowids = np.fromiter((rowid for rowid, _ in rows), dtype=np.int64, count=len(rows))
    return rowids, decoded([vector for _, vector in rows], dimensions)


def decoded(stored: Sequence[Any], dimensions: int) -> Matrix:
    """Vectors as the index stores them, a row each. Raises sqlite3.DatabaseError for one that is missing or damaged."""
    if any(not isinstance(vector, bytes) or len(vector) != 2 * dimensions for vector in stored):
        raise sqlite3.DatabaseError(f"a vector is missing, or not of {dimensions} numbers")
    flat = np.frombuffer(b"".join(stored), dtype=np.float16)
    if not np.isfinite(flat).all():
        raise sqlite3.DatabaseError("a vector is not of numbers")
    return flat.reshape(len(stored), dimensions).astype(np.float32)


def numbers(rows: Iterable[tuple[int, int]]) -> Numbers:
    """Rows of two numbers each, as an array. Raises sqlite3.DatabaseError for what is no number."""
    try:
        return np.fromiter((number for row in rows for number in row), np.int64).reshape(-1, 2)
    except (ValueError, TypeError, OverflowError) as error:
        raise sqlite3.DatabaseError("a passage names no document") from error


def write(db: Connection, place: Path, identity: list[Any], dimensions: int) -> None:
    """Make the file anew of the connection's collection. Takes some 30 s for a million passages."""
    rows = numbers(db.execute("SELECT rowid, document FROM passages ORDER BY rowid"))
    some = rows[:: max(1, len(rows) // _SAMPLE), 0].tolist()
    sample = read_vectors(db, dimensions, f"AND passages.rowid IN ({', '.join(map(str, some))})")[1]
    head = json.dumps({"passages": len(rows), "of": identity}).encode()
    with store.replacing(place) as file:
        file.write(head.ljust(_HEAD))
        file.truncate(_size(len(rows), dimensions))
        file.flush()
        rowids, documents, rotation, mean, signs, vectors = _parts(Path(file.name), len(rows), dimensions, "r+")
        rowids[:], documents[:], mean[:] = rows[:, 0], rows[:, 1], sample.mean(axis=0)
        rotation[:] = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, dimensions)))[0]
        for start in range(0, len(rows), _PART):
            part = slice(start, start + _PART)
            between = f"BETWEEN {rowids[part][0]} AND {rowids[part][-1]}"
            own, matrix = read_vectors(db, dimensions, f"AND passages.rowid {between} ORDER BY passages.rowid")
            if not np.array_equal(own, rowids[part]):
                raise sqlite3.DatabaseError("its vectors are not those of its passages")
            vectors[part] = matrix
            signs[:, part] = _signs(matrix - mean, rotation)


def _signs(vectors: Matrix, rotation: Matrix) -> npt.NDArray[np.uint64]:
    """A row for each 64 numbers, with a column for each vector: whether it is positive, after the rotation."""
    bits = np.packbits(vectors @ rotation > 0, axis=1)
    whole = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), np.uint8)
    whole[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(whole.view(np.uint64).T)


def _shapes(passages: int, dimensions: int) -> list[tuple[type[np.generic], tuple[int, ...]]]:
    words = -(-dimensions // 64)
    square = (dimensions, dimensions)
    every = (passages,)
    return [
        (np.int64, every),
        (np.int64, every),
        (np.float32, square),
        (np.float32, (dimensions,)),
        (np.uint64, (words, passages)),
        (np.float16, (passages, dimensions)),
    ]


def _size(passages: int, dimensions: int) -> int:
    """The size of the file in bytes."""
    shapes = _shapes(passages, dimensions)
    return _HEAD + sum(math.prod(shape) * np.dtype(kind).itemsize for kind, shape in shapes)


def _parts(path: Path, passages: int, dimensions: int, mode: Literal["r", "r+"]) -> list[Any]:
    """The arrays in the file, mapped."""
    whole, at, found = np.asarray(np.memmap(path, np.uint8, mode)), _HEAD, list[Any]()
    for kind, shape in _shapes(passages, dimensions):
        size = math.prod(shape) * np.dtype(kind).itemsize
        found.append(whole[at : at + size].view(kind).reshape(shape))
        at += size
    return found
