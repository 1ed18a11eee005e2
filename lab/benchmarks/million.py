"""How an index of a million passages is searched: how soon, in how much memory, and how much of the exact result.

    python lab/benchmarks/million.py mix TEXTS.jsonl... > CORPUS.jsonl     # [--passages 1000000]
    surefoot index CORPUS.jsonl --index INDEX
    python lab/benchmarks/million.py ask INDEX QUESTIONS.jsonl...          # [--questions 150]
    python lab/benchmarks/million.py answer INDEX QUESTIONS.jsonl...

`mix` takes passages, lines with title and text or questions with passages, as they are, and fills up with passages
of three to six of their sentences at random. `ask` searches by vector, by words and by both, in turn, adds a document
and deletes it, and at last compares with what all products, and all scores, give. `answer` times whole questions.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import surefoot
from surefoot.embedders.static import Static
from surefoot.index import search
from surefoot.index.search import Index
from surefoot.retrievers.bm25 import Bm25
from surefoot.retrievers.dense import Dense
from surefoot.retrievers.hybrid import Hybrid
from surefoot.types import Block, Document
from surefoot.types.protocols import embedded_questions

DEPTH, FIRST, PART = 50, 10, 8_192
COMMON = (
    "what is the use of the first time people were made",
    "which one is the name of the new world",
    "how do you use a file",
)


def lines(paths: Sequence[Path]) -> Iterator[dict]:
    for path in paths:
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def mix(paths: Sequence[Path], count: int) -> None:
    chance, every = random.Random(1), dict[str, str]()
    for line in lines(paths):
        every |= {one["text"]: one.get("title") or "" for one in line.get("passages", [line]) if one.get("text")}
    sentences = [part for text in every for part in re.split(r"(?<=[.!?])\s+", text) if 30 < len(part) < 400]
    own = list(every.items())[:count]
    for text, title in own:
        print(json.dumps({"title": title, "text": text}))
    for _ in range(count - len(own)):
        print(json.dumps({"title": "", "text": " ".join(chance.choices(sentences, k=chance.randint(3, 6)))}))


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 // 1024


def timed(name: str, ask: Callable[[int], Sequence]) -> list[list[str]]:
    """The ids that each question finds; prints how long it took."""
    taken, found = list[float](), list[list[str]]()
    for n in range(len(QUESTIONS)):
        begun = time.perf_counter()
        hits = ask(n)
        taken.append(1000 * (time.perf_counter() - begun))
        found.append([hit.id for hit in hits])
    middle, late = np.percentile(taken, [50, 95])
    print(f"{name}: p50 {middle:.0f} ms, p95 {late:.0f} ms, {max(taken):.0f} at most; {memory()} MB")
    return found


def shared(some: Sequence[Sequence[str]], exact: Sequence[Sequence[str]]) -> str:
    pairs = [(one[:FIRST], all[:FIRST]) for one, all in zip(some, exact, strict=True) if all]
    return f"{np.mean([len({*one} & {*all}) / len(all) for one, all in pairs]):.4f}"


def exact_nearest(index: Index, questions: npt.NDArray[np.float32]) -> list[list[str]]:
    """The ids of the passages whose vectors, some thousands at a time in memory, have the highest products."""
    with index._reading() as db:
        held = index._vectors(db)
        parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[Any]]] = [(held.rowids, held.matrix)]
        if file := held.file:
            parts += [(file.rowids[n : n + PART], file.vectors[n : n + PART]) for n in range(0, len(file.rowids), PART)]
        rows, scores = np.zeros((0, len(questions)), np.int64), np.zeros((0, len(questions)), np.float32)
        for own, matrix in parts:
            scores = np.concatenate([scores, np.round(matrix.astype(np.float32) @ questions.T, 6)])
            rows = np.concatenate([rows, np.broadcast_to(own[:, None], (len(own), len(questions)))])
            first = np.argsort(-scores, axis=0, kind="stable")[:FIRST]
            rows, scores = np.take_along_axis(rows, first, 0), np.take_along_axis(scores, first, 0)
        id_of = "SELECT id FROM passages WHERE rowid = ?"
        return [[db.execute(id_of, (int(row),)).fetchone()[0] for row in own] for own in rows.T]


def ask(place: Path) -> None:
    embedder, index = Static(), Index.open(place)
    vectors = embedded_questions(embedder, QUESTIONS)
    hybrid = Hybrid([Bm25(index), Dense(index, embedder)])
    begun = time.perf_counter()
    hybrid.retrieve(QUESTIONS[0], DEPTH)
    print(f"the first: {time.perf_counter() - begun:.2f} s; {memory()} MB")
    near = timed("by vector", lambda n: index.nearest(vectors[n], DEPTH))
    words = timed("by words", lambda n: index.lexical(QUESTIONS[n], DEPTH))
    timed("by both", lambda n: hybrid.retrieve(QUESTIONS[n], 30))
    for question in COMMON:
        begun = time.perf_counter()
        hybrid.retrieve(question, 30)
        print(f"common words: {1000 * (time.perf_counter() - begun):.0f} ms: {question}")
    taken: tuple[list[float], list[float]] = [], []
    for n, question in enumerate(QUESTIONS[:80]):
        if n % 2:
            index.add([Document(f"{n}", "A change", (Block(f"The change {n} is small."),))], embedder, file="changes")
        begun = time.perf_counter()
        hybrid.retrieve(question, 30)
        taken[n % 2].append(time.perf_counter() - begun)
    index.delete("changes")
    print(f"a question after a change: {np.median(taken[1]) / np.median(taken[0]):.2f} of others (medians of 40)")
    best = exact_nearest(index, vectors)
    with patch.object(search.WordFile, "open", return_value=None):
        exact = [[hit.id for hit in index.lexical(question, DEPTH)] for question in QUESTIONS]
    print(f"of the {FIRST} that an exact search finds: by vector {shared(near, best)}, by words {shared(words, exact)}")


def answer(place: Path) -> None:
    """Half, and 95 of 100, of whole questions and of their steps, in milliseconds."""
    pipeline = surefoot.load({}, index={"path": str(place)})
    steps: dict[str, list[float]] = {"whole": []}
    pairs = list[int]()
    for number, question in enumerate(QUESTIONS):
        begun = time.perf_counter()
        trace = pipeline.run(question)
        if number < 3:  # the model is loaded, and the file of vectors opened
            continue
        steps["whole"].append(time.perf_counter() - begun)
        pairs.append(sum(step.graded for step in trace.steps))
        for step in trace.steps:
            steps.setdefault(step.name, []).append(step.seconds)
    for name, seconds in steps.items():
        middle, late = 1000 * np.percentile(seconds, [50, 95])
        print(f"{name}: p50 {middle:.0f} ms, p95 {late:.0f} ms of {len(seconds)}")
    print(f"pairs graded a question: {np.mean(pairs):.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["mix", "ask", "answer"])
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=150)
    given = parser.parse_args()
    if given.what == "mix":
        mix(given.paths, given.passages)
    else:
        every = sorted({line["question"] for line in lines(given.paths[1:])})
        QUESTIONS = random.Random(7).sample(every, min(given.questions, len(every)))
        {"ask": ask, "answer": answer}[given.what](given.paths[0])
