"""Trains the weights of `surefoot.verifiers.minilm`, and makes them a usable verifier.

The body is the evaluator's, which has learned to hold a question against a passage; the heads are new: one says
whether the evidence carries the claim, the other which of the claim's pieces it does not. One pass over the examples of
`claims`; the weights that do best on the `fit` part are kept. Calibration and thresholds are fitted on that part, in
the precision in which the verifier runs (int8). The `test` part is left to measure on.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from surefoot.evaluate.ask.runs import OnDone
from surefoot.models.cross_encoder import SEP
from surefoot.models.wordpiece import wordpiece
from surefoot.run.store import write_text
from surefoot.stats.calibration import Calibration
from surefoot.types import Support
from surefoot.types.errors import ConfigError
from surefoot.verifiers.minilm import WINDOW, ClaimPieces, ClaimReading, MiniLMVerifier, Range, doubtful, encode
from surefoot_lab import isotonic
from surefoot_lab.support import word_f1
from surefoot_lab.train.claims import ClaimSets, lines
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.export import UNFITTED, export, write_card
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, in_parts, label_loss, read, train_grader
from surefoot_lab.train.loop import TrainingProgress, releasing
from surefoot_lab.train.network import HEADS, LAYERS, VOCABULARY, WIDTH, GraderNetwork, restored

RECIPE = GraderRecipe(
    check=200, checkpoint=50, pieces=224, marks=0.5, patience=None, dev=60, heads=("relevance", "evidence")
)
"""The shipped verifier's. Its pairs are shorter than what the verifier reads, to save time."""
PRECISION = 0.9
"""Share of the claims called supported that must be, on answers of language models: on each group of `ANSWERS`."""
ANSWERS = (("ragtruth_qa",), ("begin", "dialogue_audit"))
"""Sets of sentences that models wrote from their sources; small ones together."""
COUNTED = (4.0, 0.5, 0.5)
"""The first head's weights of what it counts, where it begins: what the layers then learn is where words mislead. From
weights near 0 they never rose, and added afterwards 2 to 4 times the share lifted the mean AUC of 34 sets by .004."""
LOWER = 0.5
"""Probability below which a claim counts as not supported."""
WORDS = tuple(np.arange(-3.0, 3.01, 0.25).tolist())
"""Logits from which a word may count as unsupported; that with the best F1 is taken."""

Readings = list[tuple[TrainingExample, ClaimPieces, ClaimReading]]


class VerifierNetwork(GraderNetwork):
    """The evaluator's network with the verifier's heads: `relevance` of a claim is its support, and `evidence` gives
    one logit a piece, that nothing carries it. The first head also gets what counting words would go by."""

    role = "verifier"
    digits: Tensor

    def __init__(self, width: int = WIDTH, heads: int = HEADS, layers: int = LAYERS) -> None:
        super().__init__(width, heads, layers)
        self.relevance, self.evidence = nn.Linear(2 * width + 3, 1), nn.Linear(width, 1)
        self.register_buffer("digits", torch.tensor(_digits()), persistent=False)
        for head in (self.relevance, self.evidence):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)
        with torch.no_grad():
            self.relevance.weight[0, 2 * width :] = torch.tensor(COUNTED)

    def _counts(self, ids: Tensor, shared: Tensor) -> tuple[Tensor, ...]:
        """The share of the claim's pieces that the evidence holds, whether it holds all, and whether all numbers."""
        claim = ((ids == SEP).long().cumsum(1) == 0) & self.comparable[ids]
        held = shared * claim
        missing = claim.float() - held
        share = held.sum(1) / claim.sum(1).clamp(min=1)
        lost = (missing * self.digits[ids]).sum(1)
        return share[:, None], (share == 1).float()[:, None], (lost == 0).float()[:, None]


def _digits() -> list[bool]:
    """By piece: whether it is a number, or a part of one."""
    found = [False] * VOCABULARY
    for piece, number in wordpiece().get_vocab().items():
        found[number] = piece.removeprefix("##")[:1].isdigit()
    return found


def train(
    network: VerifierNetwork,
    sets: ClaimSets,
    folder: Path,
    recipe: GraderRecipe,
    on_progress: Callable[[TrainingProgress], None],
) -> Path:
    """Train the network, or go on training it, in `folder`, as `train_grader` does; the path of the best weights."""
    examples, dev = sets.examples(recipe.seed), dev_examples(sets, recipe)
    return train_grader(network, recipe, examples, encoded_examples, dev, losses_of, sets.about, folder, on_progress)


