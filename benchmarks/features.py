"""Does a linear model over several features rank better than the cross-encoder alone?

    python benchmarks/features.py models/mine/dev [--model models/mine] [--questions 150]

`dev` is what `surefoot train evaluator` wrote: its `fit` half trains a logistic regression, in which every file counts
the same, its `test` half is measured on. Features of a pair: the cross-encoder's score; cosine of the embeddings; BM25;
the weighted share of question words that the text holds; the share of the question's names that the text, and the
title, hold; the edit similarity of question and title, and the best one of question and a sentence; the kind of
question. AUC of each file, of both, and of the cross-encoder calibrated; the difference with its interval from a
bootstrap over questions, the same draws for both. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import numpy.typing as npt
from cascade import BM25
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.config.builder import Builder
from surefoot.config.settings import read as configured
from surefoot.datasets.pairs import LabelledPair, LabelledSet, read
from surefoot.lab.grading import draws, graded
from surefoot.protocols import Evaluator
from surefoot.stats import figures
from surefoot.text.words import fold, names, sentences, words

KINDS = ("who", "when", "where", "which", "what", "why", "how", "in", "is", "are", "was", "were", "do", "does", "did")
FEATURES = (
    "cross-encoder",
    "cosine",
    "BM25",
    "words",
    "names in text",
    "names in title",
    "edit title",
    "edit sentence",
)

Matrix = npt.NDArray[np.float64]


def built(name: str, **options: str) -> Evaluator:
    return Builder(configured({}, {"evaluator": {"use": name, **options}})).evaluator


def scores(evaluator: Evaluator, file: LabelledSet) -> Matrix:
    """NaN for what it could not grade."""
    return np.array([grade.score for grade in graded(evaluator, file.pairs, lambda done, total: None).grades], float)


def held(question: str, text: str) -> float:
    """Share of the question's names that stand in the text."""
    sought = [fold(name) for name in names(question)]
    return sum(name in fold(text) for name in sought) / len(sought) if sought else 0.0


def alike(one: str, other: str) -> float:
    """Edit similarity of the words, in [0, 1]."""
    return SequenceMatcher(None, words(one), words(other), autojunk=False).ratio()


def simple(pair: LabelledPair) -> list[float]:
    question, text, title = pair.question, pair.passage.text, pair.passage.title
    parts = [text[start:end] for start, end in sentences(text)] or [text]
    first = next(iter(words(question)), "")
    edits = [alike(question, title), max(alike(question, part) for part in parts)]
    return [held(question, text), held(question, title), *edits, *(float(first == kind) for kind in KINDS)]


def features(file: LabelledSet, evaluators: list[Evaluator]) -> tuple[LabelledSet, Matrix]:
    """A row a pair, a column a feature; the cross-encoder's first. Without the pairs that one could not grade."""
    bm25 = BM25(list({pair.passage.id: pair.passage for pair in file.pairs}.values()))
    columns = [scores(evaluator, file) for evaluator in [*evaluators[:2], bm25, *evaluators[2:]]]
    there = np.isfinite(columns).all(axis=0)
    kept = tuple(pair for pair, is_there in zip(file.pairs, there, strict=True) if is_there)
    rows = np.column_stack([*columns, np.array([simple(pair) for pair in file.pairs])])
    return replace(file, pairs=kept), rows[there]


def fitted(files: list[LabelledSet], rows: list[Matrix]) -> object:
    weights = np.concatenate([np.full(len(file.pairs), 1 / len(file.pairs)) for file in files])
    labels = [pair.label for file in files for pair in file.pairs]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(np.concatenate(rows), labels, logisticregression__sample_weight=weights / weights.mean())
    return model


def auc(file: LabelledSet, values: npt.ArrayLike) -> tuple[figures.Figure, figures.Floats]:
    labels, numbers = [pair.label for pair in file.pairs], np.array(file.numbers())
    return figures.figure(figures.roc_auc(values, labels, numbers), draws(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--model", help="left out: the weights of the package")
    parser.add_argument("--questions", type=int, default=150, help="of each file, at most")
    given = parser.parse_args()
    options = {"model": given.model} if given.model else {}
    evaluators = [built("minilm", **options), built("cosine"), built("lexical")]
    files: dict[str, list[LabelledSet]] = {"fit": [], "test": []}
    rows: dict[str, list[Matrix]] = {"fit": [], "test": []}
    lost = 0
    for half in files:
        for path in sorted((given.dev / half).glob("*.jsonl")):
            whole = read(path, given.questions)
            file, part = features(whole, evaluators)
            lost += len(whole.pairs) - len(file.pairs)
            if len({pair.label for pair in file.pairs}) == 2:
                files[half].append(file)
                rows[half].append(part)
                print(f"\r{half}: {len(files[half])} files", end="", flush=True)
    model = fitted(files["fit"], rows["fit"])
    print(f"\n\npairs left out, as one of the evaluators could not grade them: {lost}")
    print("\n| file | cross-encoder | with features | difference |\n|---|---|---|---|")
    means = []
    for file, part in zip(files["test"], rows["test"], strict=True):
        alone, more = auc(file, part[:, 0]), auc(file, model.decision_function(part))
        means.append((alone, more, figures.gain(alone, more)))
        print(row(Path(file.path).stem, *(one for one, _ in means[-1])))
    print(row("mean", *(figures.macro(column) for column in zip(*means, strict=True))), "\n")
    weights = model.named_steps["logisticregression"].coef_[0]
    told = zip((*FEATURES, *KINDS), weights, strict=True)
    print("weights of the standardised features: " + ", ".join(f"{name} {weight:+.2f}" for name, weight in told))


def row(name: str, alone: figures.Figure, more: figures.Figure, gain: figures.Figure) -> str:
    interval = "" if gain.low is None else f" [{gain.low:+.3f}, {gain.high:+.3f}]"
    return f"| {name} | {alone.value:.3f} | {more.value:.3f} | {gain.value:+.3f}{interval} |"


if __name__ == "__main__":
    main()
