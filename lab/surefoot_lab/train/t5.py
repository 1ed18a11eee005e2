"""Trains any T5 as CRAG's evaluator was trained: `surefoot lab train t5`.

The recipe: a sequence classifier with one output on the base T5, mean squared error to +1 and -1, AdamW at 1e-4 falling
linearly to 0, batches of 12, 8 epochs, gradients clipped at 1, 512 pieces, all weights trained. A pair is a question
and a retrieved passage, +1 where the passage's title is the page of the question's subject.

This differs from CRAG's script only in cost: batches are padded to their longest input, not to 512.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import torch
from tokenizers import Encoding
from torch import Tensor

from surefoot.evaluators.t5 import check_task, encoded, open_t5
from surefoot.models.checkpoint import Checkpoint
from surefoot.run.store import write_text
from surefoot.types import Passage
from surefoot.types.errors import ConfigError, UsageError
from surefoot_lab.datasets.pairs import read
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.loop import Recipe, Task, TrainingProgress, releasing, train

Label = Literal["label_title", "label"]
"""CRAG's label, whether the passage's title is the page of the question's subject, or whether it is relevant."""


@dataclass(frozen=True, slots=True)
class T5Recipe(Recipe):
    """The settings of the training; the defaults are CRAG's. The seed is also that of the new head."""

    rate: float = 1e-4
    warm_up: float = 0.0
    task: str = "popqa"
    """Form of the input, as in `surefoot.evaluators.t5`."""
    epochs: int = 8
    batch: int = 12
    max_pieces: int = 512


def examples(files: Sequence[Path], label: Label = "label_title") -> list[TrainingExample]:
    """The pairs with this label in files that `surefoot_lab.datasets.pairs` can read, in order.

    Raises UsageError, with the line number, for a bad file, and where no pair has the label.
    """
    pairs = [(pair, getattr(pair, label)) for file in files for pair in read(file).pairs]
    found = [
        TrainingExample(pair.question, pair.passage.title, pair.passage.text, value, None)
        for pair, value in pairs
        if value is not None
    ]
    if not found:
        raise UsageError(f"no passage of {', '.join(map(str, files))} has a {label}; try the other label")
    return found


def train_t5(
    start: str,
    data: Sequence[TrainingExample],
    folder: Path,
    recipe: T5Recipe,
    on_progress: Callable[[TrainingProgress], None],
    device: str | None = None,
) -> list[float]:
    """Fine-tune the T5 in the folder `start` as `loop.train` does, and write the evaluator to `folder`, its
    `training.json` last. The targets that it learned: +1 or -1 for each pair with words in question and text.

    `device` None: a GPU where there is one. Raises UsageError where `folder` holds an evaluator, and ModelError for a
    start that is no T5; else as `loop.train`.
    """
    check_task(recipe.task)
    for name in ("epochs", "batch", "rate", "clip"):
        if not (size := getattr(recipe, name)) > 0:
            raise ConfigError(f"{name} must be more than 0, not {size}")
    if (folder / "training.json").exists():
        raise UsageError(f"{folder} is there already; give another folder")
    checkpoint = open_t5(start, device, recipe.seed)
    inputs, targets = _inputs(checkpoint, data, recipe)
    about = {"start_folder": start, "pairs": len(targets), "positives": sum(target > 0 for target in targets)}
    train(_task(checkpoint, inputs, targets, recipe), recipe, data, about, folder, on_progress)
    checkpoint.model.eval()
    with releasing(folder) as work:
        checkpoint.save(work)
        write_text(work / "training.json", json.dumps({**about, "recipe": asdict(recipe)}, indent=1) + "\n")
    return targets


def _inputs(
    checkpoint: Checkpoint, data: Sequence[TrainingExample], recipe: T5Recipe
) -> tuple[list[Encoding], list[float]]:
    """The model's inputs and their targets, without pairs that lack words in question or text."""
    inputs, targets = list[Encoding](), list[float]()
    for one in data:
        passage = Passage("", one.evidence, one.context)
        found = encoded(checkpoint, one.text, passage, recipe.task, recipe.max_pieces)
        if not isinstance(found, str):
            inputs.append(found[0])
            targets.append(2.0 * one.label - 1)
    if not inputs:
        raise UsageError("no pair has both a question and a text; there is nothing to learn from")
    return inputs, targets


def _task(checkpoint: Checkpoint, inputs: Sequence[Encoding], targets: Sequence[float], recipe: T5Recipe) -> Task:
    model = checkpoint.model

    def losses(batch: Sequence[int]) -> tuple[Tensor, Tensor]:
        goal = torch.tensor([targets[i] for i in batch], device=model.device)
        scores = model(**checkpoint.tensors([inputs[i] for i in batch])).logits[:, 0]
        loss = torch.nn.functional.mse_loss(scores, goal)
        return loss, loss

    batches = [batch for epoch in range(recipe.epochs) for batch in _order(len(inputs), epoch, recipe)]
    return Task(model, [{"params": list(model.parameters()), "peak": recipe.rate}], batches, losses)


def _order(count: int, epoch: int, recipe: T5Recipe) -> list[list[int]]:
    """The epoch's batches, decided by seed and epoch alone."""
    dice = torch.Generator().manual_seed(recipe.seed * 1_000_003 + epoch)
    places = torch.randperm(count, generator=dice).tolist()
    return [places[start : start + recipe.batch] for start in range(0, count, recipe.batch)]
