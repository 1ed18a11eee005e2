"""Context adherence (faithfulness, groundedness): the share of the answer that the contexts carry, claim by claim."""

from typing import ClassVar

from surefoot.judges._diamond import metrics
from surefoot.judges._scores import lacks, unscored
from surefoot.judges._support import carried, claims
from surefoot.types import Metric, Record, Score
from surefoot.types.protocols import Verifier


class ContextAdherence:
    """Faithfulness (groundedness): the mean of the verifier's chances that the contexts carry a claim of the answer.

    A claim is a sentence, or a line of a list. Of a verifier that gives no chance, supported counts 1 and not supported
    0, and an answer with a claim that it leaves open has no value. What claims nothing, as a refusal, has none either:
    the metric does not apply. Cost: a sentence to verify a claim.
    """

    about: ClassVar[Metric] = metrics()["context_adherence"]
    name = metric = about.name
    counts = False
    """True: the share of claims that are likely carried, in place of the mean chance."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are contexts and an answer that claims something."""
        if record.contexts is None or not record.answer or not record.answer.strip():
            return lacks(self, record, "contexts" if record.contexts is None else "answer")
        if not (stated := claims(record.answer)):
            return unscored(self, record, "the answer claims nothing that a context would have to carry", applies=False)
        return carried(self, record, self.verifier, stated, "answer", record.contexts, self.counts)
