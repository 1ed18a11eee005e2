"""Surefoot's own verifier: a cross-encoder of six layers that reads a sentence beside its evidence.

minilm.onnx is what `surefoot lab train verifier` made, minilm.json what was fitted for it, and minilm.md is their model
card.
"""

import bisect
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from surefoot.models.cross_encoder import CLS, SEP, LoadedModel, encoded, in_latin_script
from surefoot.text.words import STOP_WORDS, encodable, sentences
from surefoot.types import Assertion, Support
from surefoot.verifiers._evidence import text_of, unjudged
from surefoot.verifiers.lexical import repeated

WINDOW = 256
"""Pieces read at once; of a longer evidence the sentences that share most with the claim."""
CLAIM_PIECES = 96
"""Word pieces read of a claim; a longer one loses its end."""
CONTEXT_PIECES = 40
"""Word pieces read of a question or of the sentences before the claim; a longer one loses its beginning."""
UNIT_PIECES = 64
"""A sentence of the evidence with more pieces is dealt with as several."""

REPEATED = "a sentence of the evidence holds nearly all its words"
"""Why a sentence is supported without the network's word."""

Range = tuple[int, int]
"""Start and end, in characters."""
Triple = tuple[str, str, str]
"""Claim, context and evidence."""


@dataclass(frozen=True, slots=True)
class ClaimPieces:
    """A claim and its evidence as the network reads them: [CLS] claim [SEP] context [SEP] evidence [SEP]."""

    ids: list[int]
    sides: list[int]
    """0 for claim and context, 1 for the evidence."""
    offsets: list[Range]
    """Place in the claim of each of its pieces, of which the first stands at 1."""
    words: list[int | None]
    """The number of the word that each piece of the claim belongs to."""
    cut: bool
    """The claim's end is missing."""
    left_out: bool
    """Sentences of the evidence are missing, as there were too many."""


@dataclass(frozen=True, slots=True)
class ClaimReading:
    """The network's output for a claim."""

    logit: float
    """NaN, or infinite, where any of its numbers is."""
    words: tuple[float, ...]
    """By piece of the claim: a logit that nothing carries it."""


class MiniLMVerifier:
    """Judges if evidence carries a sentence, and points at words that it does not: a calibrated cross-encoder.

    The passages of an assertion are read together, with their titles; the context helps to read the sentence and
    carries nothing. Of evidence with more than some 200 word pieces those sentences are read that share most with the
    claim. A sentence that repeats one of the evidence, by the rule of `lexical`, is supported in any case.
    Another one is not judged where its chance lies between the two thresholds: `supported` is None. It learned from
    English; a sentence in another script is judged by that rule alone. Some 25 ms for a sentence and a core at 256
    pieces.

    `model`: a folder that `surefoot lab train verifier` wrote. None: the weights of the package. `threads` sentences
    are read side by side (None: one for each core that this process may use).
    """

    def __init__(self, model: str | None = None, threads: int | None = None) -> None:
        self._model = LoadedModel(Path(model or Path(__file__).parent), "verifier", threads)
        self.name = self._model.name
        with self._model.card() as card:
            fitted = card["thresholds"]
            self._upper, self._lower = float(fitted["upper"]), float(fitted["lower"])
            """Probability from which a sentence counts as supported, and below which as not."""
            self._word = float(fitted["words"])
            """Logit from which a word of such a sentence counts as unsupported."""

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One verdict for each; equal ones are read once. Raises ModelError when the model does not load or run."""
        known = {one: found for one in assertions if (found := unjudged(one, self.name) or self._foreign(one))}
        rest = [one for one in dict.fromkeys(assertions) if one not in known]
        if rest:
            read = self.readings([(one.text, one.context, text_of(one)) for one in rest])
            known |= {one: self._verdict(one, *pair) for one, pair in zip(rest, read, strict=True)}
        return tuple(known[one] for one in assertions)

    def readings(self, triples: Sequence[Triple]) -> list[tuple[ClaimPieces, ClaimReading]]:
        """The network's numbers for each claim, context and evidence, before calibration."""
        _, reader = self._model.loaded()
        pieces = encode(reader, triples)
        return list(zip(pieces, self._model.pool.each(self._run, zip(pieces)), strict=True))

    def _foreign(self, assertion: Assertion) -> Support | None:
        if in_latin_script(assertion.text):
            return None
        if repeated(assertion):
            return Support(None, True, (), REPEATED, self.name)
        return Support(None, None, (), "it is not in Latin script, and the verifier learned from English", self.name)

    def _run(self, pieces: ClaimPieces) -> ClaimReading:
        support, words = self._model.run(pieces.ids, pieces.sides)
        broken = not np.isfinite(words).all()
        own = words[0, 1 : 1 + len(pieces.offsets), 0]
        return ClaimReading(math.nan if broken else float(support[0]), tuple(map(float, own)))

    def _verdict(self, assertion: Assertion, pieces: ClaimPieces, read: ClaimReading) -> Support:
        if not math.isfinite(read.logit):
            return Support(None, None, (), f"the model returned {read.logit}", self.name)
        chance = self._model.calibration.probability(read.logit)
        if chance >= self._upper and not pieces.cut:
            return Support(chance, True, name=self.name)
        if repeated(assertion):
            return Support(max(chance, self._upper), True, (), REPEATED, self.name)
        if chance >= self._lower:
            why = (
                f"only its first {CLAIM_PIECES} word pieces were read"
                if pieces.cut
                else f"{chance:.2f} decides nothing"
            )
            return Support(chance, None, (), why, self.name)
        spans = tuple(doubtful(pieces, read, self._word))
        words = ", ".join(f"“{assertion.text[slice(*span)]}”" for span in spans[:3])
        return Support(chance, False, spans, f"the evidence does not carry {words or 'it'}", self.name)


