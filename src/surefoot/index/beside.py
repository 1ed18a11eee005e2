"""What lies beside a large index: for each collection a file of its vectors and a folder of its words.

Both are made of the index and may be missing: what came since is searched in the index, and what is gone from it is
passed over, which is right as long as no number of a row is given twice (`surefoot.index.intake`).
"""

import shutil
from pathlib import Path
from typing import Any, Literal

from surefoot.index import vector_file, word_file
from surefoot.index.connection import Connection

FROM = 65_536
"""Passages that a file lacks, or holds in vain, from which it is made anew, unless they are less than an eighth."""


def place(index: Path, collection: int, kind: Literal["vectors", "words"]) -> Path:
    """Where the file, or folder, of a collection of this index lies."""
    return index.with_name(f"{index.name}.{kind}-{collection}")


def places(index: Path) -> list[Path]:
    """Those of all collections of this index."""
    return [*index.parent.glob(f"{index.name}.vectors-*"), *index.parent.glob(f"{index.name}.words-*")]


def remove(*places: Path) -> None:
    """Remove files and folders."""
    for each in places:
        shutil.rmtree(each) if each.is_dir() else each.unlink(missing_ok=True)


def identity(index: Path, db: Connection) -> list[Any]:
    """Tells the index that a file was made of from what may take its place, such as a restored or rebuilt one."""
    keys = "SELECT value FROM meta WHERE key IN ('created', 'embedder') ORDER BY key"
    return [index.stat().st_ino, *(value for (value,) in db.execute(keys)), db.collection]


def write(db: Connection, index: Path, dimensions: int) -> None:
    """Make both anew of the connection's collection where they lack, or have in vain, too much. Whoever calls it has
    locked the index. Reads every vector and text; takes a minute for a million."""
    made_of, words, vectors = identity(index, db), place(index, db.number, "words"), place(index, db.number, "vectors")
    before = vector_file.VectorFile.open(vectors, made_of, dimensions, None)
    top, held = (before.top, len(before.rowids)) if before else (0, 0)
    late = f"SELECT count(*) FROM main.passages {vector_file.BY_ROW} WHERE collection = ? AND rowid > ?"
    (passages,) = db.execute("SELECT count(*) FROM passages").fetchone()
    (lacking,) = db.execute(late, (db.number, top)).fetchone()
    gone = held - (passages - lacking)
    if lacking + gone >= max(FROM, passages / 8):
        for each in (words, vectors):
            remove(*each.parent.glob(f".{each.name}.*"))  # what a run that was killed left
        word_file.write(db, words, made_of)
        vector_file.write(db, vectors, made_of, dimensions)
