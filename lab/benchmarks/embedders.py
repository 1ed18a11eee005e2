"""Recall of BM25, of each embedder, and of their fusion as `hybrid` fuses them.

    python benchmarks/embedders.py CORPUS.jsonl QUESTIONS.jsonl...

Corpus lines have id, title and text; question lines have question and passages with id and label. A question counts
when a passage labelled 1 is in the corpus; recall@k is the share of questions with one of them among the first k.
"""

import argparse
import tempfile
import time
from pathlib import Path

from surefoot.embedders.minilm import MiniLMEmbedder
from surefoot.embedders.static import Static
from surefoot.evaluate.ask.questions import rows
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.retrievers.bm25 import Bm25
from surefoot.retrievers.dense import Dense
from surefoot.retrievers.hybrid import Hybrid
from surefoot.types.protocols import Embedder, Retriever

CUTS = (1, 5, 10)


def queries(path: Path, corpus: set[str]) -> list[tuple[str, set[str]]]:
    """Each question that counts, with the ids of its relevant passages."""
    golds = [(row["question"], {p["id"] for p in row["passages"] if p["label"] == 1} & corpus) for _, row in rows(path)]
    return [(question, gold) for question, gold in golds if gold]


def recalls(retriever: Retriever, questions: list[tuple[str, set[str]]]) -> str:
    hits = [0] * len(CUTS)
    for question, gold in questions:
        found = [passage.id.rpartition(":")[2] for passage in retriever.retrieve(question, max(CUTS))]
        hits = [count + bool(gold & {*found[:k]}) for count, k in zip(hits, CUTS, strict=True)]
    return " / ".join(f"{100 * count / len(questions):.1f}" for count in hits)


def compare(corpus: Path, embedder: Embedder, sets: dict[str, list[tuple[str, set[str]]]], lexical: bool) -> None:
    """Print a row for the embedder and one for the fusion; with `lexical`, one for BM25 before them."""
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        build([corpus], Path(home, "index.db"), embedder)
        seconds = time.perf_counter() - began
        with Index.open(Path(home, "index.db")) as index:
            bm25, dense = Bm25(index), Dense(index, embedder)
            ways: dict[str, Retriever] = {"BM25": bm25} if lexical else {}
            ways |= {embedder.name: dense, f"BM25 + {embedder.name}": Hybrid([bm25, dense])}
            for name, way in ways.items():
                cells = [recalls(way, questions) for questions in sets.values()]
                print(f"| {' | '.join([name, f'{seconds:.0f}', *cells])} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("questions", type=Path, nargs="+")
    arguments = parser.parse_args()
    ids = {row["id"] for _, row in rows(arguments.corpus)}
    sets = {f"{path.parent.name}/{path.stem}": queries(path, ids) for path in arguments.questions}
    print(f"recall@{' / @'.join(map(str, CUTS))} in %\n")
    names = [f"{name} ({len(questions)})" for name, questions in sets.items()]
    print(f"| method | s to index | {' | '.join(names)} |\n|{' --- |' * (2 + len(sets))}")
    for number, embedder in enumerate((Static(), MiniLMEmbedder())):
        compare(arguments.corpus, embedder, sets, lexical=not number)


if __name__ == "__main__":
    main()
