"""Feature hashing of words: no model, no download; a public test double that still finds texts that share words."""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from surefoot.types.protocols import Matrix


class Hashing:
    """Each lower-cased word adds ±1 to one of 256 dimensions, picked by its hash (Weinberger et al. 2009)."""

    name = "hashing-256"
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Unit rows, 0 for a text without words; about 0.1 ms a passage."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                place, sign = _feature(word)
                row[place] += sign
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors


@lru_cache(maxsize=100_000)
def _feature(word: str) -> tuple[int, int]:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=2).digest()
    return digest[0], 1 if digest[1] & 1 else -1
