"""Trains any T5 as CRAG's evaluator was trained: `surefoot lab train t5`.

The recipe: a sequence classifier with one output on the base T5, mean squared error to +1 and -1, AdamW at 1e-4 falling
linearly to 0, batches of 12, 8 epochs, gradients clipped at 1, 512 pieces, all weights trained. A pair is a question
and a retrieved passage, +1 where the passage's title is the page of the question's subject.

This differs from CRAG's script only in cost: batches are padded to their longest input, not to 512.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import torch
from tokenizers import Encoding

from surefoot.evaluators.t5 import check_task, encoded, open_t5
from surefoot.models.checkpoint import Checkpoint
from surefoot.run.store import to_json, write_text
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, UsageError
from surefoot_lab.datasets.pairs import read
from surefoot_lab.train.training import TrainingProgress, claimed, descend

Label = Literal["label_title", "label"]
"""CRAG's label, whether the passage's title is the page of the question's subject, or whether it is relevant."""


@dataclass(frozen=True, slots=True)
class T5Recipe:
    """The settings of the training; the defaults are CRAG's."""

    task: str = "popqa"
    """Form of the input, as in `surefoot.evaluators.t5`."""
    epochs: int = 8
    batch: int = 12
    rate: float = 1e-4
    """AdamW's learning rate in the first step."""
    clip: float = 1.0
    """Largest norm of all gradients together."""
    max_pieces: int = 512
    seed: int = 0
    """Of the new head, of the order of the pairs, and of the dropout."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The result of a training."""

    folder: Path
    pairs: int
    positives: int
    losses: tuple[float, ...]
    """Mean squared error over each epoch's batches."""


@dataclass(frozen=True, slots=True)
class T5Example:
    """A pair to learn from."""

    question: str
    passage: Passage
    target: float
    """+1 or -1."""


def lessons(files: Sequence[Path], label: Label = "label_title") -> list[T5Example]:
    """The pairs with this label in files that `surefoot_lab.datasets.pairs` can read, in order.

    Raises UsageError, with the line number, for a bad file, and where no pair has the label.
    """
    pairs = [(pair, getattr(pair, label)) for file in files for pair in read(file).pairs]
    found = [T5Example(pair.question, pair.passage, 2.0 * value - 1) for pair, value in pairs if value is not None]
    if not found:
        raise UsageError(f"no passage of {', '.join(map(str, files))} has a {label}; try the other label")
    return found


def train(
    start: str,
    data: Sequence[T5Example],
    out: Path,
    recipe: T5Recipe,
    *,
    device: str | None = None,
    on_step: Callable[[TrainingProgress], None] = lambda progress: None,
) -> Trained:
    """Fine-tune the T5 in the folder `start`, and write the evaluator's folder `out`, whole or not at all.

    `device` None: a GPU where there is one. Raises UsageError where `out` exists or another training writes it, and
    ModelError for a start that is no T5 or a loss that is no number.
    """
    check_task(recipe.task)
    _require_sizes(recipe)
    with claimed(out, out.with_name(f"{out.name}.lock")), torch.random.fork_rng():
        if out.exists():
            raise UsageError(f"{out} is there already; give another folder")
        checkpoint = open_t5(start, device, recipe.seed)
        inputs, targets = _inputs(checkpoint, data, recipe)
        done = _report(out, targets, _learn(checkpoint, inputs, targets, recipe, on_step), recipe)
        _publish(checkpoint, done, {"start": start, "data": _hash(data), "recipe": asdict(recipe)})
    return done


def _learn(
    checkpoint: Checkpoint,
    inputs: Sequence[Encoding],
    targets: Sequence[float],
    recipe: T5Recipe,
    on_step: Callable[[TrainingProgress], None],
) -> list[float]:
    """The loss of each step, before it."""
    torch.manual_seed(recipe.seed)
    model, losses = checkpoint.model, list[float]()
    per_epoch = -(-len(inputs) // recipe.batch)
    steps = per_epoch * recipe.epochs
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)
    model.train()
    for step in range(steps):
        chosen = _order(len(inputs), step // per_epoch, recipe)[step % per_epoch]
        tensors = checkpoint.tensors([inputs[place] for place in chosen])
        goal = torch.tensor([targets[place] for place in chosen], device=model.device)
        loss = torch.nn.functional.mse_loss(model(**tensors).logits[:, 0], goal)
        descend(loss, model, optimiser, recipe.clip, step)
        falling.step()
        losses.append(float(loss.item()))
        on_step(TrainingProgress(step + 1, steps, losses[-1], epoch=step // per_epoch + 1))
    model.eval()
    return losses


def _order(count: int, epoch: int, recipe: T5Recipe) -> list[list[int]]:
    """The epoch's batches, decided by seed and epoch alone."""
    dice = torch.Generator().manual_seed(recipe.seed * 1_000_003 + epoch)
    places = torch.randperm(count, generator=dice).tolist()
    return [places[start : start + recipe.batch] for start in range(0, count, recipe.batch)]


def _inputs(checkpoint: Checkpoint, data: Sequence[T5Example], recipe: T5Recipe) -> tuple[list[Encoding], list[float]]:
    """The model's inputs and their targets, without pairs that lack words in question or text."""
    read = [(encoded(checkpoint, it.question, it.passage, recipe.task, recipe.max_pieces), it.target) for it in data]
    selected = [(found[0], target) for found, target in read if not isinstance(found, str)]
    if not selected:
        raise UsageError("no pair has both a question and a text; there is nothing to learn from")
    return [inputs for inputs, _ in selected], [target for _, target in selected]


def _publish(checkpoint: Checkpoint, done: Trained, about: dict[str, Any]) -> None:
    """Put the folder in place, whole."""
    fresh = done.folder.with_name(f"{done.folder.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    checkpoint.save(fresh)
    card = {**about, "pairs": done.pairs, "positives": done.positives, "losses": done.losses}
    write_text(fresh / "training.json", json.dumps(card, indent=1) + "\n")
    os.rename(fresh, done.folder)


def _report(out: Path, targets: Sequence[float], losses: Sequence[float], recipe: T5Recipe) -> Trained:
    per_epoch = len(losses) // recipe.epochs
    means = [sum(losses[start : start + per_epoch]) / per_epoch for start in range(0, len(losses), per_epoch)]
    return Trained(out, len(targets), sum(target > 0 for target in targets), tuple(means))


def _hash(values: Sequence[Any]) -> str:
    return sha256(json.dumps(to_json(list(values))).encode()).hexdigest()


def _require_sizes(recipe: T5Recipe) -> None:
    for name in ("epochs", "batch", "rate", "clip"):
        if not (size := getattr(recipe, name)) > 0:
            raise ConfigError(f"{name} must be more than 0, not {size}")
