"""What must the evidence head's best span beat "no answer here" by? Overlap with the answer, and silence, by margin.

    python benchmarks/span_margin.py FOLDER/minilm.onnx FOLDER/dev/fit/*.jsonl [--pairs 90]

For each margin the token F1 of the words pointed at, over passages that hold an accepted answer (0 where it points at
nothing), and the share of the irrelevant passages in which it points at nothing. Every file counts the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession

from surefoot.evaluators.minilm import Pieces, encode, pointed, windows
from surefoot.models.cross_encoder import Logits, tokenizer
from surefoot.stats.figures import token_f1
from surefoot.text.words import places_of
from surefoot_lab.datasets.pairs import LabelledPair, read
from surefoot_lab.train.finish import MARGINS

Reading = tuple[LabelledPair, Logits, Pieces]
ALWAYS = -1e9
"""A margin that every span beats."""


def readings(session: InferenceSession, pairs: Sequence[LabelledPair]) -> list[Reading]:
    """Each pair with the evidence of its best window."""
    found = []
    for pair, pieces in zip(pairs, encode(tokenizer(), [_triple(pair) for pair in pairs]), strict=True):
        parts = [part for part, _ in windows(pieces)]
        feeds = [{"ids": np.array([part.ids], np.int64), "sides": np.array([part.sides], np.int64)} for part in parts]
        said = [session.run(None, feed) for feed in feeds]
        best = max(range(len(said)), key=lambda i: float(said[i][0][0]))
        found.append((pair, said[best][1][0], parts[best]))
    return found


def _triple(pair: LabelledPair) -> tuple[str, str, str]:
    return pair.question, pair.passage.title, pair.passage.text


def overlap(reading: Reading, margin: float) -> float:
    pair, evidence, pieces = reading
    span = pointed(evidence, pieces, margin)
    return token_f1(pair.passage.text[slice(*span)], pair.answers) if span else 0.0


def silent(reading: Reading, margin: float) -> bool:
    return pointed(reading[1], reading[2], margin) is None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--pairs", type=int, default=90, help="of each kind and file, at most")
    given = parser.parse_args()
    session = InferenceSession(str(given.model), providers=["CPUExecutionProvider"])
    holding: dict[str, list[Reading]] = {}
    others: dict[str, list[Reading]] = {}
    for path in given.files:
        pairs = read(path).pairs
        answered = [pair for pair in pairs if pair.label and places_of(pair.answers, pair.passage.text)]
        holding[path.stem] = readings(session, answered[: given.pairs])
        others[path.stem] = readings(session, [pair for pair in pairs if not pair.label][: given.pairs])
    names = [name for name, some in holding.items() if some]
    print(f"| margin | silent | mean F1 | {' | '.join(names)} |\n|---|---|---|{'---|' * len(names)}")
    for margin in (ALWAYS, *MARGINS):
        overlaps = [float(np.mean([overlap(one, margin) for one in holding[name]])) for name in names]
        quiet = np.mean([np.mean([silent(one, margin) for one in some]) for some in others.values() if some])
        told = " | ".join(f"{value:.3f}" for value in overlaps)
        print(f"| {'none' if margin == ALWAYS else margin} | {quiet:.0%} | {np.mean(overlaps):.3f} | {told} |")


if __name__ == "__main__":
    main()
