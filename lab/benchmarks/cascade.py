"""What does a language model add to a cheap evaluator, and what does it cost? Side by side on the same questions.

    python benchmarks/cascade.py LABELLED.jsonl [--limit 20] [--top 10] [--evaluator NAME...] [--set a.b=c...]

Lines are questions with labelled passages, as `surefoot lab evaluator` reads them. Each question's first `--top`
labelled passages are graded at once, as the pipeline does it. `bm25` is no evaluator of the package: it scores the
same pairs with word statistics of all passages of the file (k1 1.2, b 0.75). Settings of the evaluator are for the
cascade, as in --set "evaluator.band=[0.3,0.8]". AUC is over the pairs that an evaluator could grade. Each row is
printed as soon as it is there; one that cannot be built says why.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from surefoot.config.builder import Builder
from surefoot.config.settings import read as configured
from surefoot.config.settings import settings
from surefoot.run.meter import Meter, metered
from surefoot.stats.figures import Figure
from surefoot.text.words import content_words, words
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError, SurefootError
from surefoot.types.protocols import Evaluator, Pair
from surefoot_lab import grading as bench
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet, read

NAMES = ("minilm", "cosine", "lexical", "bm25", "llm", "cascade")
COLUMNS = ("evaluator", "ROC-AUC", "question AUC", "calls", "graded by the second", "ungraded", "seconds", "ms a pair")


class BM25:
    """Okapi BM25 of the question's content words, with the statistics of given passages."""

    name = "bm25"
    thresholds = Thresholds(0.0, 0.0, 0.0, "bm25", "nothing")
    K1, B = 1.2, 0.75

    def __init__(self, passages: Sequence[Passage]) -> None:
        texts = [_words(passage) for passage in passages]
        self._mean = sum(map(len, texts)) / len(texts)
        self._total = len(texts)
        self._holding = Counter(word for text in texts for word in set(text))

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        return tuple(Grade(p.id, self._score(set(content_words(question)), _words(p))) for question, p in pairs)

    def _score(self, asked: set[str], text: list[str]) -> float:
        count = Counter(text)
        length = self.K1 * (1 - self.B + self.B * len(text) / self._mean)
        return sum(self._idf(word) * count[word] * (self.K1 + 1) / (count[word] + length) for word in asked)

    def _idf(self, word: str) -> float:
        holding = self._holding[word]
        return math.log(1 + (self._total - holding + 0.5) / (holding + 0.5))


def _words(passage: Passage) -> list[str]:
    return words(f"{passage.title} {passage.text}")


def built(name: str, sets: list[str], passages: Sequence[Passage]) -> Evaluator:
    if name == "bm25":
        return BM25(passages)
    fitting = [text for text in sets if name == "cascade" or not text.lstrip().startswith("evaluator.")]
    return Builder(configured({}, {"evaluator": {"use": name}}, *settings(fitting))).evaluator


def graded(evaluator: Evaluator, questions: Sequence[Sequence[LabelledPair]]) -> tuple[bench.Graded, Meter]:
    """Grades, question by question, and what they cost; the first pair is graded once before, off the clock."""
    _grades(evaluator, questions[0][:1])
    grades: list[Grade] = []
    seconds = 0.0
    with metered() as spent:
        for number, pairs in enumerate(questions, start=1):
            began = time.perf_counter()
            grades += _grades(evaluator, pairs)
            seconds += time.perf_counter() - began
            if sys.stderr.isatty():
                print(f"\r{evaluator.name}: {number} of {len(questions)}, {seconds:.0f} s ", end="", file=sys.stderr)
    return bench.Graded(tuple(grades), seconds, spent.calls, spent.tokens, tuple(spent.degraded)), spent


def _grades(evaluator: Evaluator, pairs: Sequence[LabelledPair]) -> tuple[Grade, ...]:
    try:
        return evaluator.grade([(pair.question, pair.passage) for pair in pairs])
    except ComponentError as error:
        return tuple(Grade(pair.passage.id, None, reason=str(error)) for pair in pairs)


def row(evaluator: Evaluator, file: LabelledSet, questions: Sequence[Sequence[LabelledPair]]) -> str:
    made, spent = graded(evaluator, questions)
    found = bench.report(file, made, evaluator.thresholds)
    handed = str(spent.escalated) if evaluator.name.startswith("cascade:") else "–"
    cells = [
        *(evaluator.name, shown(found.metrics.roc_auc), shown(found.metrics.question_auc)),
        *(str(found.calls), handed, str(found.ungraded), f"{found.seconds:.1f}"),
        f"{1000 * found.seconds / found.pairs:.2f}",
    ]
    return "\n".join([f"| {' | '.join(cells)} |", *(f"    ! {fallback}" for fallback in found.degraded)])


def shown(figure: Figure) -> str:
    if figure.value is None:
        return "–"
    return f"{figure.value:.3f}" + (f" [{figure.low:.3f}, {figure.high:.3f}]" if figure.low is not None else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--limit", type=int, default=20, help="questions, sampled by id")
    parser.add_argument("--top", type=int, default=10, help="labelled passages of each question")
    parser.add_argument("--evaluator", nargs="+", default=NAMES, metavar="NAME")
    parser.add_argument("--set", nargs="+", default=[], metavar="SECTION.KEY=VALUE", help="such as llm.threads=1")
    given = parser.parse_args()
    every = read(given.file)
    sample = read(given.file, given.limit)
    by_question = groupby(sample.pairs, key=lambda pair: pair.question_id)
    questions = [tuple(pairs)[: given.top] for _, pairs in by_question]
    file = replace(sample, pairs=tuple(pair for pairs in questions for pair in pairs))
    relevant = sum(pair.label for pair in file.pairs)
    print(f"{given.file}: {len(questions)} questions, {len(file.pairs)} pairs, {relevant} of them relevant\n")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    passages = list({pair.passage.id: pair.passage for pair in every.pairs}.values())
    for name in given.evaluator:
        try:
            print(row(built(name, given.set, passages), file, questions), flush=True)
        except SurefootError as error:
            print(f"    ! {name}: {error}", flush=True)


if __name__ == "__main__":
    main()
