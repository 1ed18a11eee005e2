"""Citation recall (ALCE): the share of the answer's statements that what they cite carries."""

from typing import ClassVar

from surefoot.judges._citations import cited
from surefoot.judges._diamond import built_in
from surefoot.judges._scores import scored
from surefoot.judges._support import plainly
from surefoot.types import Metric, Record, Score
from surefoot.types.protocols import Verifier


class CitationRecall:
    """The share of the answer's statements that the contexts they cite by [n] carry together, by the verifier.

    A statement without a citation is not carried (Gao et al. 2023, section 3). An answer that cites nothing at all has
    no value. Cost: a sentence to verify a statement.
    """

    about: ClassVar[Metric] = built_in()["citation_recall"]
    name = metric = about.name

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are contexts and an answer that cites one."""
        found = cited(self, record, self.verifier)
        if isinstance(found, Score):
            return found
        bare = [one for one in found if not one.carried]
        reason = f"what they cite carries {len(found) - len(bare)} of {len(found)} statements"
        reason += f", and not “{plainly(bare[0].text)}”" if bare else ""
        return scored(self, record, 1 - len(bare) / len(found), reason)
