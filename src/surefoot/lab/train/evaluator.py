"""Trains the weights of `surefoot.evaluators.minilm`.

One pass over the lessons of `mixture`, easy ones first, in batches of similar length; AdamW with a short warm-up and a
linear fall to 0; the word vectors stay fixed. The weights that do best on the `fit` half of the development questions
are kept; no lesson touches the articles of these questions, and their other half is never looked at. A stopped run goes
on from its last checkpoint and, on a CPU with as many threads, ends with exactly the weights of an undisturbed run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from surefoot.errors import ConfigError
from surefoot.evaluators.minilm import Pieces, encode
from surefoot.lab.train.mixture import Lesson, Mixture, Row, find, half
from surefoot.lab.train.network import GraderNetwork
from surefoot.lab.train.training import Stopwatch, TrainingProgress, checkpoint, claimed, descend, keep
from surefoot.models.cross_encoder import tokenizer
from surefoot.stats.figures import roc_auc
from surefoot.store import write_text

MADE = "made.json"
"""The file beside the weights that says what they come from."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EvaluatorRecipe:
    """The settings of the training; the shipped weights have the defaults."""

    rate: float = 8e-5
    """AdamW's highest learning rate for the layers."""
    head_rate: float = 5e-4
    """The same for the tensors that start at random: both heads, and the marks of shared pieces."""
    warm_up: float = 0.06
    """Share of the steps in which the rates rise."""
    decay: float = 0.01
    """Weight decay, but not of biases and norms."""
    pieces: int = 160
    """A longer pair is cut at the end, or at the beginning if its evidence stands late."""
    batch_pieces: int = 3600
    """Pieces of a batch, padding included, at most."""
    batch: int = 48
    """Pairs of a batch, at most."""
    evidence: float = 1.0
    """Weight of the evidence loss beside the relevance loss."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    check: int = 400
    """Steps between two looks at the development questions."""
    patience: int = 5
    """Looks without improvement after which training stops."""
    checkpoint: int = 150
    """Steps between checkpoints."""
    dev_pairs: int = 100
    """Pairs of each development file's `fit` half, at most, that a look takes."""
    seed: int = 0


ONWARD = EvaluatorRecipe(rate=4e-5, head_rate=6e-5, pieces=208, checkpoint=40)
"""For a network that is an evaluator already: no tensor starts at random. Passages of manuals are longer."""
NOWHERE = 0.3
"""What a pair without evidence counts in the evidence loss beside one with it. There are three times as many; at the
same weight the head learned above all to say that there is none."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A lesson in numbers."""

    ids: list[int]
    sides: list[int]
    label: float
    weight: float
    starts: list[int] | None
    """Pieces at which evidence begins; [0] where there is none, None where nobody knows."""
    ends: list[int] | None


@dataclass(slots=True)
class _State:
    """The state from which a stopped training goes on."""

    about: str
    """A hash of everything that decides the weights."""
    network: GraderNetwork
    optimiser: Any
    step: int = 0
    looks: list[dict[str, Any]] = field(default_factory=list)
    """The development figures so far: `step`, `mean`, and one a file."""

    @property
    def dev(self) -> float | None:
        """The mean at the last look."""
        return self.looks[-1]["mean"] if self.looks else None

    @property
    def worse(self) -> int:
        """Looks since the best one, the first of equals."""
        means = [look["mean"] for look in self.looks]
        return len(means) - 1 - means.index(max(means)) if means else 0


def train(
    network: GraderNetwork,
    mixture: Mixture,
    folder: Path,
    recipe: EvaluatorRecipe,
    on_progress: Callable[[TrainingProgress], None],
    device: str | None = None,
) -> Path:
    """Train the network, or go on training it, in `folder`; the path of the best weights.

    The folder then holds `checkpoint.pt`, `best.pt`, `log.jsonl` and `made.json`. `device` None: a GPU where there is
    one; two cores do some 25 pairs a second. Raises ConfigError for a mixture without lessons or development questions,
    UsageError where the folder holds another training, and ModelError for a loss that is no number.
    """
    lessons = mixture.lessons(recipe.seed)
    examples = examples_of(lessons, recipe.pieces)
    dev = dev_examples(mixture.dev, recipe)
    if not examples or not dev:
        raise ConfigError("the mixture has no lessons, or no development file with both labels; add a section for them")
    with claimed(folder, folder / "lock"):
        origin, about = made(network, mixture, recipe), _hash(network, lessons, recipe)
        state = _begun(_placed(network, device), about, recipe, folder)
        write_text(folder / MADE, json.dumps(origin, indent=1) + "\n")
        _learn(state, examples, dev, recipe, folder, on_progress)
    return folder / "best.pt"


def made(network: GraderNetwork, mixture: Mixture, recipe: EvaluatorRecipe) -> dict[str, Any]:
    """The origin of a training: this version, the recipe, and hashes of mixture, files and first weights."""
    return {
        "surefoot": version("surefoot"),
        "recipe": asdict(recipe),
        **mixture.about,
        "start": _weights_hash(network),
    }


