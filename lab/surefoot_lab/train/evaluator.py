"""Trains the weights of `surefoot.evaluators.minilm`.

One pass over the examples of `mixture`, easy ones first. The weights that do best on the `fit` half of the development
questions are kept; no example touches the articles of these questions, and their other half is never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from surefoot.evaluators.minilm import Pieces, encode
from surefoot.models.cross_encoder import tokenizer
from surefoot.types.errors import ConfigError
from surefoot_lab.train.examples import Row, TrainingExample, find
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, label_loss, read, train_grader
from surefoot_lab.train.loop import TrainingProgress
from surefoot_lab.train.mixture import Mixture, half
from surefoot_lab.train.network import GraderNetwork

ONWARD = GraderRecipe(rate=4e-5, head_rate=6e-5, pieces=208, checkpoint=40)
"""For a network that is an evaluator already: no tensor starts at random. Passages of manuals are longer."""
NOWHERE = 0.3
"""What a pair without evidence counts in the evidence loss beside one with it. There are three times as many; at the
same weight the head learned above all to say that there is none."""


def train(
    network: GraderNetwork,
    mixture: Mixture,
    folder: Path,
    recipe: GraderRecipe,
    on_progress: Callable[[TrainingProgress], None],
    device: str | None = None,
) -> Path:
    """Train the network, or go on training it, in `folder`, as `loop.train` does; the path of the best weights.

    `device` None: a GPU where there is one; two cores do some 25 pairs a second. Raises ConfigError for a mixture
    without examples or development questions, and for a device that is not there; else as `loop.train`.
    """
    examples = mixture.examples(recipe.seed)
    dev = dev_examples(mixture.dev, recipe)
    if not examples or not dev:
        raise ConfigError(
            "the mixture has no examples, or no development file with both labels; add a section for them"
        )
    encoded = encoded_examples(examples, recipe.pieces)
    placed = _placed(network, device)
    return train_grader(placed, recipe, examples, encoded, dev, losses_of, mixture.about, folder, on_progress)


def encoded_examples(examples: Sequence[TrainingExample], most: int) -> list[EncodedExample]:
    """The examples in numbers; a pair of more than `most` pieces is cut, in front if its evidence stands late.

    Its marks are the pieces at which evidence begins, and those at which it ends: both [0] where there is none.
    """
    reader = tokenizer()
    found = []
    for start in range(0, len(examples), 1000):
        part = examples[start : start + 1000]
        pieces = encode(reader, [(one.text, one.context, one.evidence) for one in part])
        found += [_encoded(one, p, most) for one, p in zip(part, pieces, strict=True)]
    return found


def _encoded(one: TrainingExample, pieces: Pieces, most: int) -> EncodedExample:
    room = most - pieces.first - 1
    spans = [place for span in one.spans or () if (place := _place(span, pieces.offsets))]
    skipped = 0
    if spans and spans[0][1] >= room:
        skipped = max(0, min(spans[0][0] - room // 4, len(pieces.offsets) - room))
    ids = [*pieces.ids[: pieces.first], *pieces.ids[pieces.first : -1][skipped : skipped + room], pieces.ids[-1]]
    shift = pieces.first - skipped
    where = [(a + shift, b + shift) for a, b in spans if a >= skipped and b - skipped < room]
    if not where and one.spans is not None and not one.label:
        where = [(0, 0)]
    marks = ([a for a, _ in where], [b for _, b in where]) if where else None
    return EncodedExample(ids, pieces.sides[: len(ids)], float(one.label), one.weight, marks)


def _place(span: tuple[int, int], offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first and the last piece that the span of characters touches; None if it touches none."""
    touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
    return (touched[0], touched[-1]) if touched else None


def losses_of(network: GraderNetwork, batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor]:
    """Relevance loss and evidence loss, each a weighted mean over the pairs that it concerns."""
    relevance, evidence, ids = read(network, batch)
    loss, weights = label_loss(relevance, batch)
    known = [(i, e.marks) for i, e in enumerate(batch) if e.marks]
    if not known:
        return loss, relevance.new_zeros(())
    evidence = evidence.masked_fill((ids == 0)[:, :, None], -1e4)
    right = torch.zeros_like(evidence, dtype=torch.bool)
    for i, marks in known:
        for end in (0, 1):
            right[i, marks[end], end] = True
    rows = torch.tensor([i for i, _ in known], device=ids.device)
    # The mass on all right places: an answer that occurs twice may be found at either place.
    missed = evidence[rows].logsumexp(1) - evidence[rows].masked_fill(~right[rows], -1e4).logsumexp(1)
    shares = torch.tensor([NOWHERE if marks[0] == [0] else 1.0 for _, marks in known], device=ids.device)
    shares = weights[rows] * shares
    return loss, (missed.mean(1) * shares).sum() / shares.sum()


def dev_examples(dev: dict[str, list[Row]], recipe: GraderRecipe) -> dict[str, list[EncodedExample]]:
    """Uncropped pairs of each labelled development file's `fit` half: whole questions, until there are `recipe.dev`."""
    chance = random.Random(recipe.seed)  # noqa: S311
    chosen: dict[str, list[EncodedExample]] = {}
    for name, rows in dev.items():
        examples: list[TrainingExample] = []
        fit = [row for row in rows if half(row) == "fit"]
        for row in chance.sample(fit, len(fit)):
            if len(examples) < recipe.dev:
                examples += [_dev_example(row, p) for p in row.get("passages", ()) if p.get("label") is not None]
        if len({one.label for one in examples}) == 2:
            chosen[name] = encoded_examples(examples, 256)
    return chosen


def _dev_example(row: Row, p: Row) -> TrainingExample:
    spans = find([str(one) for one in row.get("answers", ())], p["text"]) if p["label"] else ()
    return TrainingExample(row["question"], p.get("title") or "", p["text"], p["label"], spans or None)


def _placed(network: GraderNetwork, device: str | None) -> GraderNetwork:
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        network.to(wanted)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"the device '{wanted}' cannot be used: {reason}; cpu always can") from error
    return network
