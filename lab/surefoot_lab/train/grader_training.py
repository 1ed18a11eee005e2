"""The training that the evaluator and the verifier share: both are a `GraderNetwork` and its descendants.

One pass over the examples in batches of similar length; AdamW with a short warm-up and a linear fall to 0; the word
vectors stay fixed. The weights that do best on the development examples are kept. A stopped run goes on from its last
checkpoint and, on a CPU with as many threads, ends with exactly the weights of an undisturbed run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor
from torch.nn import functional

from surefoot.run.store import write_text
from surefoot.stats.figures import roc_auc
from surefoot_lab.train.network import GraderNetwork
from surefoot_lab.train.training import TrainingProgress, checkpoint, claimed, descend, keep

MADE = "made.json"
"""The file beside the weights that says what they come from."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GraderRecipe:
    """The settings that both trainings have."""

    rate: float = 8e-5
    """AdamW's highest learning rate for the layers."""
    head_rate: float = 5e-4
    """The same for the tensors of `heads`."""
    warm_up: float = 0.06
    """Share of the steps in which the rates rise."""
    decay: float = 0.01
    """Weight decay, but not of biases and norms."""
    batch_pieces: int = 3600
    """Pieces of a batch, padding included, at most."""
    batch: int = 48
    """Pairs of a batch, at most."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    check: int = 400
    """Steps between two looks at the development examples."""
    checkpoint: int = 150
    """Steps between checkpoints."""
    bfloat16: bool = False
    """True if the layers compute in bfloat16; weights, losses and looks keep float32."""
    seed: int = 0

    heads: ClassVar[tuple[str, ...]] = ("relevance", "evidence")
    """Beginnings of the names of the tensors that start at random."""


@dataclass(frozen=True, slots=True)
class GraderExample:
    """A labelled pair in numbers."""

    ids: list[int]
    sides: list[int]
    label: float
    weight: float


E = TypeVar("E", bound=GraderExample)


@dataclass(frozen=True, slots=True)
class GraderTask(Generic[E]):
    """A network with its examples and its losses."""

    network: GraderNetwork
    recipe: GraderRecipe
    examples: Sequence[E]
    """In the order of learning."""
    dev: Mapping[str, Sequence[E]]
    """Development examples by file, each with both labels."""
    losses: Callable[[Sequence[E]], tuple[Tensor, Tensor]]
    """The loss of a batch's labels, which is told, and the whole loss, which is descended."""
    patience: int | None = None
    """Looks without improvement after which training stops; None: it goes to the end."""


@dataclass(slots=True)
class _State:
    """The state from which a stopped training goes on."""

    about: str
    """A hash of everything that decides the weights."""
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


