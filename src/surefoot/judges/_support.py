"""The claims of a text, and how far evidence carries them, as the configured verifier finds."""

import re
from collections.abc import Iterator, Sequence

from surefoot.judges._scores import failed, scored, standalone, unscored
from surefoot.text.refusals import refuses
from surefoot.text.words import sentences, words
from surefoot.types import Assertion, Passage, Quote, Record, Score, Support
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Judge, Verifier

SUPPORTED = 0.5
"""Probability from which a claim counts as carried in an explanation; values take the probabilities as they are."""
_MARKS = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\*\*|https?://\S+|(?m:^)\s*(?:[-*•#]+|\d{1,2}[.)])\s+")


def carried(
    judge: Judge, record: Record, verifier: Verifier, stated: Sequence[str], where: str, evidence: Sequence[Passage]
) -> Score:
    """The mean chance that the evidence carries a claim, of which there is one at least; all stand in this corner of
    the record. Unscored where the verifier leaves one open, or fails."""
    try:
        found = verifier.support([Assertion(plainly(one), tuple(evidence), standalone(record)) for one in stated])
    except ComponentError as error:
        return failed(judge, record, error)
    known = [chance for one in found if (chance := _chance(one)) is not None]
    if left := [one.reason for one in found if _chance(one) is None]:
        return unscored(judge, record, f"{len(left)} of {len(found)} claims are left open: {left[0]}")
    least = known.index(min(known))
    why = f": {found[least].reason}" if found[least].reason else ""
    held = f"{sum(chance >= SUPPORTED for chance in known)} of {len(known)} claims of the {where} are likely carried"
    reason = f"{held}. The least: “{plainly(stated[least])}” ({known[least]:.2f}){why}."
    return scored(judge, record, sum(known) / len(known), reason, Quote(stated[least], where, True))


def best(scores: Sequence[Score]) -> Score:
    """The score with the highest value; one without a value only where none has one."""
    return max(scores, key=lambda score: -1.0 if score.value is None else score.value)


def _chance(verdict: Support) -> float | None:
    """The probability, or, of a verifier without one, its word as a number; None where it is open."""
    if verdict.probability is not None or verdict.supported is None:
        return verdict.probability
    return float(verdict.supported)


def claims(text: str) -> list[str]:
    """The sentences and lines of lists of an answer, but for those that lead up to a list, or refuse."""
    return [one for one in _cut(text) if not refuses(plainly(one)) and not one.rstrip("* ").endswith(":")]


def plainly(text: str) -> str:
    """Without markers of citations, addresses and signs of Markdown."""
    return " ".join(_MARKS.sub(" ", text).split())


def _cut(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for start, end in sentences(line):
            if words(plainly(line[start:end])):
                yield line[start:end]
