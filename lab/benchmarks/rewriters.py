"""Does rewriting by a model find more than the template rewriter? Both ask the same index, as a search outside would.

    python benchmarks/rewriters.py QUESTIONS.jsonl [--number 20] [--rewriter templates llm] [--seed 1]

Lines have id, question, and passages with id, title, text and label; the passages of all questions are the corpus.
Asked are questions with a passage labelled 1, drawn by the seed. A rewriter sees what the bare question found, as it
does when that did not help. Counted is how often such a passage is the first, and among the first five, of a
rewriter's first query, and among the first five of any of its queries. A rewriter with other words for the retriever
than for the web has a second row for these. The difference to the first rewriter has a 95 % interval (bootstrap over
questions, the same draws for both). The language model is the one that ships.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.llms.local import Local
from surefoot.retrievers.bm25 import Bm25
from surefoot.rewriters.keywords import Keywords
from surefoot.rewriters.llm import LLMRewriter
from surefoot.rewriters.templates import Templates
from surefoot.rewriters.verbatim import Verbatim
from surefoot.run.meter import metered
from surefoot.types import Passage
from surefoot.types.protocols import Rewriter

K = 5
DRAWS = 2000
REWRITERS: dict[str, Callable[[Local], Rewriter]] = {
    "templates": lambda model: Templates(),
    "verbatim": lambda model: Verbatim(),
    "llm": LLMRewriter,
    "keywords": Keywords,
}


def lines(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def asked(path: Path, most: int, seed: int) -> list[tuple[str, set[str]]]:
    """(question, ids of its passages that hold the answer), of those with one."""
    rows = [(q["question"], {p["id"] for p in q["passages"] if p["label"] == 1}) for q in lines(path)]
    there = [row for row in rows if row[1]]
    chosen = np.random.default_rng(seed).permutation(len(there))[:most]
    return [there[n] for n in chosen]


def own(passage: Passage) -> str:
    """The id that the corpus gave it."""
    return passage.id.partition(":")[2] or passage.id


def found(index: Bm25, queries: Sequence[str], golds: set[str]) -> tuple[bool, bool, bool]:
    """Whether a gold passage is first of the first query, among its first K, and among the first K of any query."""
    hits = [[own(passage) in golds for passage in index.retrieve(query, K)] for query in queries]
    return hits[0][:1] == [True], any(hits[0]), any(map(any, hits))


def measured(
    rewriter: Rewriter, index: Bm25, questions: list[tuple[str, set[str]]]
) -> Iterator[tuple[np.ndarray, str]]:
    """Of the queries for the web, and of those for the retriever where these are others: what was found, and cost."""
    web, own, fallbacks, many, started = [], [], 0, 0, time.perf_counter()
    for question, golds in questions:
        with metered() as spent:
            said = rewriter.rewrite(question, index.retrieve(question, K))
        fallbacks, many = fallbacks + bool(spent.degraded), many + len(said)
        web.append(found(index, [one if isinstance(one, str) else one.query for one in said], golds))
        own.append(found(index, [one if isinstance(one, str) else one.question or one.query for one in said], golds))
    each = (time.perf_counter() - started) / len(questions)
    for rows in [web] if own == web else [web, own]:
        yield np.array(rows, float), f"{many / len(questions):.1f} | {fallbacks} | {each:.2f}"


def shown(rows: np.ndarray, base: np.ndarray) -> str:
    picks = np.random.default_rng(0).integers(0, len(rows), (DRAWS, len(rows)))
    cells = []
    for column in range(rows.shape[1]):
        gain = (rows - base)[:, column]
        low, high = np.quantile(gain[picks].mean(axis=1), (0.025, 0.975))
        cells.append(f"{rows[:, column].mean():.1%} ({gain.mean():+.1%} [{low:+.1%}, {high:+.1%}])")
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--number", type=int, default=20, help="questions that are asked")
    parser.add_argument("--rewriter", nargs="+", choices=[*REWRITERS], default=[*REWRITERS], metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    questions = asked(given.questions, given.number, given.seed)
    model = Local()
    print(f"{len(questions)} questions; difference to {given.rewriter[0]} in brackets\n")
    print(f"| rewriter | first query, first | first query, of {K} | all queries, of {K} | ", end="")
    print("queries | fell back | s a question |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        passages = {p["id"]: p for row in lines(given.questions) for p in row["passages"]}
        corpus, path = Path(folder) / "corpus.jsonl", Path(folder) / "index.db"
        rows = ({name: p[name] for name in ("id", "title", "text")} for p in passages.values())
        corpus.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        build([corpus], path, Hashing())
        index = Bm25(Index.open(path))
        base: np.ndarray | None = None
        for name in given.rewriter:
            for n, (hits, cost) in enumerate(measured(REWRITERS[name](model), index, questions)):
                base = hits if base is None else base
                whose = f"`{name}`, asked of the retriever" if n else f"`{name}`"
                print(f"| {whose} | {shown(hits, base)} | {cost} |", flush=True)


if __name__ == "__main__":
    main()
