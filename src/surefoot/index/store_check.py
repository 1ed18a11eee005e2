"""How well a store agrees with the index that was pushed to it: whether it holds the same, and finds the same."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from statistics import fmean

import numpy as np

from surefoot.index.push import patiently
from surefoot.index.search import Index
from surefoot.types import Passage
from surefoot.types.protocols import Embedder, Store, embedded_questions

_ROUNDING = 1e-3
"""Cosines that differ by no more are as near: the index has vectors in half precision, and documents have copies."""
_LONGEST = 200  # characters of a question that is made of a passage
_BLOCK = 8_192  # passages compared at a time


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """What a store holds of an index, and what it finds of what the index finds."""

    equal: int
    """Passages that both hold alike; then those that the store lacks, holds beside, or holds otherwise."""
    missing: int
    surplus: int
    changed: int
    questions: int
    nearest: float | None
    """Mean share of a question's k nearest by vector, compared one by one, that the store finds by its index of
    vectors, in [0, 1]; None: no question."""
    fused: float | None
    """Mean share of the k passages which the index finds by words and vectors that the store finds too; another engine
    orders words in its own way. None: no question."""

    @property
    def same(self) -> bool:
        """Say whether both hold the same passages."""
        return not (self.missing or self.surplus or self.changed)


def check(
    store: Store,
    index: Index,
    embedder: Embedder,
    retrieve: Callable[[str, int], tuple[Passage, ...]],
    questions: Sequence[str],
    k: int = 10,
) -> StoreCheck:
    """Compare a store with an index, of which every passage is read; `retrieve` finds in the index by words and
    vectors. Costs three embeddings of each question. Raises EndpointError and IndexFault."""
    held = dict(patiently(store.hashes))
    total, missing, changed = len(held), 0, 0
    found = [patiently(partial(store.nearest, question, k)) for question in questions]
    columns = {id: n for n, id in enumerate({id for ids in found for id in ids})}
    vectors = embedded_questions(embedder, questions)
    best, scores = np.zeros((len(questions), 0)), np.full((len(questions), len(columns)), -np.inf)
    rows = index.rows()
    while block := [*islice(rows, _BLOCK)]:
        cosines = vectors @ np.array([row.vector for row in block]).T
        best = np.sort(np.concatenate([best, cosines], axis=1))[:, -k:]
        for cosine, (passage, hash, _) in zip(cosines.T, block, strict=True):
            before = held.pop(passage.id, None)
            missing += before is None
            changed += before not in (None, hash)
            if passage.id in columns:
                scores[:, columns[passage.id]] = cosine
    near = [
        sum(scores[n, columns[id]] >= best[n, 0] - _ROUNDING for id in ids) / best.shape[1]
        for n, ids in enumerate(found)
        if best.size
    ]
    both = [(_ids(retrieve(one, k)), _ids(patiently(partial(store.retrieve, one, k)))) for one in questions]
    fused = [len(ours & theirs) / len(ours) for ours, theirs in both if ours]
    equal = total - len(held) - changed
    return StoreCheck(equal, missing, len(held), changed, len(questions), _mean(near), _mean(fused))


def sampled(index: Index, count: int) -> list[str]:
    """So many questions, or fewer: the title, or else the first line, of passages from all over the index."""
    apart = max(1, index.info().passages // max(count, 1))
    texts = (_question(row.passage) for row in islice(index.rows(), 0, None, apart))
    return [*islice(dict.fromkeys(filter(None, texts)), count)]


def _question(passage: Passage) -> str:
    return (passage.title or passage.text.partition("\n")[0])[:_LONGEST].strip()


def _ids(passages: Sequence[Passage]) -> set[str]:
    return {passage.id for passage in passages}


def _mean(shares: Sequence[float]) -> float | None:
    return float(fmean(shares)) if shares else None
