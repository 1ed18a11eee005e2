"""A third-party vector database: `surefoot index … --push` fills it, and its retriever searches it."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from surefoot import Passage
from surefoot.types.errors import IndexFault
from surefoot.types.protocols import Embedder


class Vectors:
    """The nearest passages by cosine, of all that were pushed to a file of NumPy's."""

    def __init__(self, embedder: Embedder, path: str = "vectors.npz") -> None:
        self._embedder = embedder
        self._path = Path(path)

    def push(self, passages: Iterable[tuple[Passage, npt.ArrayLike]]) -> str:
        rows = [(json.dumps([passage.id, passage.text, passage.title]), vector) for passage, vector in passages]
        np.savez(self._path, passages=[row for row, _ in rows], vectors=np.array([vector for _, vector in rows]))
        return f"Pushed    {len(rows)} passages to {self._path}"

    def retrieve(self, question: str, k: int) -> tuple[Passage, ...]:
        if not self._path.exists():
            raise IndexFault(f"{self._path} is not there; run: surefoot index PATH… --push")
        with np.load(self._path) as held:
            scores = held["vectors"] @ self._embedder.embed([question])[0]
            best = np.argsort(-scores, kind="stable")[:k]
            rows = [json.loads(held["passages"][place]) for place in best]
        return tuple(Passage(*row, score=float(scores[place])) for row, place in zip(rows, best, strict=True))
