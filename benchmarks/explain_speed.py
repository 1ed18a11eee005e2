"""How long until the words of a grade are explained to a given error: ours, and shap?

    pip install 'shap>=0.46'
    python benchmarks/explain_speed.py popqa/contriever.jsonl [--pairs 20] [--words 120] [--reference 20000]

All of one run, on the same pairs, with the same evaluator, in turns. The truth of a pair is a long run of permutations,
which are unbiased, with another seed. Each explainer's error is the root mean square, over the words, of its values
less these; so it has an error below which nothing can be measured, which is told. Ours runs to its tolerance. shap's
permutation explainer is given more and more evaluations until its error is no larger than ours, or it has had `--most`;
so is its partition explainer, whose values are Owen values over a tree of the words and need not come to the Shapley
values at all. Both score by the evaluator's own `grade`, one call a batch of theirs.

shap deletes words as ours does, so that both ask about the same texts, which are shorter than those of its own text
masker. That one would also lose the question: it takes a pair apart as one text.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np

from surefoot.bench.pairs import read
from surefoot.evaluators.minilm import MiniLM
from surefoot.explain.grade import Score, Words, explain, taken_apart
from surefoot.explain.shapley import Counted, Vector, shares
from surefoot.types import Passage

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what shap imports
    import shap


@dataclass(frozen=True, slots=True)
class Run:
    """One explainer on one pair."""

    error: float
    evaluations: int
    seconds: float


def chosen(path: str, pairs: int, least: int) -> Iterator[tuple[str, Passage]]:
    """The first pair of each question whose passage has so many words."""
    seen: set[str] = set()
    for pair in read(path).pairs:
        if pair.question_id not in seen and len(pair.passage.text.split()) >= least and len(seen) < pairs:
            seen.add(pair.question_id)
            words = pair.passage.text.split()
            yield pair.question, Passage(pair.passage.id, " ".join(words[:least]), pair.passage.title)


class Watched:
    """shap's model: rows of zeros and ones to scores, counted."""

    def __init__(self, evaluator: MiniLM, words: Words) -> None:
        self._score = Score(evaluator, words, "delete")
        self.evaluations = 0

    def __call__(self, rows: np.ndarray) -> Vector:
        self.evaluations += len(rows)
        return self._score(np.asarray(rows, bool))


def masker(count: int) -> Callable[..., tuple[np.ndarray]]:
    """Words in or out, with the tree that shap's text masker would build: neighbours first."""

    def mask(rows: np.ndarray, _: np.ndarray) -> tuple[np.ndarray]:
        return (np.atleast_2d(rows),)

    mask.shape = (None, count)  # type: ignore[attr-defined]
    mask.clustering = tree(count)  # type: ignore[attr-defined]
    return mask


def tree(count: int) -> np.ndarray:
    """Neighbours joined two by two, level by level, as shap reads it: who, with whom, how far, how many."""
    level, rows = [(n, 1) for n in range(count)], []
    while len(level) > 1:
        joined = []
        for one, other in zip(level[::2], level[1::2], strict=False):
            rows.append((one[0], other[0], len(rows) + 1.0, one[1] + other[1]))
            joined.append((count + len(rows) - 1, one[1] + other[1]))
        level = joined + level[len(level) // 2 * 2 :]
    return np.array(rows, float)


def ours(evaluator: MiniLM, question: str, passage: Passage, tolerance: float, truth: Vector) -> Run:
    began = time.perf_counter()
    found = explain(evaluator, question, passage, tolerance=tolerance, most=20_000)
    return Run(off(np.array(found.values), truth), found.evaluations, time.perf_counter() - began)


def theirs(kind: str, evaluator: MiniLM, words: Words, truth: Vector, enough: float, most: int) -> Run:
    """The first of ever longer runs that is as good as ours; or the longest. Only that one's time counts."""
    count, budget = len(words.units), 2 * len(words.units) + 1
    while True:
        model = Watched(evaluator, words)
        began = time.perf_counter()
        found = asked(kind, model, count, budget)
        run = Run(off(found.values[0], truth), model.evaluations, time.perf_counter() - began)
        if run.error <= enough or budget * 1.5 > most:
            return run
        budget = int(budget * 1.5)


def asked(kind: str, model: Callable[[np.ndarray], Vector], count: int, budget: int) -> shap.Explanation:
    seed = {"seed": 0} if kind == "Permutation" else {}  # the other draws nothing
    explainer = getattr(shap.explainers, kind)(model, masker(count), **seed)
    return explainer(np.ones((1, count)), max_evals=budget, silent=True)


def off(values: Vector, truth: Vector) -> float:
    return float(np.sqrt(np.mean((values - truth) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--words", type=int, default=120, help="of a passage: shorter ones are left out, longer cut")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--reference", type=int, default=20_000, help="evaluations for the truth of a pair")
    parser.add_argument("--most", type=int, default=12_000, help="evaluations that shap gets")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    evaluator = MiniLM(threads=given.threads)
    for kind in ("Permutation", "Partition"):
        asked(kind, lambda rows: np.asarray(rows, float).sum(axis=1), 8, 100)  # shap compiles itself at first use
    print(
        "| pair | explainer | error | evaluations | seconds | times ours |\n| --- | --- | ---: | ---: | ---: | ---: |"
    )
    times: dict[str, list[float]] = {}
    floors = []
    for number, (question, passage) in enumerate(chosen(given.file, given.pairs, given.words), start=1):
        words = taken_apart(question, passage)
        game = Counted(Score(evaluator, words, "delete"))
        long = shares(game, len(words.units), method="permutation", tolerance=0, most=given.reference, seed=1)
        floors.append(float(np.sqrt(np.mean(long.errors**2))))
        mine = ours(evaluator, question, passage, given.tolerance, long.values)
        runs = {"ours": mine} | {
            f"shap {kind}": theirs(kind, evaluator, words, long.values, mine.error, given.most)
            for kind in ("Permutation", "Partition")
        }
        for name, run in runs.items():
            short = "" if run.error <= mine.error else " (not reached)"
            ratio = run.seconds / mine.seconds
            times.setdefault(name, []).append(run.seconds)
            print(
                f"| {number} | {name} | {run.error:.3f}{short} | {run.evaluations:,} | "
                f"{run.seconds:.1f} | {ratio:.1f} |"
            )
    print(f"\nThe truth's own error: {median(floors):.3f} (median). Median seconds of a pair: ", end="")
    print(", ".join(f"{name} {median(each):.1f}" for name, each in times.items()))


if __name__ == "__main__":
    main()
