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
from pathlib import Path

import numpy as np

from surefoot.embedders.minilm import MiniLM
from surefoot.embedders.static import Static
from surefoot.protocols import Embedder, Matrix
from surefoot.words import STOP_WORDS

DEPTH = 50
"""Passages that each side brings to the fusion."""
CUTS = (1, 5, 10)
WEIGHTS = (1.0, 0.5, 0.25)
"""Of the dense side in the fusion; BM25's is 1."""
TIMED = 200
"""Passages that the transformer's speed is measured on; the static embedding's is measured on all."""

Ranking = list[int]
Question = tuple[str, set[int]]
Rankings = dict[str, list[Ranking]]
Sets = dict[str, list[Question]]


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

    def search(self, question: str) -> Ranking:
        words = re.findall(r"\w+", question.lower())
        match = " OR ".join(f'"{w}"' for w in [w for w in words if w not in STOP_WORDS] or words)
        query = "select rowid from f where f match ? order by bm25(f, 2, 1), rowid limit ?"
        return [row[0] for row in self.db.execute(query, (match, DEPTH))]


def dense(questions: Matrix, passages: Matrix) -> list[Ranking]:
    return [np.argsort(-(passages @ q), kind="stable")[:DEPTH].tolist() for q in questions]


def fused(one: Ranking, other: Ranking, weight: float, k: int = 60) -> Ranking:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""
    score: dict[int, float] = {}
    for share, ranking in ((1.0, one), (weight, other)):
        for rank, passage in enumerate(ranking, start=1):
            score[passage] = score.get(passage, 0.0) + share / (k + rank)
    return sorted(score, key=lambda p: (-score[p], p))


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


def compare(
    embedder: Embedder, texts: list[str], sample: int, sets: Sets, lexical: Rankings, cache: Path | None
) -> None:
    """The embedder's own row, and one for each weight in the fusion with BM25."""
    per_second = speed(embedder, texts[:sample])
    vectors = passage_vectors(embedder, texts, cache)
    ranked = {name: dense(embedder.embed([q for q, _ in asked]), vectors) for name, asked in sets.items()}
    print(row(embedder.name, f"{per_second:.0f}", [recall(ranked[n], asked) for n, asked in sets.items()]), flush=True)
    for weight in WEIGHTS:
        both = {n: [fused(a, b, weight) for a, b in zip(lexical[n], ranked[n], strict=True)] for n in sets}
        print(row(f"BM25 + {weight:g} × it", "", [recall(both[n], asked) for n, asked in sets.items()]), flush=True)


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
    print(row("BM25", "", [recall(lexical[name], asked) for name, asked in sets.items()]), flush=True)
    compare(Static(), texts, len(texts), sets, lexical, given.cache)
    compare(MiniLM(), texts, TIMED, sets, lexical, given.cache)


if __name__ == "__main__":
    main()
