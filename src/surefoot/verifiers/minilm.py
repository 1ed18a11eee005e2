"""Surefoot's own verifier: a cross-encoder of six layers that reads a sentence beside its evidence."""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Encoding, Tokenizer

from surefoot.models.cross_encoder import CLS, SEP
from surefoot.text.words import STOP_WORDS, sentences

WINDOW = 256
"""Pieces read at once; of a longer evidence the sentences that share most with the claim."""
CLAIM_PIECES = 96
"""Word pieces read of a claim; a longer one loses its end."""
CONTEXT_PIECES = 40
"""Word pieces read of a question or of the sentences before the claim; a longer one loses its beginning."""
UNIT_PIECES = 64
"""A sentence of the evidence with more pieces is dealt with as several."""

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


def encode(tokenizer: Tokenizer, triples: Sequence[Triple], window: int = WINDOW) -> list[ClaimPieces]:
    """Pieces of each claim, context and evidence, at most `window` in all."""
    # Half a surrogate pair is taken by no tokeniser; one "?" in its place keeps the offsets.
    whole = [tuple(part.encode("utf-8", "replace").decode() for part in triple) for triple in triples]
    flat = tokenizer.encode_batch([part for triple in whole for part in triple], add_special_tokens=False)
    common = {number for word in STOP_WORDS if (number := tokenizer.token_to_id(word)) is not None}
    return [_pieces(*flat[3 * i : 3 * i + 3], whole[i][2], common, window) for i in range(len(whole))]


def _pieces(
    claim: Encoding, context: Encoding, evidence: Encoding, text: str, common: set[int], window: int
) -> ClaimPieces:
    said = claim.ids[:CLAIM_PIECES]
    before = context.ids[-CONTEXT_PIECES:]
    head = [CLS, *said, SEP, *before, *([SEP] if before else [])]
    room = window - len(head) - 1
    kept = focused(evidence, text, set(said) - common, room)
    ids = [*head, *(evidence.ids[i] for i in kept), SEP]
    sides = [0] * len(head) + [1] * (len(ids) - len(head))
    offsets, numbers = claim.offsets[:CLAIM_PIECES], claim.word_ids[:CLAIM_PIECES]
    return ClaimPieces(ids, sides, offsets, numbers, len(said) < len(claim.ids), len(kept) < len(evidence.ids))


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
    kept: list[int] = []
    for i in order:
        kept += units[i][: room - len(kept)]
    return sorted(kept)


def _units(offsets: Sequence[Range], text: str) -> list[range]:
    """The positions of each sentence's or line's pieces."""
    begins = sorted({start for start, _ in sentences(text)} | {m.end() for m in re.finditer("\n", text)})
    owner = [bisect.bisect_right(begins, start) for start, _ in offsets]
    units: list[range] = []
    first = 0
    for i in range(1, len(owner) + 1):
        if i == len(owner) or owner[i] != owner[first] or i - first == UNIT_PIECES:
            units.append(range(first, i))
            first = i
    return units
