"""The training of a `GraderNetwork`, which evaluator and verifier share: one head gives a pair's label, the other
marks its pieces."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from surefoot.models.cross_encoder import tokenizer
from surefoot.stats.figures import roc_auc
from surefoot.types.errors import ConfigError
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.loop import Recipe, Task, TrainingProgress, train
from surefoot_lab.train.network import GraderNetwork

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GraderRecipe(Recipe):
    """The settings of a training; the defaults are the shipped evaluator's."""

    head_rate: float = 5e-4
    """The highest rate of the tensors of `heads`."""
    heads: tuple[str, ...] = ("shared", "relevance", "evidence")
    """Beginnings of the names of the tensors that start at random."""
    decay: float = 0.01
    """Weight decay, but not of biases and norms."""
    batch_pieces: int = 3600
    """Pieces of a batch, padding included, at most."""
    batch: int = 48
    """Pairs of a batch, at most."""
    pieces: int = 160
    """Pieces of a pair, at most; a longer one is cut."""
    marks: float = 1.0
    """Weight of the loss of the pieces beside that of the label."""
    patience: int | None = 5
    dev: int = 100
    """Pairs of each development file that a look takes, about."""


@dataclass(frozen=True, slots=True)
class EncodedExample:
    """A labelled pair in numbers."""

    ids: list[int]
    sides: list[int]
    label: float
    """Or the chance to learn in its place, 0 to 1."""
    weight: float
    marks: Sequence[Any] | None
    """What the second head should say of the pieces; None: unknown."""


Losses = Callable[[GraderNetwork, Sequence[EncodedExample]], tuple[Tensor, Tensor]]
"""The loss of a batch's labels, and that of its pieces."""


def train_grader(
    network: GraderNetwork,
    recipe: GraderRecipe,
    examples: Sequence[TrainingExample],
    encode: Callable[[Sequence[TrainingExample], int], Sequence[EncodedExample]],
    dev: Mapping[str, Sequence[EncodedExample]],
    losses_of: Losses,
    about: Mapping[str, Any],
    folder: Path,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network in `folder` by one pass over the examples, in their order; as `loop.train` does.

    `encode` puts examples into numbers, of at most so many pieces. `dev`: development examples by file, each with both
    labels. Raises ConfigError where there are no examples, or none of these; else as `loop.train`.
    """
    if not examples or not dev:
        raise ConfigError("there are no examples, or no development file with both labels; add a section for them")
    encoded = encode(examples, recipe.pieces)

    def losses(batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        label, marks = losses_of(network, [encoded[i] for i in batch])
        return label, label + recipe.marks * marks

    task = Task(network, groups(network, recipe), batched(encoded, recipe), losses, partial(_aucs, network, dev))
    return train(task, recipe, examples, about, folder, on_progress)


def in_parts(encode: Callable[[Any, Sequence[T]], Sequence[Any]], triples: Sequence[T]) -> Iterator[Any]:
    """The pieces of each, a thousand at a time."""
    reader = tokenizer()
    for start in range(0, len(triples), 1000):
        yield from encode(reader, triples[start : start + 1000])


def groups(network: GraderNetwork, recipe: GraderRecipe) -> list[dict[str, Any]]:
    """AdamW's groups; the word vectors stay fixed."""
    network.word.weight.requires_grad_(False)
    found: dict[tuple[float, float], list[Tensor]] = {}
    for name, tensor in network.named_parameters():
        if tensor.requires_grad:
            peak = recipe.head_rate if name.startswith(recipe.heads) else recipe.rate
            found.setdefault((peak, 0.0 if tensor.ndim < 2 else recipe.decay), []).append(tensor)
    return [{"params": params, "peak": peak, "weight_decay": decay} for (peak, decay), params in found.items()]


def batched(examples: Sequence[EncodedExample], recipe: GraderRecipe) -> list[list[int]]:
    """The examples of each batch: near each other in the order of learning, and of similar length to save padding."""
    chance = random.Random(recipe.seed)  # noqa: S311
    batches: list[list[int]] = []
    for start in range(0, len(examples), 2048):
        near = sorted(range(start, min(start + 2048, len(examples))), key=lambda i: len(examples[i].ids))
        fresh: list[list[int]] = [[]]
        for i in near:
            full = (len(fresh[-1]) + 1) * len(examples[i].ids) > recipe.batch_pieces or len(fresh[-1]) == recipe.batch
            if full and fresh[-1]:
                fresh.append([])
            fresh[-1].append(i)
        chance.shuffle(fresh)
        batches += fresh
    return batches


def read(network: GraderNetwork, batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor, Tensor]:
    """The outputs of both heads for a batch, in float32, and its ids: (texts, longest), 0 where a text has ended."""
    device = network.relevance.weight.device
    ids, sides = padded([e.ids for e in batch]).to(device), padded([e.sides for e in batch]).to(device)
    label, marks = network(ids, sides)
    return label.float(), marks.float(), ids


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Shape (rows, longest), 0 where a row has ended."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def label_loss(logits: Tensor, batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor]:
    """The entropy of the labels, a weighted mean over the batch; and the weights, (texts,)."""
    labels = torch.tensor([e.label for e in batch], device=logits.device)
    weights = torch.tensor([e.weight for e in batch], device=logits.device)
    entropy = functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (entropy * weights).sum() / weights.sum(), weights


@torch.no_grad()
def scored(network: GraderNetwork, examples: Sequence[EncodedExample]) -> list[float]:
    """The first head's logit of each example."""
    network.eval()
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    scores = [0.0] * len(examples)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        logits, *_ = read(network, [examples[i] for i in part])
        for i, score in zip(part, logits.tolist(), strict=True):
            scores[i] = score
    return scores


def _aucs(network: GraderNetwork, dev: Mapping[str, Sequence[EncodedExample]]) -> dict[str, float]:
    each = {name: roc_auc(scored(network, part), [int(e.label) for e in part]).value for name, part in dev.items()}
    return {name: value for name, value in each.items() if value is not None}  # never None, as both labels occur