def train_grader(
    task: GraderTask[E],
    lessons: Sequence[object],
    about: Mapping[str, Any],
    folder: Path,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`; the path of the best weights.

    The folder then holds `checkpoint.pt`, `best.pt`, `log.jsonl` and `made.json`. A checkpoint counts for the same
    first weights, recipe and `lessons`, by their repr; `about` says in `made.json` where these come from. Raises
    UsageError where the folder holds another training, and ModelError for a loss that is no number.
    """
    with claimed(folder, folder / "lock"):
        origin = made(task.network, about, task.recipe)
        state = _begun(task, _hash(origin, lessons), folder)
        write_text(folder / MADE, json.dumps(origin, indent=1) + "\n")
        _learn(task, state, folder, on_progress)
    return folder / "best.pt"


def made(network: GraderNetwork, about: Mapping[str, Any], recipe: GraderRecipe) -> dict[str, Any]:
    """The origin of a training: this version, the recipe, hashes of lessons and files, and one of the first weights."""
    return {"surefoot": version("surefoot"), "recipe": asdict(recipe), **about, "start": _weights_hash(network)}


def _learn(task: GraderTask[E], state: _State, folder: Path, on_progress: Callable[[TrainingProgress], None]) -> None:
    recipe, batches = task.recipe, batched(task.examples, task.recipe)
    losses = list[float]()
    while state.step < len(batches) and (task.patience is None or state.worse < task.patience):
        batch = [task.examples[i] for i in batches[state.step]]
        losses = [*losses[-49:], _turn(task, state, batch, len(batches))]
        state.step = done = state.step + 1
        looked = done % recipe.check == 0 or done == len(batches)
        if looked:
            _look(task, state, folder)
        if looked or done % recipe.checkpoint == 0:
            parts = {"network": task.network.state_dict(), "optimiser": state.optimiser.state_dict()}
            keep(folder / "checkpoint.pt", {"about": state.about, "step": done, "looks": state.looks, **parts})
        on_progress(TrainingProgress(done, len(batches), sum(losses) / len(losses), dev=state.dev))


def _turn(task: GraderTask[E], state: _State, batch: Sequence[E], steps: int) -> float:
    """One step of AdamW; the loss of the labels before it."""
    _set_rates(state.optimiser, state.step, steps, task.recipe)
    task.network.train()
    with torch.random.fork_rng():
        torch.manual_seed(task.recipe.seed * 1_000_003 + state.step)  # so that stops do not change a step's dropout
        with torch.autocast(task.network.relevance.weight.device.type, torch.bfloat16, task.recipe.bfloat16):
            labels, whole = task.losses(batch)
    descend(whole, task.network, state.optimiser, task.recipe.clip, state.step)
    return float(labels.detach())


def batched(examples: Sequence[GraderExample], recipe: GraderRecipe) -> list[list[int]]:
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


def read(network: GraderNetwork, batch: Sequence[GraderExample]) -> tuple[Tensor, Tensor, Tensor]:
    """The outputs of both heads for a batch, in float32, and its ids: (texts, longest), 0 where a text has ended."""
    device = network.relevance.weight.device
    ids, sides = padded([e.ids for e in batch]).to(device), padded([e.sides for e in batch]).to(device)
    label, places = network(ids, sides)
    return label.float(), places.float(), ids


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Shape (rows, longest), 0 where a row has ended."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def label_loss(logits: Tensor, batch: Sequence[GraderExample]) -> tuple[Tensor, Tensor]:
    """The entropy of the labels, a weighted mean over the batch; and the weights, (texts,)."""
    labels, weights = (
        torch.tensor(v, device=logits.device) for v in zip(*[(e.label, e.weight) for e in batch], strict=True)
    )
    entropy = functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    return (entropy * weights).sum() / weights.sum(), weights


@torch.no_grad()
def scored(network: GraderNetwork, examples: Sequence[GraderExample]) -> list[float]:
    """The first head's logit of each example."""
    network.eval()
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    scores = [0.0] * len(examples)
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        logits, *_ = read(network, [examples[i] for i in part])
        for i, score in zip(part, logits.tolist(), strict=True):
            scores[i] = score
    return scores


def _look(task: GraderTask[E], state: _State, folder: Path) -> None:
    """Measure on the development examples, and keep the weights if they are the best so far."""
    aucs: dict[str, float] = {}
    for name, part in task.dev.items():
        value = roc_auc(scored(task.network, part), [int(e.label) for e in part]).value
        if value is not None:  # never None, since both labels occur
            aucs[name] = value
    state.looks.append({"step": state.step, "mean": sum(aucs.values()) / len(aucs), **aucs})
    if not state.worse:
        keep(folder / "best.pt", task.network.state_dict())
    write_text(folder / "log.jsonl", "".join(json.dumps(look) + "\n" for look in state.looks))


def _optimiser(network: GraderNetwork, recipe: GraderRecipe) -> Any:
    network.word.weight.requires_grad_(False)
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, tensor in network.named_parameters():
        if tensor.requires_grad:
            peak = recipe.head_rate if name.startswith(recipe.heads) else recipe.rate
            groups.setdefault((peak, 0.0 if tensor.ndim < 2 else recipe.decay), []).append(tensor)
    return torch.optim.AdamW(
        [{"params": list(params), "peak": peak, "weight_decay": decay} for (peak, decay), params in groups.items()]
    )


def _set_rates(optimiser: Any, step: int, steps: int, recipe: GraderRecipe) -> None:
    rising = recipe.warm_up * steps
    share = (step + 1) / rising if step < rising else (steps - step) / (steps - rising)
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def _begun(task: GraderTask[E], about: str, folder: Path) -> _State:
    """The state in the checkpoint if there is one, else a new one."""
    network, state = task.network, _State(about, _optimiser(task.network, task.recipe))
    if selected := checkpoint(folder / "checkpoint.pt", about, network.relevance.weight.device):
        network.load_state_dict(selected["network"])
        state.optimiser.load_state_dict(selected["optimiser"])
        state.step, state.looks = selected["step"], selected["looks"]
        _log.info("going on from step %d", state.step)
    return state


def _hash(origin: Mapping[str, Any], lessons: Sequence[object]) -> str:
    """Hash of the first weights, the recipe and the lessons."""
    digest = hashlib.sha256(json.dumps([origin["start"], origin["recipe"]]).encode())
    for lesson in lessons:
        digest.update(repr(lesson).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _weights_hash(network: GraderNetwork) -> str:
    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().data)
    return digest.hexdigest()
