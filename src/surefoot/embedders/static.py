"""A vector for every word piece, and a text is the sum of its pieces: a laptop embeds thousands of texts a second.

`recipes/static_embedding.py` distilled the pieces' vectors from all-MiniLM-L6-v2; static.md is their model card.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from surefoot.models.wordpiece import wordpiece
from surefoot.text.words import encodable
from surefoot.types.protocols import Matrix

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_CHUNK = 256  # texts cut into pieces at once: bounds the memory that the pieces take


class Static:
    """The shipped static embedding; order of words plays no part, length does not matter.

    About a hundred times as fast as `MiniLM`, and weaker where meaning hangs on more than the words.
    """

    dimensions = 256

    def __init__(self) -> None:
        self._data = files("surefoot.embedders").joinpath("static.npz").read_bytes()
        self.name = f"static-{self.dimensions}-v1-{hashlib.sha256(self._data).hexdigest()[:8]}"

    @cached_property
    def _table(self) -> Matrix:  # unpacked for the first text: an index that has not changed asks for the name alone
        with np.load(BytesIO(self._data), allow_pickle=False) as arrays:
            table: Matrix = arrays["rows"] * arrays["scales"]
        return table

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return wordpiece()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Rows of length 1, row i from text i only; 0 for a text without a known piece."""
        out = np.zeros((len(texts), self.dimensions), np.float32)
        for start in range(0, len(texts), _CHUNK):
            chunk = [*map(encodable, texts[start : start + _CHUNK])]
            pieces = [e.ids for e in self._tokenizer.encode_batch_fast(chunk, add_special_tokens=False)]
            out[start : start + _CHUNK] = pooled(self._table, pieces)
        return unit(out)


def pooled(table: Matrix, pieces: Sequence[Sequence[int]]) -> Matrix:
    """The sum of the table's rows for each list of pieces; 0 for an empty list."""
    out = np.zeros((len(pieces), table.shape[1]), np.float32)
    # Text by text: in one matrix product neighbours would change a row's rounding, and one large gather leaves the
    # processor's cache (four times as slow, measured).
    for row, ids in zip(out, pieces, strict=True):
        table[np.array(ids, np.int64)].sum(axis=0, out=row)
    return out


def unit(rows: Matrix) -> Matrix:
    """The rows at length 1; a row of zeros stays."""
    lengths = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
