"""The statements of an answer with the contexts that they cite by [n], and whether these carry them (ALCE: Gao et al.
2023, arXiv 2305.14627)."""

from dataclasses import dataclass

from surefoot.evidence.citations import statements
from surefoot.evidence.markers import normalised, numbers
from surefoot.judges._scores import lacks, unscored
from surefoot.judges._support import carries, claimed, plainly
from surefoot.text.refusals import refuses
from surefoot.types import Passage, Record, Score
from surefoot.types.protocols import Judge, Verifier


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an answer."""

    text: str
    sources: tuple[Passage | None, ...]
    """The contexts that it cites, in order; None: a number without a context."""
    carried: bool
    """True: they carry it together."""


def cited(judge: Judge, record: Record, verifier: Verifier) -> list[Statement] | Score:
    """The statements; or a score without a value, where the record lacks something, cites nothing, or the verifier
    fails. Cost: a sentence to verify for each statement that cites."""
    # A record of a trace has lost its markers, which count in the strips that its contexts are.
    text = record.trace.answer.body if record.trace and record.trace.answer else record.answer or ""
    if record.contexts is None or not text.strip():
        return lacks(judge, record, "contexts" if record.contexts is None else "answer")
    whole = normalised(text)
    each = [whole[start:end] for start, end in statements(whole)]
    each = [one for one in each if claimed(one) and not refuses(plainly(one))]
    sources = [tuple(_context(record, number) for number in numbers(one)) for one in each]
    if not any(sources):
        return unscored(judge, record, "the answer cites nothing by [n]", applies=False)
    evidence = [(one, tuple(filter(None, there))) for one, there in zip(each, sources, strict=True) if any(there)]
    found = carries(judge, record, verifier, evidence)
    if isinstance(found, Score):
        return found
    verdicts = iter(found)
    pairs = zip(each, sources, strict=True)
    return [Statement(one, there, any(there) and next(verdicts)) for one, there in pairs]


def _context(record: Record, number: int) -> Passage | None:
    contexts = record.contexts or ()
    return contexts[number - 1] if 0 < number <= len(contexts) else None
