"""Trains the weights of `surefoot.verifiers.minilm`.

The body is the evaluator's, which has learned to hold a question against a passage; the heads are new: one says
whether the evidence carries the claim, the other which of the claim's pieces it does not. One pass over the examples of
`claims`; the weights that do best on the `fit` part are kept, and the `test` part is never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from surefoot.models.cross_encoder import tokenizer
from surefoot.types.errors import ConfigError
from surefoot.verifiers.minilm import WINDOW, Range, encode
from surefoot_lab.train.claims import ClaimSets
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, label_loss, read, train_grader
from surefoot_lab.train.loop import TrainingProgress
from surefoot_lab.train.network import HEADS, LAYERS, WIDTH, GraderNetwork

RECIPE = GraderRecipe(
    check=200, checkpoint=50, pieces=224, marks=0.5, patience=None, dev=60, heads=("relevance", "evidence")
)
"""The shipped verifier's. Its pairs are shorter than what the verifier reads, to save time."""


class VerifierNetwork(GraderNetwork):
    """The evaluator's network with the verifier's heads: `relevance` of a claim is its support, and `evidence` gives
    one logit a piece, that nothing carries it."""

    role = "verifier"

    def __init__(self, width: int = WIDTH, heads: int = HEADS, layers: int = LAYERS) -> None:
        super().__init__(width, heads, layers)
        self.evidence = nn.Linear(width, 1)
        nn.init.normal_(self.evidence.weight, std=0.02)
        nn.init.zeros_(self.evidence.bias)


def train(
    network: VerifierNetwork,
    sets: ClaimSets,
    folder: Path,
    recipe: GraderRecipe,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`, as `loop.train` does; the path of the best weights.

    Raises ConfigError for sets without claims to learn from or to choose by; else as `loop.train`.
    """
    examples, dev = sets.examples(recipe.seed), dev_examples(sets, recipe)
    if not examples or not dev:
        raise ConfigError("the sets hold no claims to learn from, or none to choose by; add a section for them")
    encoded = encoded_examples(examples, recipe.pieces)
    return train_grader(network, recipe, examples, encoded, dev, losses_of, sets.about, folder, on_progress)


def encoded_examples(claims: Sequence[TrainingExample], most: int) -> list[EncodedExample]:
    """The claims in numbers, of at most so many pieces.

    Their marks are 1.0 for a piece of the claim that nothing carries, else 0.0, from the piece at 1 on.
    """
    reader, found = tokenizer(), list[EncodedExample]()
    for start in range(0, len(claims), 1000):
        some = claims[start : start + 1000]
        pieces = encode(reader, [(c.text, c.context, c.evidence) for c in some], most)
        for claim, p in zip(some, pieces, strict=True):
            marks = None if claim.spans is None else [float(_touches(o, claim.spans)) for o in p.offsets]
            found.append(EncodedExample(p.ids, p.sides, float(claim.label), claim.weight, marks))
    return found


def _touches(place: Range, spans: Sequence[Range]) -> bool:
    return any(start < place[1] and place[0] < end for start, end in spans)


def losses_of(network: GraderNetwork, batch: Sequence[EncodedExample]) -> tuple[Tensor, Tensor]:
    """Loss of the claims and loss of their words, each a weighted mean over the claims that it concerns."""
    support, words, _ = read(network, batch)
    loss, weights = label_loss(support, batch)
    known = [(i, e.marks) for i, e in enumerate(batch) if e.marks]
    if not known:
        return loss, support.new_zeros(())
    each = [
        functional.binary_cross_entropy_with_logits(words[i, 1 : 1 + len(marks), 0], torch.tensor(marks))
        for i, marks in known
    ]
    shares = weights[[i for i, _ in known]]
    return loss, (torch.stack(each) * shares).sum() / shares.sum()


def dev_examples(sets: ClaimSets, recipe: GraderRecipe) -> dict[str, list[EncodedExample]]:
    """Some claims of each set's `fit` part, of sets that decide and that have both labels."""
    chance = random.Random(recipe.seed)  # noqa: S311
    found: dict[str, list[EncodedExample]] = {}
    for source in sets.listed:
        some = sets.claims["fit"].get(source.name, [])
        picked = chance.sample(some, min(recipe.dev, len(some)))
        if source.decides and len({claim.label for claim in picked}) == 2:
            found[source.name] = encoded_examples(picked, WINDOW)
    return found
