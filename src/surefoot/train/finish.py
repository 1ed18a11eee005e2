"""From the best weights to an evaluator that can be used: int8, calibrated, with thresholds of its own.

Half of the development questions, by a hash of their ids, fit the calibration and the thresholds, in the very precision
in which the evaluator runs; the other half is left to be measured on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import calibration
from surefoot.bench import pairs, tune
from surefoot.bench.evaluator import graded
from surefoot.bench.pairs import LabelledPair, LabelledSet
from surefoot.calibration import Calibration
from surefoot.errors import ConfigError
from surefoot.evaluators.minilm import FORMAT, MiniLM
from surefoot.store import to_json, write_text
from surefoot.train.export import export
from surefoot.train.mixture import Mixture
from surefoot.train.network import restored
from surefoot.types import Thresholds

AIM = tune.Aim(target=0.2, discard_target=0.2, strip_target=0.1)
"""What the shipped thresholds keep."""
QUESTIONS = 150
"""Of each file, at most so many fit: a large one says no more about what is asked elsewhere."""
MARGINS = (-8.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0)
"""By how much evidence must beat "no answer here": the least of these with which it is `SILENT`. At 0 it would say "no
answer" too often, as most lessons hold none."""
SILENT = 0.5
"""In so many of the irrelevant passages it points at nothing, each file counting the same. Not in more: what it points
at is looked at only where the score is good, and there "no answer" is wrong more often than right."""
POINTED = 12
"""Questions of each file that the margin is chosen on."""

OnDone = Callable[[int, int], None]


def finish(best: Path, mixture: Mixture, folder: Path, on_done: OnDone) -> Path:
    """Write `minilm.onnx` and `minilm.json` to `folder`, and the development files to its `dev`; the folder.

    `dev/fit` and `dev/test` are the halves. `on_done` is told of pairs. Some minutes. Raises ConfigError when the
    development questions are too few to show that any thresholds keep `AIM`.
    """
    export(restored(best), folder / "minilm.onnx")
    mixture.write_dev(folder / "dev")
    paths = sorted((folder / "dev/fit").glob("*.jsonl"))
    margin = _margin(folder, [_irrelevant(path) for path in paths], on_done)
    files = {path.stem: pairs.read(path, QUESTIONS) for path in paths}
    evaluator = _evaluator(folder, margin)
    fitted = _calibrated(evaluator, list(files.values()), on_done)
    searched = [thinned(file) for name, file in files.items() if name in mixture.searched]
    found = tune.run(evaluator, searched, on_done, AIM)
    if not found.thresholds:
        why = "; ".join(
            choice.reason for choice in (found.fit.upper, found.fit.lower, found.fit.strip) if choice.reason
        )
        raise ConfigError(f"no thresholds for this evaluator: {why}")
    _write_card(folder, margin, fitted, found.thresholds)
    return folder


def thinned(file: LabelledSet) -> LabelledSet:
    """The file as if retrieval had failed one question in three: what is relevant there is taken out.

    Most labelled questions have a relevant passage, as somebody had to label it. Where none lacks one, a threshold
    that calls every question CORRECT is never wrong, and none can be shown below which INCORRECT is right.
    """
    failed = {pair.question_id for pair in file.pairs if blake2b(pair.question.encode()).digest()[1] % 3 == 0}
    kept = tuple(pair for pair in file.pairs if not (pair.label and pair.question_id in failed))
    return replace(file, pairs=kept)


def _calibrated(evaluator: MiniLM, files: Sequence[LabelledSet], on_done: OnDone) -> Calibration:
    """Every file counts the same: a large one must not speak for the others."""
    every = [(pair, 1 / len(file.pairs)) for file in files for pair in file.pairs]
    grades = graded(evaluator, [pair for pair, _ in every], on_done).grades
    known = [(g.score, p.label, weight) for g, (p, weight) in zip(grades, every, strict=True) if g.score is not None]
    scores, labels, weights = zip(*known, strict=True)
    return calibration.fit(scores, labels, weights)


def _margin(folder: Path, files: Sequence[Sequence[LabelledPair]], on_done: OnDone) -> float:
    for margin in MARGINS:
        evaluator = _evaluator(folder, margin)
        grades = [graded(evaluator, file, on_done).grades for file in files if file]
        if grades and np.mean([np.mean([grade.span is None for grade in part]) for part in grades]) >= SILENT:
            return margin
    return MARGINS[-1]


def _irrelevant(path: Path) -> list[LabelledPair]:
    return [pair for pair in pairs.read(path, POINTED).pairs if not pair.label]


def _evaluator(folder: Path, margin: float) -> MiniLM:
    """With this margin, and without a calibration and thresholds so far."""
    _write_card(folder, margin, Calibration((0.0,), (0.5,)), Thresholds(0.0, 0.0, 0.0, ""))
    return MiniLM(str(folder))


def _write_card(folder: Path, margin: float, fitted: Calibration, thresholds: Thresholds) -> None:
    kept = {key: value for key, value in to_json(thresholds).items() if key != "evaluator"}
    card: dict[str, Any] = {
        "format": FORMAT,
        "sha256": hashlib.sha256((folder / "minilm.onnx").read_bytes()).hexdigest(),
        "thresholds": kept,
        "evidence": {"margin": margin},
        "calibration": {"logits": fitted.scores, "probabilities": fitted.probabilities},
    }
    write_text(folder / "minilm.json", json.dumps(card, indent=1) + "\n")
