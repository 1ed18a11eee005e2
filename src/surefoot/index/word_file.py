"""A folder beside a large index, from which the passages are found that a question's words are likely to match best.

SQLite scores 800,000 passages a second, and a common word stands in that many. tantivy, which makes the folder, finds
the first two hundred without scoring the rest; the index then scores these, so that order and scores are its own. Rows
that the index got since are all scored, and what the folder holds of passages that are gone the index does not find.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import numpy.typing as npt
import tantivy

CANDIDATES, MORE = 200, 4
"""Passages that are scored for a question, or so many for each passage asked for, if that is more. tantivy weighs words
as SQLite does, but for a passage's length, which it rounds, and in which a title counts double."""
_HEAD, _FIELD, _ROW, _WORDS = "head.json", "words", "row", "words"
_MEMORY = 100_000_000  # bytes of new passages that are held before they are written
_TEXTS = "SELECT rowid, title, text FROM passages"


@dataclass(frozen=True, slots=True)
class WordFile:
    """A folder of words, mapped."""

    stamp: tuple[int, int]
    index: tantivy.Index
    top: int
    """The highest row that it holds."""

    @classmethod
    def open(cls, place: Path, identity: list[Any], before: WordFile | None) -> WordFile | None:
        """The folder in this place; None: there is none, or it was made of another index. The one that is open already
        is given back where it is still the same."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            head = place / _HEAD
            status = head.stat()
            stamp = status.st_ino, status.st_mtime_ns
            if before and before.stamp == stamp:
                return before
            content = json.loads(head.read_text())
            if content["of"] == identity:
                index = tantivy.Index.open(str(place))
                index.register_tokenizer(_WORDS, _analyzer())
                index.config_reader("manual")  # another would watch the folder from a thread
                return cls(stamp, index, int(content["top"]))
        return None

    def likely(self, terms: Iterable[str], k: int, share: float) -> npt.NDArray[np.int64]:
        """The rows of the passages that these words are likely to match best; so many that also of a `share` of all
        there are enough."""
        schema, folded = self.index.schema, _analyzer().analyze(" ".join(terms))
        each = [tantivy.Query.term_query(schema, _FIELD, term, "freq") for term in folded]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in each])
        searcher, rows = self.index.searcher(), list[Any]()
        with suppress(ValueError):  # a file of it is damaged; the index has all that is in it
            found = searcher.search(query, int(max(CANDIDATES, MORE * k) / share), count=False)
            rows = searcher.fast_field_values(_ROW, [at for _, at in found.hits])
        return np.array(rows, np.int64)


def write(db: sqlite3.Connection, place: Path, identity: list[Any]) -> None:
    """Make the folder anew of the connection's collection. Takes some 30 s for a million passages."""
    new = place.with_name(f".{place.name}.{token_hex(4)}")
    new.mkdir()
    schema = tantivy.SchemaBuilder().add_text_field(_FIELD, tokenizer_name=_WORDS, index_option="freq")
    index = tantivy.Index(schema.add_unsigned_field(_ROW, fast=True).build(), str(new))
    index.register_tokenizer(_WORDS, _analyzer())
    writer, top = index.writer(_MEMORY, 1), 0
    for row, title, text in db.execute(_TEXTS):
        document = tantivy.Document()
        document.add_text(_FIELD, f"{title}\n{title}\n{text}")
        document.add_unsigned(_ROW, row)
        writer.add_document(document)
        top = max(top, row)
    writer.commit()
    writer.wait_merging_threads()
    (new / _HEAD).write_text(json.dumps({"of": identity, "top": top}))
    shutil.rmtree(place, ignore_errors=True)
    new.rename(place)


def _analyzer() -> tantivy.TextAnalyzer:
    """Takes words apart as SQLite's `unicode61 remove_diacritics 2` does."""
    simple = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    return simple.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build()
