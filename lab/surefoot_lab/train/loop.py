"""The training loop of the evaluator, the verifier, the teacher and the paper's T5.

AdamW with a warm-up and a linear fall to 0. The weights that do best on the development examples are kept; without such
examples, the last. A stopped run goes on from its last checkpoint and, on a CPU with as many threads, ends with exactly
the weights of an undisturbed run.
"""

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import torch
from torch import Tensor

from surefoot.run.store import locked, write_text
from surefoot.types.errors import ModelError, UsageError

MADE = "made.json"
"""The file beside the weights that says what they come from."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings that all trainings have."""

    rate: float = 8e-5
    """AdamW's highest learning rate."""
    warm_up: float = 0.06
    """Share of the steps in which the rates rise."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    check: int = 400
    """Steps between two looks at the development examples."""
    checkpoint: int = 150
    """Steps between checkpoints."""
    patience: int | None = None
    """Looks without improvement after which training stops; None: it goes to the end."""
    bfloat16: bool = False
    """True if the layers compute in bfloat16; weights and losses keep float32."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Progress of a training."""

    step: int
    steps: int
    loss: float
    """Mean over the last 50 batches."""
    dev: float | None = None
    """Mean of the last look."""


@dataclass(frozen=True, slots=True)
class Task:
    """A network, and what it learns."""

    network: Any
    groups: Sequence[dict[str, Any]]
    """AdamW's groups of parameters, each with its highest rate as `peak`."""
    batches: Sequence[Sequence[int]]
    """The numbers of the examples of each step."""
    losses: Callable[[Sequence[int]], tuple[Tensor, Tensor]]
    """The loss of a batch that is reported, and the one that is descended."""
    look: Callable[[], Mapping[str, float]] | None = None
    """The figure of each development file: the higher, the better."""


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
    def worse(self) -> int:
        """Looks since the best one, the first of equals."""
        means = [look["mean"] for look in self.looks]
        return len(means) - 1 - means.index(max(means)) if means else 0


def train(
    task: Task,
    recipe: Recipe,
    examples: Sequence[object],
    about: Mapping[str, Any],
    folder: Path,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`; the path of the best weights.

    The folder then holds `checkpoint.pt`, `best.pt`, `made.json` and, if anything was looked at, `log.jsonl`. A
    checkpoint counts for the same first weights, recipe and `examples`, by their repr; `about` tells in `made.json`
    where these come from. Raises UsageError where the folder holds another training, and ModelError for a loss that is
    no number.
    """
    with claimed(folder):
        start = _weights_hash(task.network)
        origin = {"surefoot": version("surefoot"), "recipe": asdict(recipe), **about, "start": start}
        state = _begun(task, _hash([start, origin["recipe"]], examples), folder)
        write_text(folder / MADE, json.dumps(origin, indent=1) + "\n")
        _learn(task, recipe, state, folder, on_progress)
    return folder / "best.pt"


def _learn(
    task: Task, recipe: Recipe, state: _State, folder: Path, on_progress: Callable[[TrainingProgress], None]
) -> None:
    steps, losses = len(task.batches), list[float]()
    while state.step < steps and (recipe.patience is None or state.worse < recipe.patience):
        losses = [*losses[-49:], _step(task, recipe, state)]
        state.step += 1
        looks = state.step % recipe.check == 0 or state.step == steps
        if looks:
            _look(task, recipe, state, folder)
        if looks or state.step % recipe.checkpoint == 0:
            parts = {"network": task.network.state_dict(), "optimiser": state.optimiser.state_dict()}
            keep(folder / "checkpoint.pt", {"about": state.about, "step": state.step, "looks": state.looks, **parts})
        dev = state.looks[-1]["mean"] if state.looks else None
        on_progress(TrainingProgress(state.step, steps, sum(losses) / len(losses), dev))


def _step(task: Task, recipe: Recipe, state: _State) -> float:
    """One step of AdamW; the reported loss before it."""
    set_rates(state.optimiser, state.step, len(task.batches), recipe)
    task.network.train()
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed * 1_000_003 + state.step)  # so that stops do not change a step's dropout
        with _precision(task, recipe):
            reported, loss = task.losses(task.batches[state.step])
    if not torch.isfinite(loss):
        raise ModelError(f"the loss is {loss.item()} after {state.step} steps; give a lower rate, or other data")
    state.optimiser.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(task.network.parameters(), recipe.clip)
    state.optimiser.step()
    return float(reported.detach())


def set_rates(optimiser: Any, step: int, steps: int, recipe: Recipe) -> None:
    """Set each group's rate for this step of all."""
    rising = recipe.warm_up * steps
    share = (step + 1) / rising if step < rising else (steps - step) / (steps - rising)
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * share


def _look(task: Task, recipe: Recipe, state: _State, folder: Path) -> None:
    """Measure on the development examples, and keep the weights if they are the best so far."""
    if task.look:
        with _precision(task, recipe):
            figures = task.look()
        state.looks.append({"step": state.step, "mean": sum(figures.values()) / len(figures), **figures})
        write_text(folder / "log.jsonl", "".join(json.dumps(look) + "\n" for look in state.looks))
    if not state.worse:
        keep(folder / "best.pt", task.network.state_dict())


def _begun(task: Task, about: str, folder: Path) -> _State:
    """The state in the checkpoint if there is one, else a new one."""
    state, path = _State(about, torch.optim.AdamW(task.groups)), folder / "checkpoint.pt"
    if not path.exists():
        return state
    try:
        found = saved(path, _device(task))
    except ModelError as error:
        raise UsageError(f"{path} is damaged; remove it to start again") from error
    if found.get("about") != about:
        raise UsageError(f"{path} is of a training with other data or settings; give those again, or another folder")
    task.network.load_state_dict(found["network"])
    state.optimiser.load_state_dict(found["optimiser"])
    state.step, state.looks = found["step"], found["looks"]
    _log.info("going on from step %d", state.step)
    return state


def _precision(task: Task, recipe: Recipe) -> torch.autocast:
    return torch.autocast(_device(task).type, torch.bfloat16, recipe.bfloat16)


def _device(task: Task) -> Any:
    return next(task.network.parameters()).device


def _hash(settings: object, examples: Sequence[object]) -> str:
    digest = hashlib.sha256(json.dumps(settings).encode())
    for example in examples:
        digest.update(repr(example).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _weights_hash(network: Any) -> str:
    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().data)
    return digest.hexdigest()


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """While this lasts no other process trains in `folder`. Raises UsageError at once where one does."""
    folder.mkdir(parents=True, exist_ok=True)
    busy = UsageError(f"another training is writing {folder}; wait for it, or give another folder")
    with locked(folder / "lock", busy):
        yield


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


def keep(path: Path, value: Any) -> None:
    """Write tensors to a file, whole or not at all, also when the machine stops in the middle."""
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("wb") as file:
        torch.save(value, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def saved(path: Path, device: Any = "cpu") -> Any:
    """A value that `keep` wrote, on the device. Raises ModelError for a file that is missing or damaged."""
    if not is_zipfile(path):  # else torch would take it for a pickle of old, and fail in any way that bytes can
        raise ModelError(f"{path} is missing or damaged; run: surefoot lab train evaluator")
    try:
        return torch.load(path, map_location=device, weights_only=True)
    except (OSError, RuntimeError, EOFError, UnpicklingError) as error:
        raise ModelError(f"{path} is damaged; run: surefoot lab train evaluator") from error
