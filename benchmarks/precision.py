"""What does int8 cost? The trained network in float32 and as it ships grade the same pairs.

    python benchmarks/precision.py models/mine/best.pt models/mine models/mine/dev/test [--questions 60]

ROC-AUC of each file, of both; and how far the scores lie apart. Pairs of more than one window are left out, since only
what ships reads in windows. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from surefoot.bench.evaluator import graded
from surefoot.bench.metrics import roc_auc
from surefoot.bench.pairs import LabelledPair, read
from surefoot.evaluators.minilm import WINDOW, MiniLM, encode, tokenizer
from surefoot.train.evaluator import Example, scored
from surefoot.train.network import restored


def examples(pairs: tuple[LabelledPair, ...]) -> list[Example]:
    pieces = encode(tokenizer(), [(p.question, p.passage.title, p.passage.text) for p in pairs])
    return [Example(one.ids, one.sides, 0.0, 1.0, None, None) for one in pieces]


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
        file = read(path, given.questions)
        long = [len(example.ids) > WINDOW for example in examples(file.pairs)]
        file = replace(file, pairs=tuple(pair for pair, is_long in zip(file.pairs, long, strict=True) if not is_long))
        labels = [pair.label for pair in file.pairs]
        if len(set(labels)) < 2:
            continue
        exact = np.array(scored(network, examples(file.pairs)))
        shipped = np.array([g.score for g in graded(evaluator, file.pairs, lambda done, total: None).grades], float)
        one, other = (roc_auc(values, labels).value or 0.0 for values in (exact, shipped))
        gaps.append(other - one)
        middle, most = np.quantile(np.abs(exact - shipped), [0.5, 0.99])
        cells = (
            path.stem,
            len(labels),
            f"{one:.4f}",
            f"{other:.4f}",
            f"{other - one:+.4f}",
            f"{middle:.3f}, {most:.3f}",
        )
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
    print(f"| mean of {len(gaps)} files | | | | {np.mean(gaps):+.4f} | |")


if __name__ == "__main__":
    main()
