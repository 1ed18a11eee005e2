"""Trains the weights of `surefoot.evaluators.minilm`.

One pass over the lessons of `mixture`, easy ones first, as `grader_training` does it. The weights that do best on the
`fit` half of the development questions are kept; no lesson touches the articles of these questions, and their other
half is never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor

from surefoot.evaluators.minilm import Pieces, encode
from surefoot.models.cross_encoder import tokenizer
from surefoot.types.errors import ConfigError
from surefoot_lab.train.examples import TrainingExample, find
from surefoot_lab.train.grader_training import (
    GraderExample,
    GraderRecipe,
    GraderTask,
    label_loss,
    read,
    train_grader,
)
from surefoot_lab.train.mixture import Mixture, half
from surefoot_lab.train.network import GraderNetwork
from surefoot_lab.train.sources import Row
from surefoot_lab.train.training import TrainingProgress


@dataclass(frozen=True, slots=True)
class EvaluatorRecipe(GraderRecipe):
    """The settings of the training; the shipped weights have the defaults."""

    pieces: int = 160
    """A longer pair is cut at the end, or at the beginning if its evidence stands late."""
    evidence: float = 1.0
    """Weight of the evidence loss beside the relevance loss."""
    patience: int = 5
    """Looks without improvement after which training stops."""
    dev_pairs: int = 100
    """Pairs of each development file's `fit` half, at most, that a look takes."""

    heads: ClassVar[tuple[str, ...]] = ("shared", "relevance", "evidence")


ONWARD = EvaluatorRecipe(rate=4e-5, head_rate=6e-5, pieces=208, checkpoint=40)
"""For a network that is an evaluator already: no tensor starts at random. Passages of manuals are longer."""
NOWHERE = 0.3
"""What a pair without evidence counts in the evidence loss beside one with it. There are three times as many; at the
same weight the head learned above all to say that there is none."""


@dataclass(frozen=True, slots=True)
class EncodedPair(GraderExample):
    """A lesson in numbers."""

    starts: list[int] | None
    """Pieces at which evidence begins; [0] where there is none, None where nobody knows."""
    ends: list[int] | None


def train(
    network: GraderNetwork,
    mixture: Mixture,
    folder: Path,
    recipe: EvaluatorRecipe,
    on_progress: Callable[[TrainingProgress], None],
    device: str | None = None,
) -> Path:
    """Train the network, or go on training it, in `folder`, as `train_grader` does; the path of the best weights.

    `device` None: a GPU where there is one; two cores do some 25 pairs a second. Raises ConfigError for a mixture
    without lessons or development questions, and for a device that is not there; else as `train_grader`.
    """
    lessons = mixture.lessons(recipe.seed)
    examples = examples_of(lessons, recipe.pieces)
    dev = dev_examples(mixture.dev, recipe)
    if not examples or not dev:
        raise ConfigError("the mixture has no lessons, or no development file with both labels; add a section for them")

    def losses(batch: Sequence[EncodedPair]) -> tuple[Tensor, Tensor]:
        relevance, evidence = losses_of(network, batch)
        return relevance, relevance + recipe.evidence * evidence

    task = GraderTask(_placed(network, device), recipe, examples, dev, losses, recipe.patience)
    return train_grader(task, lessons, mixture.about, folder, on_progress)


def examples_of(lessons: Sequence[TrainingExample], most: int) -> list[EncodedPair]:
    """The lessons in numbers; a pair of more than `most` pieces is cut, in front if its evidence stands late."""
    reader = tokenizer()
    found = []
    for start in range(0, len(lessons), 1000):
        part = lessons[start : start + 1000]
        pieces = encode(reader, [(lesson.question, lesson.title, lesson.text) for lesson in part])
        found += [_example(lesson, p, most) for lesson, p in zip(part, pieces, strict=True)]
    return found


def _example(lesson: TrainingExample, pieces: Pieces, most: int) -> EncodedPair:
    room = most - pieces.first - 1
    spans = [place for span in lesson.spans or () if (place := _place(span, pieces.offsets))]
    skipped = 0
    if spans and spans[0][1] >= room:
        skipped = max(0, min(spans[0][0] - room // 4, len(pieces.offsets) - room))
    ids = [*pieces.ids[: pieces.first], *pieces.ids[pieces.first : -1][skipped : skipped + room], pieces.ids[-1]]
    shift = pieces.first - skipped
    selected = [(a + shift, b + shift) for a, b in spans if a >= skipped and b - skipped < room]
    nowhere = [(0, 0)] if lesson.spans is not None and not lesson.label else []
    where = selected or nowhere
    return EncodedPair(
        ids,
        pieces.sides[: len(ids)],
        float(lesson.label),
        lesson.weight,
        [a for a, _ in where] or None,
        [b for _, b in where] or None,
    )


def _place(span: tuple[int, int], offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first and the last piece that the span of characters touches; None if it touches none."""
    touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
    return (touched[0], touched[-1]) if touched else None


def losses_of(network: GraderNetwork, batch: Sequence[EncodedPair]) -> tuple[Tensor, Tensor]:
    """Relevance loss and evidence loss, each a weighted mean over the pairs that it concerns."""
    relevance, evidence, ids = read(network, batch)
    loss, weights = label_loss(relevance, batch)
    known = [(i, e) for i, e in enumerate(batch) if e.starts is not None]
    if not known:
        return loss, relevance.new_zeros(())
    evidence = evidence.masked_fill((ids == 0)[:, :, None], -1e4)
    right = torch.zeros_like(evidence, dtype=torch.bool)
    for i, e in known:
        right[i, e.starts or [], 0] = True
        right[i, e.ends or [], 1] = True
    rows = torch.tensor([i for i, _ in known], device=ids.device)
    # The mass on all right places: an answer that occurs twice may be found at either place.
    missed = evidence[rows].logsumexp(1) - evidence[rows].masked_fill(~right[rows], -1e4).logsumexp(1)
    shares = weights[rows] * torch.tensor([1.0 if e.starts != [0] else NOWHERE for _, e in known], device=ids.device)
    return loss, (missed.mean(1) * shares).sum() / shares.sum()


def dev_examples(dev: dict[str, list[Row]], recipe: EvaluatorRecipe) -> dict[str, list[EncodedPair]]:
    """Uncropped pairs of each labelled development file's `fit` half: whole questions, until there are `dev_pairs`."""
    chance = random.Random(recipe.seed)  # noqa: S311
    chosen: dict[str, list[EncodedPair]] = {}

    def dev_lesson(row: Row, p: Row) -> TrainingExample:
        spans = find([str(one) for one in row.get("answers", ())], p["text"]) if p["label"] else ()
        return TrainingExample(row["question"], p.get("title") or "", p["text"], p["label"], 1.0, spans or None)

    for name, rows in dev.items():
        lessons: list[TrainingExample] = []
        fit = [row for row in rows if half(row) == "fit"]
        for row in chance.sample(fit, len(fit)):
            if len(lessons) < recipe.dev_pairs:
                lessons += [dev_lesson(row, p) for p in row.get("passages", ()) if p.get("label") is not None]
        if len({lesson.label for lesson in lessons}) == 2:
            chosen[name] = examples_of(lessons, 256)
    return chosen


def _placed(network: GraderNetwork, device: str | None) -> GraderNetwork:
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        network.to(wanted)
    except (RuntimeError, AssertionError) as error:
        reply = str(error).partition("\n")[0]
        raise ConfigError(f"the device '{wanted}' cannot be used: {reply}; cpu always can") from error
    return network