def encoded_examples(claims: Sequence[TrainingExample], most: int) -> list[EncodedExample]:
    """The claims in numbers, of at most so many pieces.

    Their marks are 1.0 for a piece of the claim that nothing carries, else 0.0, from the piece at 1 on.
    """
    triples = [(c.text, c.context, c.evidence) for c in claims]
    found = []
    for claim, p in zip(claims, in_parts(lambda reader, some: encode(reader, some, most), triples), strict=True):
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


def finish(best: Path, sets: ClaimSets, folder: Path, on_done: OnDone, precision: float = PRECISION) -> Path:
    """Write `minilm.onnx` and `minilm.json` to `folder`, and the claims to fit and to test by to its `dev`.

    `on_done` gets the claims read and to read. The files are put in place at the end, the JSON file last. Raises
    ConfigError where no threshold keeps `precision`.
    """
    with releasing(folder) as work:
        export(restored(best, VerifierNetwork), work / "minilm.onnx")
        for part in ("fit", "test"):
            for name, claims in sets.claims[part].items():
                write_text(work / "dev" / part / f"{name}.jsonl", lines(claims, name))
        write_card(work, _own(upper=0.9, words=0.0), UNFITTED)
        numbers = _read(MiniLMVerifier(str(work)), sets, on_done)
        fitted = _calibrated(numbers, sets)
        least = max(
            _least([one for name in group for one in numbers.get(name, [])], fitted, precision) for group in ANSWERS
        )
        write_card(work, _own(upper=max(LOWER, least), words=_words(numbers, fitted)), fitted, best)
    return folder


def _own(upper: float, words: float) -> dict[str, dict[str, float]]:
    """The verifier's own part of the card."""
    return {"thresholds": {"upper": upper, "lower": LOWER, "words": words}}


def _read(verifier: MiniLMVerifier, sets: ClaimSets, on_done: OnDone) -> dict[str, Readings]:
    """The network's numbers for the `fit` part of each set that was learned from and that decides."""
    names = [source.name for source in sets.listed if source.learn and source.decides]
    total, done = sum(len(sets.claims["fit"].get(name, [])) for name in names), 0
    found: dict[str, Readings] = {}
    for name in names:
        claims = sets.claims["fit"].get(name, [])
        numbers = verifier.readings([(claim.text, claim.context, claim.evidence) for claim in claims])
        found[name] = [(claim, *pair) for claim, pair in zip(claims, numbers, strict=True)]
        on_done(done := done + len(claims), total)
    return found


def _calibrated(read: Mapping[str, Readings], sets: ClaimSets) -> Calibration:
    """Every set counts the same; where its natural share of positives is known, they count as much as they would."""
    rates = {source.name: source.rate for source in sets.listed}
    scores: list[float] = []
    labels: list[int] = []
    weights: list[float] = []
    for name, some in read.items():
        mine = [claim.label for claim, *_ in some]
        share, rate = sum(mine) / max(1, len(mine)), rates[name]
        more = rate / (1 - rate) * (1 - share) / share if rate and share else 1.0
        each = [more if label else 1.0 for label in mine]
        scores += [reading.logit for *_, reading in some]
        labels += mine
        weights += [weight / sum(each) for weight in each]
    return isotonic.fit(scores, labels, weights)


def _least(some: Readings, fitted: Calibration, precision: float) -> float:
    """The least probability from which claims called supported are, as often as `precision`; 0 without claims."""
    known = [(fitted.probability(reading.logit), claim.label) for claim, _, reading in some]
    for threshold in sorted({chance for chance, _ in known}):
        called = [label for chance, label in known if chance >= threshold]
        if sum(called) >= precision * len(called):
            return threshold
    if known:
        raise ConfigError(f"no threshold finds supported claims with a precision of {precision:.0%}; train further")
    return 0.0


def _words(read: Mapping[str, Readings], fitted: Calibration) -> float:
    """The logit of `WORDS` with the best mean F1 over the sets with marked words, where claims are not supported."""

    def support(pieces: ClaimPieces, reading: ClaimReading, least: float) -> Support:
        doubted = fitted.probability(reading.logit) < LOWER
        return Support(None, None, tuple(doubtful(pieces, reading, least)) if doubted else ())

    def quality(least: float) -> float:
        each = [word_f1([c for c, *_ in some], [support(p, r, least) for _, p, r in some]) for some in read.values()]
        return float(np.mean([one for one in each if one is not None] or [0.0]))  # no set marks words: any will do

    return float(max(WORDS, key=quality))
