"""What do a question's ten passages cost, and how much of that is not the model?

    python benchmarks/minilm_speed.py popqa/contriever.jsonl [--model FOLDER] [--passages 10] [--rounds 5]

Question by question, `minilm` grades the first passages; then a bare onnxruntime session runs the same texts, which
were made into word pieces beforehand, on as many threads. Nothing is remembered from one round to the next. The
overhead is the median over the rounds of the ratio of what all questions took.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from statistics import median

import numpy as np
from onnxruntime import InferenceSession

from surefoot.evaluators.minilm import MiniLM, encode, windows
from surefoot.types.protocols import Pair
from surefoot_lab.datasets.pairs import read

Feeds = list[dict[str, np.ndarray]]


def questions(path: str, passages: int) -> list[list[Pair]]:
    every = groupby(read(path).pairs, key=lambda pair: pair.question_id)
    return [[(p.question, p.passage) for p in list(pairs)[:passages]] for _, pairs in every]


def feeds(evaluator: MiniLM, pairs: Sequence[Pair]) -> Feeds:
    """What the session is given for these pairs, the longest first, as the evaluator does."""
    texts = encode(evaluator._model.loaded()[1], [(q, p.title, p.text) for q, p in pairs])
    cuts = sorted((cut for text in texts for cut, _ in windows(text)), key=lambda cut: -len(cut.ids))
    return [{"ids": np.array([cut.ids], np.int64), "sides": np.array([cut.sides], np.int64)} for cut in cuts]


def bare(session: InferenceSession, pool: ThreadPoolExecutor, inputs: Feeds) -> float:
    began = time.perf_counter()
    list(pool.map(lambda feed: session.run(None, feed), inputs))
    return time.perf_counter() - began


def whole(evaluator: MiniLM, pairs: Sequence[Pair]) -> float:
    began = time.perf_counter()
    evaluator.grade(pairs)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--model", help="a folder that `surefoot lab train evaluator` wrote")
    parser.add_argument("--passages", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    asked = questions(given.file, given.passages)
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    times, ratios = list[float](), list[float]()
    for number in range(1, given.rounds + 1):
        evaluator = MiniLM(given.model)
        evaluator.grade([("Is it warm?", asked[0][0][1])])
        inputs = [feeds(evaluator, pairs) for pairs in asked]
        session, _ = evaluator._model.loaded()
        both = [(whole(evaluator, p), bare(session, pool, f)) for p, f in zip(asked, inputs, strict=True)]
        ours, theirs = (sum(column) for column in zip(*both, strict=True))
        times += [seconds for seconds, _ in both]
        ratios.append(ours / theirs)
        print(f"round {number} of {given.rounds}: {sum(map(len, asked)) / ours:.0f} pairs/s", flush=True)
    lengths = [feed["ids"].size for part in inputs for feed in part]
    print(
        f"{len(asked)} questions, {given.passages} passages each, {median(lengths):.0f} word pieces in the middle\n"
        f"a question: {1000 * median(times):.0f} ms (median), {1000 * float(np.quantile(times, 0.9)):.0f} ms (90 %)\n"
        f"over the bare session: {100 * (median(ratios) - 1):+.1f} % (rounds {', '.join(f'{r:.3f}' for r in ratios)})\n"
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )


if __name__ == "__main__":
    main()
