"""Does a T5's score hang on its separator? Sub-word attributions, with the separator among the players.

    python benchmarks/separators.py models/t5-small popqa/contriever.jsonl [--pairs 60]

CRAG's T5 reads `question [SEP] text`, in which "[SEP]" is ordinary text: so its pieces can be taken out like any
others, which `surefoot lab study` cannot do, since an evaluator joins the two by itself. The players are the sub-word
pieces of the whole input; the value of a coalition is the logit of the input that holds these pieces alone; Shapley
values as `surefoot explain` computes them. As many relevant pairs as others are drawn by the seed.

Each kind of piece: its share of the pieces, its share of the attribution (of the sum of absolute values), and the mean
value of a piece in standard deviations of the scores of all pairs drawn. Beside them the same of whole words, which are
the sums of their pieces. 95 % intervals from a bootstrap over questions. Kinds: separator; name (of what the question
asks about, on either side); function word; other.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt

from surefoot.evaluators.t5 import open_t5, text_of
from surefoot.explain.shapley import Counted, Masks, Vector, shares
from surefoot.models.checkpoint import Checkpoint
from surefoot.stats.figures import resampled
from surefoot.text.words import STOP_WORDS, fold, names, places_of, words
from surefoot_lab.datasets.pairs import LabelledPair, read

KINDS = ("separator", "name", "function word", "other")
SEPARATOR = "[SEP]"
SMALLEST = 0.05
"""The least mean value of a piece that counts, in standard deviations; that of the study's claims about words."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Piece:
    kind: str
    word: int
    """The number of its word."""
    value: float


@dataclass(frozen=True)
class Explained:
    question_id: str
    score: float
    pieces: tuple[Piece, ...]

    def sums(self, whole: bool) -> Floats:
        """A row a kind: how many pieces, or words, it has, the sum of their values, and that of their absolute values.
        The pieces of a word share its value, as far as they are of one kind."""
        found = np.zeros((len(KINDS), 3))
        keys = [(one.word if whole else n, one.kind) for n, one in enumerate(self.pieces)]
        for (_, name), group in groupby(zip(keys, self.pieces, strict=True), key=lambda both: both[0]):
            value = sum(piece.value for _, piece in group)
            found[KINDS.index(name)] += (1, value, abs(value))
        return found


def explained(checkpoint: Checkpoint, pair: LabelledPair, task: str, most: int, seed: int) -> Explained:
    text = text_of(pair.question, pair.passage, task)
    encoding = checkpoint.pieces(text)
    ends = checkpoint.finished(checkpoint.pieces("")).ids

    def game(masks: Masks) -> Vector:
        inputs = [SimpleNamespace(ids=[*np.array(encoding.ids, int)[mask].tolist(), *ends]) for mask in masks]
        return np.array([row[0] for row in checkpoint.logits(inputs, 32)])  # type: ignore[arg-type]

    found = shares(Counted(game), len(encoding.ids), most=most, seed=seed)
    places = places_of(names(pair.question), text)
    at = len(pair.question) + 1, len(pair.question) + 1 + len(SEPARATOR)
    starts = [n for n, letter in enumerate(text) if not letter.isspace() and (n == 0 or text[n - 1].isspace())]
    pieces = []
    for (start, end), value in zip(encoding.offsets, found.values, strict=True):
        word = sum(begins < end for begins in starts)
        pieces.append(Piece(kind(start, end, at, places, text, starts[word - 1]), word, float(value)))
    return Explained(pair.question_id, found.full, tuple(pieces))


def kind(start: int, end: int, at: tuple[int, int], named: list[tuple[int, int]], text: str, begins: int) -> str:
    if start < at[1] and end > at[0]:
        return "separator"
    if any(start < last and end > first for first, last in named):
        return "name"
    every = words(text[begins:].split(maxsplit=1)[0])
    return "function word" if all(fold(word) in STOP_WORDS for word in every) else "other"


def drawn(path: Path, count: int, longest: int, seed: int) -> list[LabelledPair]:
    """Half of them relevant, none with a longer passage."""
    chance = random.Random(seed)
    fitting = [pair for pair in read(path).pairs if len(pair.passage.text.split()) <= longest]
    found = []
    for label in (1, 0):
        some = [pair for pair in fitting if pair.label == label]
        found += chance.sample(some, min(count // 2, len(some)))
    return found


def ratio(above: Floats, below: Floats, questions: list[str]) -> tuple[float, float, float]:
    """The sum of `above` over that of `below`, one a pair, with its 95 % interval from a bootstrap over questions."""
    place = np.unique(questions, return_inverse=True)[1]
    both = [np.bincount(place, side) for side in (above, below)]
    drawn = resampled(len(both[0])).astype(float)
    values = (drawn @ both[0]) / (drawn @ both[1])
    low, high = np.quantile(values, (0.025, 0.975))
    return float(above.sum() / below.sum()), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="of the T5, as `surefoot lab train t5` wrote it")
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--longest", type=int, default=60, help="words of a passage")
    parser.add_argument("--task", default="popqa")
    parser.add_argument("--most", type=int, default=1000, help="runs of the model for an attribution")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    checkpoint = open_t5(given.folder)
    pairs = drawn(given.data, given.pairs, given.longest, given.seed)
    found = [explained(checkpoint, pair, given.task, given.most, given.seed + n) for n, pair in enumerate(pairs)]
    unit = float(np.std([one.score for one in found]))
    questions = len({one.question_id for one in found})
    print(f"{len(found)} pairs of {questions} questions; a standard deviation of their scores is {unit:.3g}\n")
    ids = [one.question_id for one in found]
    for whole, title in ((True, "word"), (False, "piece")):
        sums = np.array([one.sums(whole) for one in found])
        print(f"| kind of {title} | {title}s | share of the attribution | mean value of a {title} |\n|---|---|---|---|")
        for n, name in enumerate(KINDS):
            count, value, absolute = sums[:, n].T
            mass, mean = ratio(absolute, sums[:, :, 2].sum(axis=1), ids), ratio(value / unit, count, ids)
            told = f"{mass[0]:.1%} [{mass[1]:.1%}, {mass[2]:.1%}] | {mean[0]:+.3f} [{mean[1]:+.3f}, {mean[2]:+.3f}]"
            print(f"| {name} | {count.sum():.0f} ({count.sum() / sums[:, :, 0].sum():.1%}) | {told} |")
        print()
    value, low, high = ratio(sums[:, 0, 1] / unit, sums[:, 0, 0], ids)
    verdict = "supported" if low > 0 and value >= SMALLEST else "refuted" if high < SMALLEST else "undetermined"
    print(f"a piece of the separator raises the score by {SMALLEST} or more: {verdict}")


if __name__ == "__main__":
    main()
