"""Trains the weights of `surefoot.evaluators.minilm`, and makes them a usable evaluator.

One pass over the examples of `mixture`, easy ones first. The weights that do best on the `fit` half of the development
questions are kept; no example touches the articles of these questions, and their other half is never looked at.
Calibration and thresholds are fitted on the same half, in the precision in which the evaluator runs (int8); the other
half is left to measure on.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from onnxruntime import InferenceSession
from torch import Tensor

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
from surefoot_lab.train.examples import Row, TrainingExample, find
from surefoot_lab.train.export import UNFITTED, export, write_card
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, in_parts, label_loss, read, train_grader
from surefoot_lab.train.loop import TrainingProgress, releasing
from surefoot_lab.train.mixture import Mixture, half
from surefoot_lab.train.network import GraderNetwork, restored

ONWARD = GraderRecipe(rate=4e-5, head_rate=6e-5, pieces=208, checkpoint=40)
"""For a network that is an evaluator already: no tensor starts at random. Passages of manuals are longer."""
NOWHERE = 0.3
"""What a pair without evidence counts in the evidence loss beside one with it. There are three times as many; at the
same weight the head learned above all to say that there is none."""
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


def train(
    network: GraderNetwork,
    mixture: Mixture,
    folder: Path,
    recipe: GraderRecipe,
    on_progress: Callable[[TrainingProgress], None],
    device: str | None = None,
) -> Path:
    """Train the network, or go on training it, in `folder`, as `train_grader` does; the path of the best weights.

    `device` None: a GPU where there is one; two cores do some 25 pairs a second. Raises ConfigError for a device that
    is not there; else as `train_grader`.
    """
    examples, dev, placed = mixture.examples(recipe.seed), dev_examples(mixture.dev, recipe), _placed(network, device)
    return train_grader(placed, recipe, examples, encoded_examples, dev, losses_of, mixture.about, folder, on_progress)


def encoded_examples(examples: Sequence[TrainingExample], most: int) -> list[EncodedExample]:
    """The examples in numbers; a pair of more than `most` pieces is cut, in front if its evidence stands late.

    Its marks are the pieces at which evidence begins, and those at which it ends: both [0] where there is none.
    """
    triples = [(one.text, one.context, one.evidence) for one in examples]
    return [_encoded(one, p, most) for one, p in zip(examples, in_parts(encode, triples), strict=True)]


def _encoded(one: TrainingExample, pieces: Pieces, most: int) -> EncodedExample:
    room = most - pieces.first - 1
    spans = [place for span in one.spans or () if (place := _place(span, pieces.offsets))]
    skipped = 0
    if spans and spans[0][1] >= room:
        skipped = max(0, min(spans[0][0] - room // 4, len(pieces.offsets) - room))
    ids = [*pieces.ids[: pieces.first], *pieces.ids[pieces.first : -1][skipped : skipped + room], pieces.ids[-1]]
    shift = pieces.first - skipped
    where = [(a + shift, b + shift) for a, b in spans if a >= skipped and b - skipped < room]
    if not where and one.spans is not None and not one.label:
        where = [(0, 0)]
    marks = ([a for a, _ in where], [b for _, b in where]) if where else None
    target = float(one.label) if one.target is None else one.target
    return EncodedExample(ids, pieces.sides[: len(ids)], target, one.weight, marks)


def _place(span: tuple[int, int], offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first and the last piece that the span of characters touches; None if it touches none."""
    touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
    return (touched[0], touched[-1]) if touched else None


def losses_of(network: GraderNetwork, batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor]:
    """Relevance loss and evidence loss, each a weighted mean over the pairs that it concerns."""
    relevance, evidence, ids = read(network, batch)
    loss, weights = label_loss(relevance, batch)
    known = [(i, e.marks) for i, e in enumerate(batch) if e.marks]
    if not known:
        return loss, relevance.new_zeros(())
    evidence = evidence.masked_fill((ids == 0)[:, :, None], -1e4)
    right = torch.zeros_like(evidence, dtype=torch.bool)
    for i, marks in known:
        for end in (0, 1):
            right[i, marks[end], end] = True
    rows = torch.tensor([i for i, _ in known], device=ids.device)
    # The mass on all right places: an answer that occurs twice may be found at either place.
    missed = evidence[rows].logsumexp(1) - evidence[rows].masked_fill(~right[rows], -1e4).logsumexp(1)
    shares = torch.tensor([NOWHERE if marks[0] == [0] else 1.0 for _, marks in known], device=ids.device)
    shares = weights[rows] * shares
    return loss, (missed.mean(1) * shares).sum() / shares.sum()


def dev_examples(dev: dict[str, list[Row]], recipe: GraderRecipe) -> dict[str, list[EncodedExample]]:
    """Uncropped pairs of each labelled development file's `fit` half: whole questions, until there are `recipe.dev`."""
    chance = random.Random(recipe.seed)  # noqa: S311
    chosen: dict[str, list[EncodedExample]] = {}
    for name, rows in dev.items():
        examples: list[TrainingExample] = []
        fit = [row for row in rows if half(row) == "fit"]
        for row in chance.sample(fit, len(fit)):
            if len(examples) < recipe.dev:
                examples += [_dev_example(row, p) for p in row.get("passages", ()) if p.get("label") is not None]
        if len({one.label for one in examples}) == 2:
            chosen[name] = encoded_examples(examples, 256)
    return chosen


def _dev_example(row: Row, p: Row) -> TrainingExample:
    spans = find([str(one) for one in row.get("answers", ())], p["text"]) if p["label"] else ()
    return TrainingExample(row["question"], p.get("title") or "", p["text"], p["label"], spans or None)


def _placed(network: GraderNetwork, device: str | None) -> GraderNetwork:
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        network.to(wanted)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"the device '{wanted}' cannot be used: {reason}; cpu always can") from error
    return network


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
