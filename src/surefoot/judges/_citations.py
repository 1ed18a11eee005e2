"""The statements of an answer with the contexts that they cite by [n], and whether these carry them (ALCE: Gao et al.
2023, arXiv 2305.14627)."""

from dataclasses import dataclass

from surefoot.evidence.citations import statements
from surefoot.evidence.markers import normalised, numbers
from surefoot.judges._scores import Unscored
from surefoot.judges._support import carries, claimed, plainly
from surefoot.text.refusals import refuses
from surefoot.types import Passage, Record
from surefoot.types.protocols import Verifier


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of an answer."""

    text: str
    sources: tuple[Passage | None, ...]
    """The contexts that it cites, in order; None: a number without a context."""
    carried: bool
    """True: they carry it together."""


def cited(verifier: Verifier, record: Record) -> list[Statement]:
    """The statements. Raises Unscored where the record cites nothing. Cost: a sentence to verify for each statement
    that cites."""
    # A record of a trace has lost its markers, which count in the strips that its contexts are.
    text = record.trace.answer.body if record.trace and record.trace.answer else record.answer or ""
    whole = normalised(text)
    each = [whole[start:end] for start, end in statements(whole)]
    each = [one for one in each if claimed(one) and not refuses(plainly(one))]
    sources = [tuple(_context(record, number) for number in numbers(one)) for one in each]
    if not any(sources):
        raise Unscored("the answer cites nothing by [n]", applies=False)
    evidence = [(one, tuple(filter(None, there))) for one, there in zip(each, sources, strict=True) if any(there)]
    verdicts = iter(carries(verifier, record, evidence))
    pairs = zip(each, sources, strict=True)
    return [Statement(one, there, any(there) and next(verdicts)) for one, there in pairs]


def _context(record: Record, number: int) -> Passage | None:
    contexts = record.contexts or ()
    return contexts[number - 1] if 0 < number <= len(contexts) else None
