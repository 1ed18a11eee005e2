"""Trains the weights of `surefoot.verifiers.minilm`.

The body is the evaluator's, which has learned to hold a question against a passage; the heads are new: one says
whether the evidence carries the claim, the other which of the claim's pieces it does not. One pass over the lessons of
`claims`, as `grader_training` does it. The weights that do best on the `fit` part are kept, and the `test` part is
never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from surefoot.models.cross_encoder import tokenizer
from surefoot.types.errors import ConfigError, ModelError
from surefoot.verifiers.minilm import WINDOW, Range, encode
from surefoot_lab.train.claims import ClaimSets, LabelledClaim
from surefoot_lab.train.export import imported
from surefoot_lab.train.grader_training import (
    GraderExample,
    GraderRecipe,
    GraderTask,
    label_loss,
    read,
    train_grader,
)
from surefoot_lab.train.network import GraderNetwork
from surefoot_lab.train.training import TrainingProgress, saved

UNREAD = ("indonli", "ocnli", "farstail")
"""Sets in languages that the vocabulary does not hold; no choice is made by them."""


@dataclass(frozen=True, slots=True)
class VerifierRecipe(GraderRecipe):
    """The settings of the training; the shipped weights have the defaults."""

    check: int = 200
    checkpoint: int = 50
    pieces: int = 224
    """Pieces of a pair, at most: less than the verifier reads, to save time."""
    unsupported: float = 0.5
    """Weight of the loss of the words beside that of the whole claim."""
    fit_claims: int = 60
    """Claims of each set that a look takes, at most."""


class VerifierNetwork(GraderNetwork):
    """The evaluator's network with the verifier's heads: `relevance` of a claim is its support, and `evidence` gives
    one logit a piece, that nothing carries it."""

    def __init__(self, width: int = 384, heads: int = 12, layers: int = 6) -> None:
        super().__init__(width, heads, layers)
        self.evidence = nn.Linear(width, 1)
        nn.init.normal_(self.evidence.weight, std=0.02)
        nn.init.zeros_(self.evidence.bias)


@dataclass(frozen=True, slots=True)
class ClaimExample(GraderExample):
    """A claim in numbers."""

    unsupported: list[float] | None
    """1.0 for a piece of the claim that nothing carries, from the piece at 1 on; None where nobody knows."""


def beginning(weights: Mapping[str, Tensor], seed: int = 0) -> VerifierNetwork:
    """The network with the body of another, and random heads by `seed`. Raises ModelError where they do not fit."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = VerifierNetwork()
    body = {name: tensor for name, tensor in weights.items() if not name.startswith(VerifierRecipe.heads)}
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
        raise ModelError(f"{path} holds no verifier's weights; run: surefoot lab train verifier") from error
    return network


def train(
    network: VerifierNetwork,
    sets: ClaimSets,
    folder: Path,
    recipe: VerifierRecipe,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`, as `train_grader` does; the path of the best weights.

    Raises ConfigError for sets without lessons or without claims to choose by; else as `train_grader`.
    """
    lessons = sets.lessons(recipe.seed)
    fit = chosen(sets, recipe)
    if not lessons or not fit:
        raise ConfigError("the sets hold no claims to learn from, or none to choose by; add a section for them")

    def losses(batch: Sequence[ClaimExample]) -> tuple[Tensor, Tensor]:
        support, unsupported = losses_of(network, batch)
        return support, support + recipe.unsupported * unsupported

    task = GraderTask(network, recipe, examples_of(lessons, recipe.pieces), fit, losses)
    return train_grader(task, lessons, sets.about, folder, on_progress)


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


def losses_of(network: VerifierNetwork, batch: Sequence[ClaimExample]) -> tuple[Tensor, Tensor]:
    """Loss of the claims and loss of their words, each a weighted mean over the claims that it concerns."""
    support, words, _ = read(network, batch)
    loss, weights = label_loss(support, batch)
    known = [(i, e) for i, e in enumerate(batch) if e.unsupported]
    if not known:
        return loss, support.new_zeros(())
    each = [
        functional.binary_cross_entropy_with_logits(
            words[i, 1 : 1 + len(e.unsupported or ()), 0], torch.tensor(e.unsupported)
        )
        for i, e in known
    ]
    shares = weights[[i for i, _ in known]]
    return loss, (torch.stack(each) * shares).sum() / shares.sum()


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
