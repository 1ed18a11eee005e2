"""Parts that the trainings with torch share: a claim on the result, checkpoints to go on from, one step, progress."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import torch
from filelock import FileLock, Timeout
from torch import Tensor

from surefoot.types.errors import ModelError, UsageError


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Progress of a training."""

    step: int
    steps: int
    loss: float
    """Of the last batch, or the mean over the last ones."""
    dev: float | None = None
    """Mean ROC-AUC over the development files, at the last look."""
    epoch: int | None = None
    """From 1; None: there is only one."""


@contextmanager
def claimed(made: Path, lock: Path) -> Iterator[None]:
    """While this lasts no other process makes `made`. Raises UsageError at once where one is doing so."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(lock).acquire(timeout=0):
            yield
    except Timeout as error:
        raise UsageError(f"another training is writing {made}; wait for it, or give another folder") from error


def keep(path: Path, value: Any) -> None:
    """Write tensors to a file, whole or not at all, also when the machine stops in the middle."""
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def saved(path: Path, device: Any = "cpu") -> Any:
    """A value that `torch.save` wrote, on the device. Raises ModelError for a file that is missing or damaged."""
    if not is_zipfile(path):  # else torch would take it for a pickle of old, and fail in any way that bytes can
        raise ModelError(f"{path} is missing or damaged; run: surefoot lab train evaluator")
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise ModelError(f"{path} is damaged; run: surefoot lab train evaluator") from error


def checkpoint(path: Path, about: str, device: Any) -> dict[str, Any] | None:
    """The state of a stopped training that `about` describes; None where none was kept.

    Raises UsageError where the file is damaged, or of a training with another `about`.
    """
    if not path.exists():
        return None
    try:
        selected: dict[str, Any] = saved(path, device)
    except ModelError as error:
        raise UsageError(f"{path} is damaged; remove it to start again") from error
    if selected.get("about") != about:
        raise UsageError(f"{path} is of a training with other data or settings; give those again, or another folder")
    return selected


def descend(loss: Tensor, model: Any, optimiser: Any, clip: float, steps: int) -> None:
    """One step of the optimiser after `steps` others, its gradient no longer than `clip`.

    Raises ModelError for a loss that is no number.
    """
    if not torch.isfinite(loss):
        raise ModelError(f"the loss is {loss.item()} after {steps} steps; give a lower rate, or other data")
    optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
