"""How much does the embedder matter? Recall of BM25, of each embedder and of their fusion, in one run.

    python benchmarks/embedders.py CORPUS.jsonl QUESTIONS.jsonl... [--cache DIR]

Corpus lines have id, title and text; question lines have question and passages with id and label. A question counts
when a passage labelled 1 is in the corpus; recall@k is the share of questions with one of them among the first k.
`--cache` keeps the passages' vectors, since the transformer needs many minutes for them; speed is measured each time.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from surefoot.embedders.minilm import MiniLMEmbedder
from surefoot.embedders.static import Static
from surefoot.text.words import STOP_WORDS
from surefoot.types.protocols import Embedder, Matrix

DEPTH = 50
"""Passages that each side brings to the fusion."""
CUTS = (1, 5, 10)
TIMED = 200
"""Passages that the transformer's speed is measured on; the static embedding's is measured on all."""

Ranking = list[int]
Scored = list[tuple[int, float]]
Question = tuple[str, set[int]]
Sets = dict[str, list[Question]]
Found = dict[str, list[Scored]]


def lines(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def questions(path: Path, position: dict[str, int]) -> list[Question]:
    golds = ((q["question"], {p["id"] for p in q["passages"] if p["label"] == 1}) for q in lines(path))
    return [(q, found) for q, ids in golds if (found := {position[i] for i in ids if i in position})]


class BM25:
    """SQLite's FTS5, stop words dropped, title weight 2."""

    def __init__(self, passages: list[dict]) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(
            "create virtual table f using fts5(title, text, content='', tokenize='unicode61 remove_diacritics 2')"
        )
        rows = ((n, p["title"], p["text"]) for n, p in enumerate(passages))
        self.db.executemany("insert into f(rowid, title, text) values(?, ?, ?)", rows)

    def search(self, question: str) -> Scored:
        words = re.findall(r"\w+", question.lower())
        match = " OR ".join(f'"{w}"' for w in [w for w in words if w not in STOP_WORDS] or words)
        query = "select rowid, -bm25(f, 2, 1) from f where f match ? order by bm25(f, 2, 1), rowid limit ?"
        return self.db.execute(query, (match, DEPTH)).fetchall()


def nearest(questions: Matrix, passages: Matrix) -> list[Scored]:
    found = []
    for question in questions:
        cosines = passages @ question
        best = np.argsort(-cosines, kind="stable")[:DEPTH]
        found.append([(int(p), float(cosines[p])) for p in best])
    return found


def fused(lexical: Scored, dense: Scored, weight: float, k: int) -> Ranking:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
    score: dict[int, float] = {}
    for share, ranking in ((1.0, lexical), (weight, dense)):
        for rank, (passage, _) in enumerate(ranking, start=1):
            score[passage] = score.get(passage, 0.0) + share / (k + rank)
    return sorted(score, key=lambda p: (-score[p], p))


def blended(lexical: Scored, dense: Scored, weight: float) -> Ranking:
    """Sum of scores: BM25's by its best, the cosines from the last found to the best, a passage not found as 0
    (a convex combination: Bruch, Gai and Ingber 2023)."""
    score = {p: (1 - weight) * s / lexical[0][1] for p, s in lexical}
    low, high = dense[-1][1], dense[0][1]
    for passage, cosine in dense:
        score[passage] = score.get(passage, 0.0) + weight * (cosine - low) / (high - low)
    return sorted(score, key=lambda p: (-score[p], p))


FUSIONS = {
    **{f"RRF k={k}, dense weight {w}": partial(fused, weight=w, k=k) for k, w in [(60, 1), (60, 0.5), (10, 0.3)]},
    **{f"scores, dense share {w:g}": partial(blended, weight=w) for w in (0.1, 0.2, 0.3, 0.5)},
}


def recall(rankings: list[Ranking], asked: list[Question]) -> list[float]:
    pairs = [(r, golds) for r, (_, golds) in zip(rankings, asked, strict=True)]
    return [sum(not golds.isdisjoint(r[:k]) for r, golds in pairs) / len(pairs) for k in CUTS]


def passage_vectors(embedder: Embedder, texts: list[str], cache: Path | None) -> Matrix:
    path = cache / f"{embedder.name}.npy" if cache else None
    if path and path.exists():
        return np.load(path)
    vectors = embedder.embed(texts)
    if path:
        np.save(path, vectors)
    return vectors


def speed(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.embed(texts)
    return len(texts) / (time.perf_counter() - started)


def row(method: str, per_second: str, recalls: list[list[float]]) -> str:
    cells = [" / ".join(f"{100 * r:.1f}" for r in each) for each in recalls]
    return f"| {' | '.join([method, per_second, *cells])} |"


def alone(found: Scored) -> Ranking:
    return [passage for passage, _ in found]


def compare(embedder: Embedder, texts: list[str], sample: int, sets: Sets, lexical: Found, cache: Path | None) -> None:
    """The embedder's own row, and one for each fusion with BM25."""
    per_second = speed(embedder, texts[:sample])
    vectors = passage_vectors(embedder, texts, cache)
    found = {name: nearest(embedder.embed([q for q, _ in asked]), vectors) for name, asked in sets.items()}
    rankings = {n: [alone(f) for f in found[n]] for n in sets}
    print(
        row(embedder.name, f"{per_second:.0f}", [recall(rankings[n], asked) for n, asked in sets.items()]), flush=True
    )
    for name, fusion in FUSIONS.items():
        rankings = {n: [fusion(a, b) for a, b in zip(lexical[n], found[n], strict=True)] for n in sets}
        print(row(f"+ BM25, {name}", "", [recall(rankings[n], asked) for n, asked in sets.items()]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path)
    given = parser.parse_args()
    passages = list(lines(given.corpus))
    texts = [f"{p['title']}\n{p['text']}" if p["title"] else p["text"] for p in passages]
    position = {p["id"]: n for n, p in enumerate(passages)}
    sets = {f"{path.parent.name}/{path.stem}": questions(path, position) for path in given.questions}
    print(f"{len(texts)} passages; recall@{' / @'.join(map(str, CUTS))} in %\n")
    print(f"| method | passages/s | {' | '.join(f'{name} ({len(asked)})' for name, asked in sets.items())} |")
    print("|---" * (2 + len(sets)) + "|")
    bm25 = BM25(passages)
    lexical = {name: [bm25.search(q) for q, _ in asked] for name, asked in sets.items()}
    print(row("BM25", "", [recall([alone(f) for f in lexical[n]], asked) for n, asked in sets.items()]), flush=True)
    compare(Static(), texts, len(texts), sets, lexical, given.cache)
    compare(MiniLMEmbedder(), texts, TIMED, sets, lexical, given.cache)


if __name__ == "__main__":
    main()
