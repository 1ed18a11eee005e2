"""Makes one network of several trainings, by the mean of their weights.

Trainings that begin at the same weights mostly end in the same valley of the loss. Its middle is often better than each
of them, and costs no more to run (Wortsman et al. 2022, "model soups").
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from surefoot.run.store import write_text
from surefoot.types.errors import ModelError
from surefoot_lab.train.export import imported
from surefoot_lab.train.grader_training import MADE
from surefoot_lab.train.network import restored
from surefoot_lab.train.training import claimed, keep, saved


def average(paths: Sequence[Path], folder: Path, restore: Callable[[Path], object] = restored) -> Path:
    """Write the mean of these weights to `best.pt` in the folder, their hashes to `made.json`; returns the former path.

    Each path is a `best.pt`, a `checkpoint.pt` for the last weights of a training, or an evaluator's `minilm.onnx`; all
    count the same, and one that is given twice counts twice. `restore` reads what is written, as what it is to be.
    Raises ModelError for another file, or for weights of another shape than the first.
    """
    read = [_weights(path) for path in paths]
    shapes = [{name: tensor.shape for name, tensor in weights.items()} for weights in read]
    if odd := [path for path, shape in zip(paths, shapes, strict=True) if shape != shapes[0]]:
        raise ModelError(f"{odd[0]} is of another shape than {paths[0]}; only trainings of one network can be averaged")
    mean = {
        name: (sum(weights[name].float() for weights in read) / len(read)).to(tensor.dtype)
        for name, tensor in read[0].items()
    }
    with claimed(folder, folder / "lock"):
        keep(folder / "best.pt", mean)
        hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]
        write_text(folder / MADE, json.dumps({"average": hashes}, indent=1) + "\n")
    restore(folder / "best.pt")
    return folder / "best.pt"


def _weights(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix == ".onnx":
        return dict(imported(path).state_dict())
    found: Any = saved(path)
    weights: dict[str, Any] | None = found.get("network", found) if isinstance(found, dict) else None
    if not weights or not all(isinstance(tensor, torch.Tensor) for tensor in weights.values()):
        raise ModelError(f"{path} holds no weights of a training; give the best.pt or the checkpoint.pt of a training")
    return weights