def doubtful(pieces: ClaimPieces, read: ClaimReading, least: float) -> Iterator[Range]:
    """Places of the claim's words of which a piece has a logit of `least` or more; neighbours are one place."""
    marked = {word for word, logit in zip(pieces.words, read.words, strict=True) if logit >= least}
    places = zip(pieces.words, pieces.offsets, strict=True)
    for doubted, neighbours in groupby(places, key=lambda place: place[0] in marked):
        if doubted:
            offsets = [offset for _, offset in neighbours]
            yield offsets[0][0], offsets[-1][1]


def encode(tokenizer: Tokenizer, triples: Sequence[Triple], window: int = WINDOW) -> list[ClaimPieces]:
    """Pieces of each claim, context and evidence, at most `window` in all."""
    common = {number for word in STOP_WORDS if (number := tokenizer.token_to_id(word)) is not None}
    texts = (encodable(evidence) for *_, evidence in triples)
    return [
        _pieces(*three, text, common, window) for three, text in zip(encoded(tokenizer, triples), texts, strict=True)
    ]


def _pieces(
    claim: Encoding, context: Encoding, evidence: Encoding, text: str, common: set[int], window: int
) -> ClaimPieces:
    own = claim.ids[:CLAIM_PIECES]
    before = context.ids[-CONTEXT_PIECES:]
    head = [CLS, *own, SEP, *before, *([SEP] if before else [])]
    room = window - len(head) - 1
    places = focused(evidence, text, set(own) - common, room)
    ids = [*head, *(evidence.ids[i] for i in places), SEP]
    sides = [0] * len(head) + [1] * (len(ids) - len(head))
    offsets, numbers = claim.offsets[:CLAIM_PIECES], claim.word_ids[:CLAIM_PIECES]
    return ClaimPieces(ids, sides, offsets, numbers, len(own) < len(claim.ids), len(places) < len(evidence.ids))


def focused(evidence: Encoding, text: str, sought: set[int], room: int) -> list[int]:
    """Positions of the evidence's pieces that are read, in order: all, or those of the sentences that share most.

    A piece that few of the sentences hold counts for more; of equals the first is taken.
    """
    if len(evidence.ids) <= room:
        return list(range(len(evidence.ids)))
    units = _units(evidence.offsets, text)
    held = [sought.intersection(evidence.ids[i] for i in unit) for unit in units]
    spread = Counter(piece for pieces in held for piece in pieces)
    order = sorted(range(len(units)), key=lambda i: (-sum(1 / spread[piece] for piece in held[i]), i))
    chosen: list[int] = []
    for i in order:
        chosen += units[i][: room - len(chosen)]
    return sorted(chosen)


def _units(offsets: Sequence[Range], text: str) -> list[list[int]]:
    begins = sorted({start for start, _ in sentences(text)} | {m.end() for m in re.finditer("\n", text)})
    units: list[list[int]] = []
    for _, places in groupby(range(len(offsets)), key=lambda i: bisect.bisect_right(begins, offsets[i][0])):
        unit = [*places]
        units += (unit[at : at + UNIT_PIECES] for at in range(0, len(unit), UNIT_PIECES))
    return units
