"""Trains the weights of `surefoot.verifiers.minilm`.

The body is the evaluator's, which has learned to hold a question against a passage; the heads are new: one says
whether the evidence carries the claim, the other which of the claim's pieces it does not. One pass over the lessons of
`claims` in batches of similar length; AdamW with a short warm-up and a linear fall to 0; the word vectors stay fixed.
The weights that do best on the `fit` part are kept, and the `test` part is never looked at. A stopped run goes on from
its last checkpoint and, on a CPU with as many threads, ends with exactly the weights of an undisturbed run.
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
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from surefoot.errors import ConfigError, ModelError
from surefoot.lab.train.claims import ClaimSets, LabelledClaim
from surefoot.lab.train.export import imported
from surefoot.lab.train.network import GraderNetwork
from surefoot.lab.train.training import Stopwatch, TrainingProgress, checkpoint, claimed, descend, keep, saved
from surefoot.models.cross_encoder import tokenizer
from surefoot.stats.figures import roc_auc
from surefoot.store import write_text
from surefoot.verifiers.minilm import WINDOW, Range, encode

MADE = "made.json"
"""The file beside the weights that says what they come from."""
UNREAD = ("indonli", "ocnli", "farstail")
"""Sets in languages that the vocabulary does not hold; no choice is made by them."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class VerifierRecipe:
    """The settings of the training; the shipped weights have the defaults."""

    rate: float = 8e-5
    """AdamW's highest learning rate for the layers."""
    head_rate: float = 5e-4
    """The same for both heads."""
    warm_up: float = 0.06
    """Share of the steps in which the rates rise."""
    decay: float = 0.01
    """Weight decay, but not of biases and norms."""
    pieces: int = 224
    """Pieces of a pair, at most: less than the verifier reads, to save time."""
    batch_pieces: int = 3600
    """Pieces of a batch, padding included, at most."""
    batch: int = 48
    """Pairs of a batch, at most."""
    unsupported: float = 0.5
    """Weight of the loss of the words beside that of the whole claim."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    check: int = 200
    """Steps between two looks at the `fit` part."""
    checkpoint: int = 50
    """Steps between checkpoints."""
    fit_claims: int = 60
    """Claims of each set that a look takes, at most."""
    seed: int = 0


class VerifierNetwork(GraderNetwork):
    """The evaluator's network with the verifier's heads: `relevance` of a claim is its support, and `evidence` gives
    one logit a piece, that nothing carries it."""

    def __init__(self, width: int = 384, heads: int = 12, layers: int = 6) -> None:
        super().__init__(width, heads, layers)
        self.evidence = nn.Linear(width, 1)
        nn.init.normal_(self.evidence.weight, std=0.02)
        nn.init.zeros_(self.evidence.bias)


@dataclass(frozen=True, slots=True)
class ClaimExample:
    """A claim in numbers."""

    ids: list[int]
    sides: list[int]
    label: float
    weight: float
    unsupported: list[float] | None
    """1.0 for a piece of the claim that nothing carries, from the piece at 1 on; None where nobody knows."""


@dataclass(slots=True)
class _VerifierState:
    """The state from which a stopped training goes on."""

    about: str
    """A hash of everything that decides the weights."""
    network: VerifierNetwork
    optimiser: Any
    step: int = 0
    looks: list[dict[str, Any]] = field(default_factory=list)
    """The figures of the `fit` part so far: `step`, `mean`, and one a set."""

    @property
    def dev(self) -> float | None:
        """The mean at the last look."""
        return self.looks[-1]["mean"] if self.looks else None


def beginning(weights: Mapping[str, Tensor], seed: int = 0) -> VerifierNetwork:
    """The network with the body of another, and random heads by `seed`. Raises ModelError where they do not fit."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = VerifierNetwork()
    body = {name: tensor for name, tensor in weights.items() if not name.startswith(("relevance", "evidence"))}
    try:
        if network.load_state_dict(body, strict=False).unexpected_keys:
            raise ModelError("these weights are of another network")
    except RuntimeError as error:
        raise ModelError(f"these weights are of another network: {error}") from error
    return network


def from_shipped(model: Path, seed: int = 0) -> VerifierNetwork:
    """The network that starts from a shipped evaluator's weights."""
    return beginning(imported(model).state_dict(), seed)


def restored(path: Path) -> VerifierNetwork:
    """The network that a training saved, on the CPU. Raises ModelError for any other file."""
    weights = saved(path)
    network = VerifierNetwork()
    try:
        network.load_state_dict(weights)
    except (KeyError, RuntimeError, TypeError) as error:
        raise ModelError(f"{path} holds no verifier's weights; run: surefoot train verifier") from error
    return network


