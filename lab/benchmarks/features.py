"""Does the evaluator `features` rank better than the cross-encoder alone? Fits its weights, too.

    python benchmarks/features.py models/mine/dev [--questions 150] [--card src/surefoot/evaluators/features.json]

`dev` is what `surefoot train evaluator` wrote: on its `fit` half a logistic regression is fitted, in which every file
counts the same, and thresholds on the questions of the files that the shipped ones are fitted on; its `test` half is
measured on. AUC of each file by the cross-encoder's logit and by the model over all features of
`surefoot.evaluators.features`; the difference with its interval from a bootstrap over questions, the same draws for
both. `--card` writes weights and thresholds. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from surefoot.datasets.pairs import LabelledPair, LabelledSet, read
from surefoot.evaluators.features import NAMES, row
from surefoot.evaluators.minilm import MiniLM
from surefoot.stats import figures
from surefoot.types import Grade
from surefoot_lab import tuning
from surefoot_lab.grading import draws, graded
from surefoot_lab.train.finish import AIM
from surefoot_lab.train.mixture import sources

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measured:
    """A file's pairs with a grade, and their features: a row a pair, a column a feature."""

    file: LabelledSet
    rows: Matrix


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--questions", type=int, default=150, help="of each file, at most")
    parser.add_argument("--card", type=Path, help="write weights and thresholds here")
    given = parser.parse_args()
    evaluator = MiniLM()
    fit, test = ([*measured(given.dev / half, evaluator, given.questions)] for half in ("fit", "test"))
    weights, intercept = fitted(fit)
    compared(test, weights, intercept)
    if given.card:
        about = f"the fit half of {len(fit)} development files, at most {given.questions} questions of each"
        card = {"fitted_on": about, "intercept": intercept, "weights": dict(zip(NAMES, weights, strict=True))}
        card["thresholds"] = thresholds(fit, weights, intercept, f"features:{evaluator.name}")
        given.card.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def measured(folder: Path, evaluator: MiniLM, questions: int) -> Iterator[Measured]:
    """The files of a folder that have pairs of both labels."""
    for path in sorted(folder.glob("*.jsonl")):
        file = read(path, questions)
        grades = graded(evaluator, file.pairs, lambda done, total: None).grades
        known = [(pair, g.score) for pair, g in zip(file.pairs, grades, strict=True) if g.score is not None]
        rows = np.array([row(logit, pair.question, pair.passage) for pair, logit in known])
        if len({pair.label for pair, _ in known}) == 2:
            yield Measured(replace(file, pairs=tuple(pair for pair, _ in known)), rows)
        print(f"{path}: {len(known)} of {len(file.pairs)} pairs", flush=True)


def fitted(files: Sequence[Measured]) -> tuple[list[float], float]:
    """The weight of each feature as it is, and the intercept."""
    each = np.concatenate([np.full(len(one.rows), 1 / len(one.rows)) for one in files])
    labels = [pair.label for one in files for pair in one.file.pairs]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(np.concatenate([one.rows for one in files]), labels, logisticregression__sample_weight=each / each.mean())
    scaler, linear = model.named_steps["standardscaler"], model.named_steps["logisticregression"]
    told = zip(NAMES, linear.coef_[0], strict=True)
    print("\nweights of the standardised features: " + ", ".join(f"{name} {weight:+.2f}" for name, weight in told))
    weights = linear.coef_[0] / scaler.scale_
    return [*map(float, weights)], float(linear.intercept_[0] - weights @ scaler.mean_)


def compared(files: Sequence[Measured], weights: Sequence[float], intercept: float) -> None:
    print("\n| file | cross-encoder | with features | difference |\n|---|---|---|---|")
    means = []
    for one in files:
        alone, more = auc(one.file, one.rows[:, 0]), auc(one.file, one.rows @ np.array(weights) + intercept)
        means.append((alone, more, figures.gain(alone, more)))
        print(line(Path(one.file.path).stem, *(found for found, _ in means[-1])))
    print(line("mean", *(figures.macro(column) for column in zip(*means, strict=True))))


def auc(file: LabelledSet, values: npt.ArrayLike) -> tuple[figures.Figure, figures.Floats]:
    labels, numbers = [pair.label for pair in file.pairs], np.array(file.numbers())
    return figures.figure(figures.roc_auc(values, labels, numbers), draws(file))


def line(name: str, alone: figures.Figure, more: figures.Figure, gain: figures.Figure) -> str:
    interval = "" if gain.low is None else f" [{gain.low:+.3f}, {gain.high:+.3f}]"
    return f"| {name} | {alone.value:.3f} | {more.value:.3f} | {gain.value:+.3f}{interval} |"


def thresholds(files: Sequence[Measured], weights: Sequence[float], intercept: float, name: str) -> dict[str, object]:
    """As `surefoot train evaluator` fits those of the cross-encoder: on the files that are searched, one question in
    four without its relevant passages, for the same risks."""
    searched = {source.name.replace("/", "-") for source in sources() if source.searched}
    chosen = [one for one in files if Path(one.file.path).stem in searched]
    asked: list[tuning.Question] = []
    for one, left in zip(chosen, tuning.thinned([one.file for one in chosen]), strict=True):
        score = dict(zip(map(key, one.file.pairs), one.rows @ np.array(weights) + intercept, strict=True))
        asked += tuning.questions(left.pairs, [Grade(p.passage.id, float(score[key(p)])) for p in left.pairs])
    found = tuning.fit(asked, AIM)
    made = found.thresholds(name)
    if made is None:
        raise SystemExit(f"no thresholds: {'; '.join(c.reason for c in (found.upper, found.lower, found.strip))}")
    risks = (
        f"with {found.confidence:.0%} confidence each, at most {AIM.target:.0%} of CORRECT decisions lack evidence, "
        f"at most {AIM.discard_target:.0%} of INCORRECT ones have some, and at most {AIM.strip_target:.0%} of relevant "
        "passages lie below the strip threshold"
    )
    asked_of = f"{len(asked)} questions of {len(chosen)} files, one in {tuning.THIN} without its relevant passages"
    values = {end: getattr(made, end) for end in ("upper", "lower", "strip")}
    return {**values, "evaluator": name, "fitted_on": f"{asked_of}: {risks}"}


def key(pair: LabelledPair) -> tuple[str, str]:
    return pair.question_id, pair.passage.id


if __name__ == "__main__":
    main()
