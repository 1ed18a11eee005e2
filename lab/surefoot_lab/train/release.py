"""Puts a trained network in place with its card, and makes one network of several trainings."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from surefoot.models.cross_encoder import FORMAT
from surefoot.run.store import write_text
from surefoot.stats.calibration import Calibration
from surefoot.text.json_values import parsed
from surefoot.types.errors import ModelError
from surefoot_lab.train.export import imported
from surefoot_lab.train.loop import MADE, claimed, keep, saved
from surefoot_lab.train.network import GraderNetwork, restored

UNFITTED = Calibration((0.0,), (0.5,))
"""For a first card, with which the network runs while its calibration is fitted."""


@contextmanager
def releasing(folder: Path) -> Iterator[Path]:
    """A working folder, whose contents replace those of `folder` at the end, its JSON files last; after a failure
    nothing is replaced. Raises UsageError where another process writes the folder."""
    with claimed(folder):
        work = folder / ".finishing"
        shutil.rmtree(work, ignore_errors=True)  # of a process that was killed
        work.mkdir()
        try:
            yield work
            for path in sorted(work.iterdir(), key=lambda path: (path.suffix == ".json", path.name)):
                if path.is_dir():
                    shutil.rmtree(folder / path.name, ignore_errors=True)
                os.replace(path, folder / path.name)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def write_card(work: Path, own: dict[str, Any], fitted: Calibration, best: Path | None = None) -> None:
    """Write `minilm.json` with the hash of the `minilm.onnx` beside it, `own` and the calibration.

    `best`: the weights that the network is of; if their training left its `made.json` beside them, the card holds it.
    """
    card: dict[str, Any] = {
        "format": FORMAT,
        "sha256": _sha256(work / "minilm.onnx"),
        **own,
        "calibration": {"logits": fitted.scores, "probabilities": fitted.probabilities},
    }
    if best and (origin := best.with_name(MADE)).exists():
        card["made"] = parsed(origin.read_text(encoding="utf-8"))
    write_text(work / "minilm.json", json.dumps(card, indent=1) + "\n")


def average(paths: Sequence[Path], folder: Path, kind: type[GraderNetwork]) -> Path:
    """Write the mean of these weights to `best.pt` in the folder, their hashes to `made.json`; returns the former path.

    Trainings that begin at the same weights mostly end in the same valley of the loss. Its middle is often better than
    each of them, and costs no more to run (Wortsman et al. 2022, "model soups"). Each path is a `best.pt`, a
    `checkpoint.pt` for the last weights of a training, or an evaluator's `minilm.onnx`; all count the same, and one
    that is given twice counts twice. Raises ModelError for another file, for weights of another shape than the first,
    and for those of another `kind`.
    """
    read = [_weights(path) for path in paths]
    shapes = [{name: tensor.shape for name, tensor in weights.items()} for weights in read]
    if odd := [path for path, shape in zip(paths, shapes, strict=True) if shape != shapes[0]]:
        raise ModelError(f"{odd[0]} is of another shape than {paths[0]}; only trainings of one network can be averaged")
    mean = {
        name: (sum(weights[name].float() for weights in read) / len(read)).to(tensor.dtype)
        for name, tensor in read[0].items()
    }
    with claimed(folder):
        keep(folder / "best.pt", mean)
        write_text(folder / MADE, json.dumps({"average": [_sha256(path) for path in paths]}, indent=1) + "\n")
    restored(folder / "best.pt", kind)
    return folder / "best.pt"


def _weights(path: Path) -> dict[str, torch.Tensor]:
    if path.suffix == ".onnx":
        return dict(imported(path).state_dict())
    found: Any = saved(path)
    weights: dict[str, Any] | None = found.get("network", found) if isinstance(found, dict) else None
    if not weights or not all(isinstance(tensor, torch.Tensor) for tensor in weights.values()):
        raise ModelError(f"{path} holds no weights of a training; give the best.pt or the checkpoint.pt of a training")
    return weights


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