def _learn(
    state: _State,
    examples: Sequence[TrainingExample],
    dev: dict[str, list[TrainingExample]],
    recipe: EvaluatorRecipe,
    folder: Path,
    on_progress: Callable[[TrainingProgress], None],
) -> None:
    batches = batched(examples, recipe)
    watch, losses = Stopwatch(state.step, len(batches)), list[float]()
    while state.step < len(batches) and state.worse < recipe.patience:
        batch = [examples[i] for i in batches[state.step]]
        losses = [*losses[-49:], _turn(state, batch, len(batches), recipe)]
        state.step = done = state.step + 1
        looked = done % recipe.check == 0 or done == len(batches)
        if looked:
            _look(state, dev, folder)
        if looked or done % recipe.checkpoint == 0:
            parts = {"network": state.network.state_dict(), "optimiser": state.optimiser.state_dict()}
            keep(folder / "checkpoint.pt", {"about": state.about, "step": done, "looks": state.looks, **parts})
        on_progress(watch.progress(done, len(batch), sum(losses) / len(losses), dev=state.dev))


def _turn(state: _State, batch: Sequence[TrainingExample], steps: int, recipe: EvaluatorRecipe) -> float:
    """One step of AdamW; the relevance loss before it."""
    _set_rates(state.optimiser, state.step, steps, recipe)
    state.network.train()
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed * 1_000_003 + state.step)  # so that stops do not change a step's dropout
        relevance, evidence = losses_of(state.network, batch)
    descend(relevance + recipe.evidence * evidence, state.network, state.optimiser, recipe.clip, state.step)
    return float(relevance.detach())


def examples_of(lessons: Sequence[Lesson], most: int) -> list[TrainingExample]:
    """The lessons in numbers; a pair of more than `most` pieces is cut, in front if its evidence stands late."""
    reader = tokenizer()
    found = []
    for start in range(0, len(lessons), 1000):
        part = lessons[start : start + 1000]
        pieces = encode(reader, [(lesson.question, lesson.title, lesson.text) for lesson in part])
        found += [_example(lesson, p, most) for lesson, p in zip(part, pieces, strict=True)]
    return found