def train(
    network: VerifierNetwork,
    sets: ClaimSets,
    folder: Path,
    recipe: VerifierRecipe,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`; the path of the best weights.

    The folder then holds `checkpoint.pt`, `best.pt`, `log.jsonl` and `made.json`. Raises ConfigError for sets without
    lessons or without claims to choose by, UsageError where the folder holds another training, and ModelError for a
    loss that is no number.
    """
    lessons = sets.lessons(recipe.seed)
    fit = chosen(sets, recipe)
    if not lessons or not fit:
        raise ConfigError("the sets hold no claims to learn from, or none to choose by; add a section for them")
    with claimed(folder, folder / "lock"):
        state = _begun(network, _hash(network, lessons, recipe), recipe, folder)
        origin = {
            "surefoot": version("surefoot"),
            "recipe": asdict(recipe),
            **sets.about,
            "start": weights_hash(network),
        }
        if not state.step:
            write_text(folder / MADE, json.dumps(origin, indent=1) + "\n")
        _learn(state, examples_of(lessons, recipe.pieces), fit, recipe, folder, on_progress)
    return folder / "best.pt"


def _learn(
    state: _VerifierState,
    examples: Sequence[ClaimExample],
    fit: Mapping[str, Sequence[ClaimExample]],
    recipe: VerifierRecipe,
    folder: Path,
    on_progress: Callable[[TrainingProgress], None],
) -> None:
    batches = batched(examples, recipe)
    watch, losses = Stopwatch(state.step, len(batches)), list[float]()
    while state.step < len(batches):
        batch = [examples[i] for i in batches[state.step]]
        losses = [*losses[-49:], _turn(state, batch, len(batches), recipe)]
        state.step = done = state.step + 1
        looked = done % recipe.check == 0 or done == len(batches)
        if looked:
            _look(state, fit, folder)
        if looked or done % recipe.checkpoint == 0:
            parts = {"network": state.network.state_dict(), "optimiser": state.optimiser.state_dict()}
            keep(folder / "checkpoint.pt", {"about": state.about, "step": done, "looks": state.looks, **parts})
        on_progress(watch.progress(done, len(batch), sum(losses) / len(losses), dev=state.dev))


def _turn(state: _VerifierState, batch: Sequence[ClaimExample], steps: int, recipe: VerifierRecipe) -> float:
    """One step of AdamW; the loss of the claims before it."""
    rising = recipe.warm_up * steps
    share = (state.step + 1) / rising if state.step < rising else (steps - state.step) / (steps - rising)
    for group in state.optimiser.param_groups:
        group["lr"] = group["peak"] * share
    state.network.train()
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed * 1_000_003 + state.step)  # so that stops do not change a step's dropout
        support, unsupported = losses_of(state.network, batch)
    descend(support + recipe.unsupported * unsupported, state.network, state.optimiser, recipe.clip, state.step)
    return float(support.detach())


def examples_of(claims: Sequence[LabelledClaim], most: int) -> list[ClaimExample]:
    """The claims in numbers, of at most so many pieces."""
    reader, found = tokenizer(), list[ClaimExample]()
    for start in range(0, len(claims), 1000):
        some = claims[start : start + 1000]
        pieces = encode(reader, [(c.text, c.context, c.evidence) for c in some], most)
        for claim, p in zip(some, pieces, strict=True):
            marked = None if claim.spans is None else [float(_touches(o, claim.spans)) for o in p.offsets]
            found.append(ClaimExample(p.ids, p.sides, float(claim.label), claim.weight, marked))
    return found


def _touches(place: Range, spans: Sequence[Range]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in spans)


def batched(examples: Sequence[ClaimExample], recipe: VerifierRecipe) -> list[list[int]]:
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


def losses_of(network: VerifierNetwork, batch: Sequence[ClaimExample]) -> tuple[Tensor, Tensor]:
    """Loss of the claims and loss of their words, each a weighted mean over the claims that it concerns."""
    support, words = _read(network, batch)
    labels, weights = (torch.tensor(v) for v in zip(*[(e.label, e.weight) for e in batch], strict=True))
    entropy = functional.binary_cross_entropy_with_logits(support, labels, reduction="none")
    loss = (entropy * weights).sum() / weights.sum()
    known = [(i, e) for i, e in enumerate(batch) if e.unsupported]
    if not known:
        return loss, support.new_zeros(())
    each = [
        functional.binary_cross_entropy_with_logits(
            words[i, 1 : 1 + len(e.unsupported or ())], torch.tensor(e.unsupported)
        )
        for i, e in known
    ]
    shares = weights[[i for i, _ in known]]
    return loss, (torch.stack(each) * shares).sum() / shares.sum()


def _read(network: VerifierNetwork, batch: Sequence[ClaimExample]) -> tuple[Tensor, Tensor]:
    """Logits of the claims, and of their pieces."""
    longest = max(len(e.ids) for e in batch)
    ids = torch.tensor([[*e.ids, *[0] * (longest - len(e.ids))] for e in batch])
    sides = torch.tensor([[*e.sides, *[0] * (longest - len(e.ids))] for e in batch])
    support, words = network(ids, sides)
    return support, words.squeeze(2)


def chosen(sets: ClaimSets, recipe: VerifierRecipe) -> dict[str, list[ClaimExample]]:
    """Some claims of each set's `fit` part, of sets that people labelled and that have both labels."""
    chance = random.Random(recipe.seed)  # noqa: S311
    found: dict[str, list[ClaimExample]] = {}
    for source in sets.listed:
        some = sets.claims["fit"].get(source.name, [])
        picked = chance.sample(some, min(recipe.fit_claims, len(some)))
        if source.form != "questions" and source.name not in UNREAD and len({claim.label for claim in picked}) == 2:
            found[source.name] = examples_of(picked, WINDOW)
    return found


@torch.no_grad()
def scored(network: VerifierNetwork, examples: Sequence[ClaimExample]) -> list[tuple[float, list[float]]]:
    """The logit of each claim, and those of its pieces."""
    network.eval()
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].ids))
    scores: list[tuple[float, list[float]]] = [(0.0, [])] * len(examples)
    for start in range(0, len(order), 16):
        some = order[start : start + 16]
        support, words = _read(network, [examples[i] for i in some])
        for row, i in enumerate(some):
            pieces = examples[i].sides.index(1) - 1
            scores[i] = float(support[row]), words[row, 1 : 1 + pieces].tolist()
    return scores


def _look(state: _VerifierState, fit: Mapping[str, Sequence[ClaimExample]], folder: Path) -> None:
    """Measure on the `fit` part, and keep the weights if they are the best so far."""
    aucs: dict[str, float] = {}
    for name, some in fit.items():
        value = roc_auc([score for score, _ in scored(state.network, some)], [int(e.label) for e in some]).value
        if value is not None:  # never None, since both labels occur
            aucs[name] = value
    state.looks.append({"step": state.step, "mean": sum(aucs.values()) / len(aucs), **aucs})
    if state.looks[-1]["mean"] == max(look["mean"] for look in state.looks):
        keep(folder / "best.pt", state.network.state_dict())
    write_text(folder / "log.jsonl", "".join(json.dumps(look) + "\n" for look in state.looks))


def _optimiser(network: VerifierNetwork, recipe: VerifierRecipe) -> Any:
    network.word.weight.requires_grad_(False)
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, tensor in network.named_parameters():
        if tensor.requires_grad:
            peak = recipe.head_rate if name.startswith(("relevance", "evidence")) else recipe.rate
            groups.setdefault((peak, 0.0 if tensor.ndim < 2 else recipe.decay), []).append(tensor)
    return torch.optim.AdamW(
        [{"params": list(params), "peak": peak, "weight_decay": decay} for (peak, decay), params in groups.items()]
    )


def _begun(network: VerifierNetwork, about: str, recipe: VerifierRecipe, folder: Path) -> _VerifierState:
    """The state in the checkpoint if there is one, else a new one."""
    state = _VerifierState(about, network, _optimiser(network, recipe))
    if kept := checkpoint(folder / "checkpoint.pt", about, "cpu"):
        network.load_state_dict(kept["network"])
        state.optimiser.load_state_dict(kept["optimiser"])
        state.step, state.looks = kept["step"], kept["looks"]
        _log.info("going on from step %d", state.step)
    return state


def _hash(network: VerifierNetwork, lessons: Sequence[LabelledClaim], recipe: VerifierRecipe) -> str:
    """Hash of the first weights, the lessons and the recipe."""
    digest = hashlib.sha256(json.dumps([weights_hash(network), asdict(recipe)]).encode())
    for lesson in lessons:
        digest.update(repr(lesson).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def weights_hash(network: VerifierNetwork) -> str:
    """A hash of all tensors."""
    digest = hashlib.sha256()
    for name, tensor in network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.contiguous().numpy().data)
    return digest.hexdigest()
