"""Puts a trained network in place with its card, for the evaluator and for the verifier."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.models.cross_encoder import FORMAT
from surefoot.run.store import write_text
from surefoot.stats.calibration import Calibration
from surefoot.text.json_values import parsed
from surefoot_lab.train.grader_training import MADE
from surefoot_lab.train.training import claimed

UNFITTED = Calibration((0.0,), (0.5,))
"""For a first card, with which the network runs while its calibration is fitted."""


@contextmanager
def releasing(folder: Path) -> Iterator[Path]:
    """A working folder for `dev`, `minilm.onnx` and `minilm.json`.

    At the end these replace those of `folder`, the JSON file last; after a failure nothing is replaced. Raises
    UsageError where another process writes the folder.
    """
    with claimed(folder, folder / "lock"):
        work = folder / ".finishing"
        shutil.rmtree(work, ignore_errors=True)  # of a process that was killed
        try:
            yield work
            shutil.rmtree(folder / "dev", ignore_errors=True)
            for name in ("dev", "minilm.onnx", "minilm.json"):
                os.replace(work / name, folder / name)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def write_card(work: Path, own: dict[str, Any], fitted: Calibration, best: Path | None = None) -> None:
    """Write `minilm.json` with the hash of the `minilm.onnx` beside it, `own` and the calibration.

    `best`: the weights that the network is of; if their training left its `made.json` beside them, the card holds it.
    """
    card: dict[str, Any] = {
        "format": FORMAT,
        "sha256": hashlib.sha256((work / "minilm.onnx").read_bytes()).hexdigest(),
        **own,
        "calibration": {"logits": fitted.scores, "probabilities": fitted.probabilities},
    }
    if best and (origin := best.with_name(MADE)).exists():
        card["made"] = parsed(origin.read_text(encoding="utf-8"))
    write_text(work / "minilm.json", json.dumps(card, indent=1) + "\n")
