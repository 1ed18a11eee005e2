"""Turns the best weights of a verifier's training into a usable verifier: int8, calibrated, with thresholds of its own.

All is fitted on the `fit` part of the sets that may be learned from, in the precision in which the verifier runs; the
`test` part is left to measure on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from surefoot.evaluate.ask.runs import OnDone
from surefoot.run.store import write_text
from surefoot.stats.calibration import Calibration
from surefoot.types import Support
from surefoot.types.errors import ConfigError
from surefoot.verifiers.minilm import ClaimPieces, ClaimReading, MiniLMVerifier, doubtful
from surefoot_lab import isotonic
from surefoot_lab.support import word_f1
from surefoot_lab.train.claims import ClaimSets, lines
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.export import export
from surefoot_lab.train.network import restored
from surefoot_lab.train.release import UNFITTED, releasing, write_card
from surefoot_lab.train.verifier import VerifierNetwork

PRECISION = 0.9
"""Share of the claims called supported that must be, on answers of language models: on each group of `ANSWERS`."""
ANSWERS = (("ragtruth_qa",), ("begin", "dialogue_audit"))
"""Sets of sentences that models wrote from their sources; small ones together."""
LOWER = 0.5
"""Probability below which a claim counts as not supported."""
WORDS = tuple(np.arange(-3.0, 3.01, 0.25).tolist())
"""Logits from which a word may count as unsupported; that with the best F1 is taken."""

Readings = list[tuple[TrainingExample, ClaimPieces, ClaimReading]]


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
        read = _read(MiniLMVerifier(str(work)), sets, on_done)
        fitted = _calibrated(read, sets)
        least = max(
            _least([one for name in group for one in read.get(name, [])], fitted, precision) for group in ANSWERS
        )
        write_card(work, _own(upper=max(LOWER, least), words=_words(read, fitted)), fitted, best)
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
