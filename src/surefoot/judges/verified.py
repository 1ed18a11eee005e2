"""The share of the answer that the contexts carry, claim by claim, as the configured verifier finds."""

from __future__ import annotations

from surefoot.judges._scores import failed, lacks, scored, unscored
from surefoot.judges._support import claims, plainly
from surefoot.judges.context_adherence import ContextAdherence
from surefoot.types import Assertion, Quote, Record, Score, Support, protocols
from surefoot.types.errors import ComponentError


class Verified:
    """The mean, over the answer's claims, of the verifier's chance that the contexts carry the claim.

    A claim is a sentence, or a line of a list. Of a verifier that gives no chance, supported counts 1 and not supported
    0, and an answer with a claim that it leaves open has no value. A refusal claims nothing, and what claims nothing is
    carried: 1. `[judge] context_adherence = "verified"` takes it.
    """

    metric = ContextAdherence.metric

    def __init__(self, verifier: protocols.Verifier) -> None:
        self.verifier = verifier
        self.name = f"verified:{verifier.name}"

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are an answer and contexts."""
        if record.contexts is None or not record.answer or not record.answer.strip():
            return lacks(self, record, "contexts" if record.contexts is None else "answer")
        if not (stated := claims(record.answer)):
            return scored(self, record, 1.0, "the answer claims nothing that a context would have to carry")
        try:
            found = self.verifier.support([Assertion(plainly(one), record.contexts, record.question) for one in stated])
        except ComponentError as error:
            return failed(self, record, error)
        chances = [_chance(one) for one in found]
        known = [chance for chance in chances if chance is not None]
        if len(known) < len(found):
            why = next(one.reason for one, chance in zip(found, chances, strict=True) if chance is None)
            return unscored(self, record, f"{len(found) - len(known)} of {len(found)} claims are left open: {why}")
        least = known.index(min(known))
        carried = sum(chance >= 0.5 for chance in known)
        about = f"{carried} of {len(stated)} claims are likely carried by the contexts."
        why = f": {found[least].reason}" if found[least].reason else ""
        reason = f"{about} The least: “{plainly(stated[least])}” ({known[least]:.2f}){why}."
        return scored(self, record, sum(known) / len(known), reason, Quote(stated[least], "answer", True))


def _chance(verdict: Support) -> float | None:
    """Its probability, or its word as a number; None where it is open."""
    if verdict.probability is not None or verdict.supported is None:
        return verdict.probability
    return float(verdict.supported)
