"""What does int8 cost? The trained network in float32 and as it ships grade the same pairs.

    python benchmarks/precision.py models/mine/best.pt models/mine models/mine/dev/test [--questions 60]

ROC-AUC of each file, of both, with the difference and its interval from a bootstrap over questions, the same draws for
both; and how far the scores lie apart. Pairs of more than one window are left out, since only what ships reads in
windows, and so are those that one of the two could not grade. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.evaluators.minilm import WINDOW, MiniLM, encode
from surefoot.models.cross_encoder import tokenizer
from surefoot.stats import figures
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet, read
from surefoot_lab.grading import draws, graded
from surefoot_lab.train.grader_training import GraderExample, scored
from surefoot_lab.train.network import restored


def examples(pairs: tuple[LabelledPair, ...]) -> list[GraderExample]:
    pieces = encode(tokenizer(), [(p.question, p.passage.title, p.passage.text) for p in pairs])
    return [GraderExample(one.ids, one.sides, 0.0, 1.0) for one in pieces]


def auc(file: LabelledSet, values: figures.Floats) -> tuple[figures.Figure, figures.Floats]:
    labels, numbers = [pair.label for pair in file.pairs], np.array(file.numbers())
    return figures.figure(figures.roc_auc(values, labels, numbers), draws(file))


def only(file: LabelledSet, kept: Sequence[bool]) -> LabelledSet:
    return replace(file, pairs=tuple(pair for pair, is_kept in zip(file.pairs, kept, strict=True) if is_kept))


def told(gain: figures.Figure) -> str:
    return f"{gain.value:+.4f}" if gain.low is None else f"{gain.value:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("best", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, help="a folder of labelled files")
    parser.add_argument("--questions", type=int, default=60, help="of each file, at most")
    given = parser.parse_args()
    network, evaluator = restored(given.best), MiniLM(str(given.model))
    print("| file | pairs | float32 | int8 | difference | apart (median, 99 %) |\n|---|---|---|---|---|---|")
    gaps = []
    for path in sorted(given.files.glob("*.jsonl")):
        whole = read(path, given.questions)
        short = only(whole, [len(example.ids) <= WINDOW for example in examples(whole.pairs)])
        exact = np.array(scored(network, examples(short.pairs)))
        shipped = np.array([g.score for g in graded(evaluator, short.pairs, lambda done, total: None).grades], float)
        there = np.isfinite(exact) & np.isfinite(shipped)
        file, exact, shipped = only(short, there), exact[there], shipped[there]
        if len({pair.label for pair in file.pairs}) < 2:
            continue
        one, other = auc(file, exact), auc(file, shipped)
        gaps.append(figures.gain(one, other))
        middle, most = np.quantile(np.abs(exact - shipped), [0.5, 0.99])
        counts = f"{len(file.pairs)} of {len(whole.pairs)} | {one[0].value:.4f} | {other[0].value:.4f}"
        print(f"| {path.stem} | {counts} | {told(gaps[-1][0])} | {middle:.3f}, {most:.3f} |", flush=True)
    print(f"| mean of {len(gaps)} files | | | | {told(figures.macro(gaps))} | |")


if __name__ == "__main__":
    main()
