"""Context adherence (faithfulness, groundedness): the share of the answer that the contexts carry, claim by claim."""

from surefoot.judges._diamond import metrics
from surefoot.judges._scores import Finding, Unscored
from surefoot.judges._support import VerifierJudge, carried, claims
from surefoot.types import Record


class ContextAdherence(VerifierJudge):
    """Faithfulness (groundedness): the mean of the verifier's chances that the contexts carry a claim of the answer.

    A claim is a sentence, or a line of a list. Of a verifier that gives no chance, supported counts 1 and not supported
    0, and an answer with a claim that it leaves open has no value. What claims nothing, as a refusal, has none either:
    the metric does not apply. Cost: a sentence to verify a claim.
    """

    about = metrics()["context_adherence"]
    counts = False
    """True: the share of claims that are likely carried, in place of the mean chance."""

    def find(self, record: Record) -> Finding:
        """It applies where the answer claims something."""
        if not (stated := claims(record.answer or "")):
            raise Unscored("the answer claims nothing that a context would have to carry", applies=False)
        return carried(self.verifier, record, stated, "answer", record.contexts or (), self.counts)
