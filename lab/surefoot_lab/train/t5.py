"""Trains any T5 as CRAG's evaluator was trained: `surefoot lab train t5`.

The recipe: a sequence classifier with one output on the base T5, mean squared error to +1 and -1, AdamW at 1e-4 falling
linearly to 0, batches of 12, 8 epochs, gradients clipped at 1, 512 pieces, all weights trained. A pair is a question
and a retrieved passage, +1 where the passage's title is the page of the question's subject.

This differs from CRAG's script only in cost: batches are padded to their longest input, not to 512, and a stopped run
goes on where it was, with as many threads to exactly the same weights.
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
from surefoot_lab.train.training import Stopwatch, TrainingProgress, claimed, descend, keep
from surefoot_lab.train.training import checkpoint as kept_state

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


@dataclass(slots=True)
class _T5State:
    """The state from which a stopped training goes on."""

    about: str
    """A hash of everything that decides the weights."""
    model: Any
    optimiser: Any
    losses: list[float]
    """One a step."""


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
    every: int = 200,
    device: str | None = None,
    on_step: Callable[[TrainingProgress], None] = lambda progress: None,
) -> Trained:
    """Fine-tune the T5 in the folder `start`, and write the evaluator's folder `out`, whole or not at all.

    After `every` steps and after each epoch a checkpoint is kept in `out`.training, three times the model's size, until
    `out` is there. The same call goes on from it, even after `kill -9`, and ends with the weights of a run that was
    never stopped. `device` None: a GPU where there is one. Raises UsageError where `out` exists or another training
    writes it, and ModelError for a start that is no T5 or a loss that is no number.
    """
    check_task(recipe.task)
    _require_sizes(recipe, every)
    selected = out.with_name(f"{out.name}.training")
    with claimed(out, out.with_name(f"{out.name}.lock")), torch.random.fork_rng():
        if out.exists():
            raise UsageError(f"{out} is there already; give another folder")
        checkpoint = open_t5(start, device, recipe.seed)
        inputs, targets = _inputs(checkpoint, data, recipe)
        state = _begun(checkpoint, _hash([checkpoint.fingerprint(), asdict(recipe), _hash(data)]), recipe, selected)
        _learn(checkpoint, inputs, targets, state, recipe, every, selected, on_step)
        done = _report(out, targets, state.losses, recipe)
        _publish(checkpoint, done, {"start": start, "data": _hash(data), "recipe": asdict(recipe)})
        selected.unlink(missing_ok=True)
    return done


def _learn(
    checkpoint: Checkpoint,
    inputs: Sequence[Encoding],
    targets: Sequence[float],
    state: _T5State,
    recipe: T5Recipe,
    every: int,
    selected: Path,
    on_step: Callable[[TrainingProgress], None],
) -> None:
    per_epoch = -(-len(inputs) // recipe.batch)
    steps = per_epoch * recipe.epochs
    watch = Stopwatch(len(state.losses), steps)
    state.model.train()
    for step in range(watch.first, steps):
        chosen = _order(len(inputs), step // per_epoch, recipe)[step % per_epoch]
        tensors = checkpoint.tensors([inputs[place] for place in chosen])
        goal = torch.tensor([targets[place] for place in chosen], device=state.model.device)
        state.losses.append(_turn(state, tensors, goal, recipe.rate * (1 - step / steps), recipe.clip))
        if (step + 1) % every == 0 or (step + 1) % per_epoch == 0:
            _keep(state, selected)
        on_step(watch.progress(step + 1, len(chosen), state.losses[-1], epoch=step // per_epoch + 1))
    state.model.eval()


def _turn(state: _T5State, tensors: dict[str, Any], goal: Any, rate: float, clip: float) -> float:
    """One step of AdamW; the batch's loss before it."""
    loss = torch.nn.functional.mse_loss(state.model(**tensors).logits[:, 0], goal)
    for group in state.optimiser.param_groups:
        group["lr"] = rate
    descend(loss, state.model, state.optimiser, clip, len(state.losses))
    return float(loss.item())


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


def _begun(checkpoint: Checkpoint, about: str, recipe: T5Recipe, selected: Path) -> _T5State:
    """The state in the checkpoint if there is one, else a new one."""
    model = checkpoint.model
    state = _T5State(about, model, torch.optim.AdamW(model.parameters(), lr=recipe.rate), [])
    torch.manual_seed(recipe.seed)
    if saved := kept_state(selected, about, model.device):
        model.load_state_dict(saved["model"])
        state.optimiser.load_state_dict(saved["optimiser"])
        state.losses = saved["losses"]
        torch.set_rng_state(saved["dice"].cpu())
        if saved["cuda_dice"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all([dice.cpu() for dice in saved["cuda_dice"]])
    return state


def _keep(state: _T5State, selected: Path) -> None:
    saved = {
        "about": state.about,
        "model": state.model.state_dict(),
        "optimiser": state.optimiser.state_dict(),
        "losses": state.losses,
        "dice": torch.get_rng_state(),
        "cuda_dice": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    keep(selected, saved)


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


def _require_sizes(recipe: T5Recipe, every: int) -> None:
    sizes = {"epochs": recipe.epochs, "batch": recipe.batch, "every": every, "rate": recipe.rate, "clip": recipe.clip}
    for name, size in sizes.items():
        if not size > 0:
            raise ConfigError(f"{name} must be more than 0, not {size}")
