"""Turns the best weights into a usable evaluator: int8, calibrated, with thresholds of its own.

Calibration and thresholds are fitted on half of the development questions, in the precision in which the evaluator
runs; the other half is left to measure on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from onnxruntime import InferenceSession

from surefoot.evaluate.ask.runs import OnDone
from surefoot.evaluators.minilm import MiniLM, Pieces, encode, pointed, windows
from surefoot.models.cross_encoder import Logits, tokenizer
from surefoot.run.store import to_json
from surefoot.stats.calibration import Calibration
from surefoot.types import Grade, Thresholds
from surefoot.types.errors import ConfigError
from surefoot_lab import isotonic, risk_control, tuning
from surefoot_lab.datasets import pairs
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.grading import graded
from surefoot_lab.train.export import export
from surefoot_lab.train.mixture import Mixture
from surefoot_lab.train.network import GraderNetwork, restored
from surefoot_lab.train.release import UNFITTED, releasing, write_card

AIM = risk_control.Aim(target=0.2, discard_target=0.3, strip_target=0.1)
"""The error shares that the shipped thresholds keep to."""
QUESTIONS = 150
"""Questions of each file to fit on, at most: more of a large file say nothing about other questions."""
MARGINS = tuple(step / 2 for step in range(-24, 1))
"""By how much evidence must beat "no answer here". The least of these is taken with which the evaluator is `SILENT`
enough; at 0 it would say "no answer" too often, since most examples have none."""
SILENT = 0.5
"""Share of the irrelevant passages in which it points at nothing, each file counting the same. No more is wanted: only
passages with a good score are looked at, and there "no answer" is mostly wrong."""
POINTED = 12
"""Questions of each file to choose the margin on."""


def require_questions(mixture: Mixture) -> None:
    """Before a training: raise ConfigError where even an evaluator that never errs could not be shown to keep `AIM`."""
    if not mixture.searched:
        raise ConfigError("no file of the mixture has searched = true; thresholds are fitted on such files")
    with TemporaryDirectory() as folder:
        files = _searched(_fitting(mixture, Path(folder)), mixture)
    grades = [[Grade(pair.passage.id, float(pair.label)) for pair in file.pairs] for file in files]
    queries = [one for file, some in zip(files, grades, strict=True) for one in tuning.questions(file.pairs, some)]
    if why := _why(risk_control.fit(queries, AIM)):
        raise ConfigError(f"the mixture has {len(queries)} questions to fit thresholds on, which are too few: {why}")


def finish(best: Path, mixture: Mixture, folder: Path, on_done: OnDone) -> Path:
    """Write `minilm.onnx` and `minilm.json` to `folder`, and the development files to its `dev`; returns the folder.

    `dev/fit` and `dev/test` are the halves. `on_done` gets the pairs done and to do. Takes some minutes. The files are
    put in place at the end, the JSON file last. Raises ConfigError when there are too few development questions to show
    that any thresholds keep `AIM`.
    """
    with releasing(folder) as work:
        export(restored(best, GraderNetwork), work / "minilm.onnx")
        files = _fitting(mixture, work / "dev")
        few = [pairs.read(file.path, POINTED).pairs for file in files.values()]
        margin = _margin(work / "minilm.onnx", [[pair for pair in some if not pair.label] for some in few], on_done)
        write_card(work, _own(margin, Thresholds(0.0, 0.0, 0.0, "")), UNFITTED)
        evaluator = MiniLM(str(work))
        fitted = _calibrated(evaluator, list(files.values()), on_done)
        found = tuning.run(evaluator, _searched(files, mixture), on_done, AIM)
        if not found.thresholds:
            raise ConfigError(f"no thresholds for this evaluator: {_why(found.fit)}")
        about = f"{found.thresholds.fitted_on}; shares of such data, of which a file gave at most {QUESTIONS} questions"
        write_card(work, _own(margin, replace(found.thresholds, fitted_on=about)), fitted, best)
    return folder


def _fitting(mixture: Mixture, folder: Path) -> dict[str, LabelledSet]:
    """Write the development files to the folder; the pairs to fit the calibration on, by file."""
    mixture.write_dev(folder)
    return {path.stem: pairs.read(path, QUESTIONS) for path in sorted((folder / "fit").glob("*.jsonl"))}


def _searched(files: dict[str, LabelledSet], mixture: Mixture) -> tuple[LabelledSet, ...]:
    """The pairs to fit the thresholds on."""
    return tuning.thinned([file for name, file in files.items() if name in mixture.searched])


def _why(fitted: risk_control.Fit) -> str:
    """Why there are no thresholds; empty where there are."""
    return "; ".join(choice.reason for choice in (fitted.upper, fitted.lower, fitted.strip) if choice.reason)


def _calibrated(evaluator: MiniLM, files: Sequence[LabelledSet], on_done: OnDone) -> Calibration:
    """Every file counts the same, so that a large one does not speak for the others."""
    every = [(pair, 1 / len(file.pairs)) for file in files for pair in file.pairs]
    grades = graded(evaluator, [pair for pair, _ in every], on_done).grades
    known = [(g.score, p.label, weight) for g, (p, weight) in zip(grades, every, strict=True) if g.score is not None]
    scores, labels, weights = zip(*known, strict=True)
    return isotonic.fit(scores, labels, weights)


def _margin(model: Path, files: Sequence[Sequence[LabelledPair]], on_done: OnDone) -> float:
    """The margin of `MARGINS` to use. Reads each pair once, and tries every margin on the outputs."""
    session, reader = InferenceSession(str(model), providers=["CPUExecutionProvider"]), tokenizer()
    total, read = sum(map(len, files)), list[list[tuple[Logits, Pieces]]]()
    for file in filter(None, files):
        pieces = encode(reader, [(pair.question, pair.passage.title, pair.passage.text) for pair in file])
        read.append([_best(session, one) for one in pieces])
        on_done(sum(map(len, read)), total)
    for margin in MARGINS if read else ():
        if np.mean([np.mean([pointed(*one, margin) is None for one in part]) for part in read]) >= SILENT:
            return margin
    return MARGINS[-1]


def _best(session: InferenceSession, pieces: Pieces) -> tuple[Logits, Pieces]:
    """The evidence of the best window, and its pieces."""
    parts = [part for part, _ in windows(pieces)]
    feeds = [{"ids": np.array([part.ids], np.int64), "sides": np.array([part.sides], np.int64)} for part in parts]
    reply = [session.run(None, feed) for feed in feeds]
    best = max(range(len(reply)), key=lambda i: float(reply[i][0][0]))
    return reply[best][1][0], parts[best]


def _own(margin: float, thresholds: Thresholds) -> dict[str, Any]:
    """The evaluator's own part of the card."""
    selected = {key: value for key, value in to_json(thresholds).items() if key != "evaluator"}
    return {"thresholds": selected, "evidence": {"margin": margin}}