def _example(lesson: Lesson, pieces: Pieces, most: int) -> TrainingExample:
    room = most - pieces.first - 1
    spans = [place for span in lesson.spans or () if (place := _place(span, pieces.offsets))]
    skipped = 0
    if spans and spans[0][1] >= room:
        skipped = max(0, min(spans[0][0] - room // 4, len(pieces.offsets) - room))
    ids = [*pieces.ids[: pieces.first], *pieces.ids[pieces.first : -1][skipped : skipped + room], pieces.ids[-1]]
    shift = pieces.first - skipped
    kept = [(a + shift, b + shift) for a, b in spans if a >= skipped and b - skipped < room]
    nowhere = [(0, 0)] if lesson.spans is not None and not lesson.label else []
    where = kept or nowhere
    return TrainingExample(
        ids,
        pieces.sides[: len(ids)],
        float(lesson.label),
        lesson.weight,
        [a for a, _ in where] or None,
        [b for _, b in where] or None,
    )


def _place(span: tuple[int, int], offsets: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first and the last piece that the span of characters touches; None if it touches none."""
    touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
    return (touched[0], touched[-1]) if touched else None


def batched(examples: Sequence[TrainingExample], recipe: EvaluatorRecipe) -> list[list[int]]:
    """The examples of each batch: near each other in the order of learning, and of similar length to save padding."""
    chance = random.Random(recipe.seed)  # noqa: S311
    batches: list[list[int]] = []
    for start in range(0, len(examples), 2048):
        near = sorted(range(start, min(start + 2048, len(examples))), key=lambda i: len(examples[i].ids))
        fresh: list[list[int]] = [[]]
        for i in near:
            full = (len(fresh[-1]) + 1) * len(examples[i].ids) > recipe.batch_pieces or len(fresh[-1]) == recipe.batch
            if full and fresh[-1]:
                fresh.append([])
            fresh[-1].append(i)
        chance.shuffle(fresh)
        batches += fresh
    return batches


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Shape (rows, longest), 0 where a row has ended."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def losses_of(network: GraderNetwork, batch: Sequence[TrainingExample]) -> tuple[Tensor, Tensor]:
    """Relevance loss and evidence loss, each a weighted mean over the pairs that it concerns."""
    relevance, evidence, ids = _read(network, batch)
    labels, weights = (
        torch.tensor(v, device=ids.device) for v in zip(*[(e.label, e.weight) for e in batch], strict=True)
    )
    entropy = functional.binary_cross_entropy_with_logits(relevance, labels, reduction="none")
    loss = (entropy * weights).sum() / weights.sum()
    known = [(i, e) for i, e in enumerate(batch) if e.starts is not None]
    if not known:
        return loss, relevance.new_zeros(())
    evidence = evidence.masked_fill((ids == 0)[:, :, None], -1e4)
    right = torch.zeros_like(evidence, dtype=torch.bool)
    for i, e in known:
        right[i, e.starts or [], 0] = True
        right[i, e.ends or [], 1] = True
    rows = torch.tensor([i for i, _ in known], device=ids.device)
    # The mass on all right places: an answer that occurs twice may be found at either place.
    missed = evidence[rows].logsumexp(1) - evidence[rows].masked_fill(~right[rows], -1e4).logsumexp(1)
    shares = weights[rows] * torch.tensor([1.0 if e.starts != [0] else NOWHERE for _, e in known], device=ids.device)
    return loss, (missed.mean(1) * shares).sum() / shares.sum()


def _read(network: GraderNetwork, batch: Sequence[TrainingExample]) -> tuple[Tensor, Tensor, Tensor]:
    """Relevance and evidence of a batch, and its padded ids."""
    device = network.relevance.weight.device
    ids, sides = padded([e.ids for e in batch]).to(device), padded([e.sides for e in batch]).to(device)
    return *network(ids, sides), ids


def _optimiser(network: GraderNetwork, recipe: EvaluatorRecipe) -> Any:
    network.word.weight.requires_grad_(False)
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, tensor in network.named_parameters():
        if tensor.requires_grad:
            fresh = name.startswith(("shared", "relevance", "evidence"))
            decay = 0.0 if tensor.ndim < 2 else recipe.decay
            groups.setdefault((recipe.head_rate if fresh else recipe.rate, decay), []).append(tensor)
    return torch.optim.AdamW(
        [{"params": list(params), "peak": peak, "weight_decay": decay} for (peak, decay), params in groups.items()]
    )


def _set_rates(optimiser: Any, step: int, steps: int, recipe: EvaluatorRecipe) -> None:
    rising = recipe.warm_up * steps
    share = (step + 1) / rising if step < rising else (steps - step) / (steps - rising)
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def dev_examples(dev: dict[str, list[Row]], recipe: EvaluatorRecipe) -> dict[str, list[TrainingExample]]:
    """Uncropped pairs of each labelled development file's `fit` half: whole questions, until there are `dev_pairs`."""
    chance = random.Random(recipe.seed)  # noqa: S311
    chosen: dict[str, list[TrainingExample]] = {}

    def dev_lesson(row: Row, p: Row) -> Lesson:
        spans = find([str(one) for one in row.get("answers", ())], p["text"]) if p["label"] else ()
        return Lesson(row["question"], p.get("title") or "", p["text"], p["label"], 1.0, spans or None)

    for name, rows in dev.items():
        lessons: list[Lesson] = []
        fit = [row for row in rows if half(row) == "fit"]
        for row in chance.sample(fit, len(fit)):
            if len(lessons) < recipe.dev_pairs:
                lessons += [dev_lesson(row, p) for p in row.get("passages", ()) if p.get("label") is not None]
        if len({lesson.label for lesson in lessons}) == 2:
            chosen[name] = examples_of(lessons, 256)
    return chosen


@torch.no_grad()
def scored(network: GraderNetwork, examples: Sequence[TrainingExample]) -> list[float]:
    """The relevance logit of each example."""
    network.eval()
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    scores = [0.0] * len(examples)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        relevance, *_ = _read(network, [examples[i] for i in part])
        for i, score in zip(part, relevance.tolist(), strict=True):
            scores[i] = score
    return scores


def _look(state: _State, dev: dict[str, list[TrainingExample]], folder: Path) -> None:
    """Measure on the development questions, and keep the weights if they are the best so far."""
    aucs: dict[str, float] = {}
    for name, part in dev.items():
        value = roc_auc(scored(state.network, part), [e.label for e in part]).value
        if value is not None:  # never None, since both labels occur
            aucs[name] = value
    state.looks.append({"step": state.step, "mean": sum(aucs.values()) / len(aucs), **aucs})
    if not state.worse:
        keep(folder / "best.pt", state.network.state_dict())
    write_text(folder / "log.jsonl", "".join(json.dumps(look) + "\n" for look in state.looks))


def _begun(network: GraderNetwork, about: str, recipe: EvaluatorRecipe, folder: Path) -> _State:
    """The state in the checkpoint if there is one, else a new one."""
    state = _State(about, network, _optimiser(network, recipe))
    if kept := checkpoint(folder / "checkpoint.pt", about, network.relevance.weight.device):
        network.load_state_dict(kept["network"])
        state.optimiser.load_state_dict(kept["optimiser"])
        state.step, state.looks = kept["step"], kept["looks"]
        _log.info("going on from step %d", state.step)
    return state


def _hash(network: GraderNetwork, lessons: Sequence[Lesson], recipe: EvaluatorRecipe) -> str:
    """Hash of the first weights, the lessons and the recipe."""
    digest = hashlib.sha256(json.dumps([_weights_hash(network), asdict(recipe)]).encode())
    for lesson in lessons:
        digest.update(repr(lesson).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _weights_hash(network: GraderNetwork) -> str:
    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().data)
    return digest.hexdigest()


def _placed(network: GraderNetwork, device: str | None) -> GraderNetwork:
    wanted = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        network.to(wanted)
    except (RuntimeError, AssertionError) as error:
        said = str(error).partition("\n")[0]
        raise ConfigError(f"the device '{wanted}' cannot be used: {said}; cpu always can") from error
    return network
