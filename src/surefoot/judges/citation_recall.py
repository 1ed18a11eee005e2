"""Citation recall (ALCE): the share of the answer's statements that what they cite carries."""

from surefoot.judges._citations import cited
from surefoot.judges._diamond import built_in
from surefoot.judges._scores import Finding
from surefoot.judges._support import VerifierJudge, plainly
from surefoot.types import Record


class CitationRecall(VerifierJudge):
    """The share of the answer's statements that the contexts they cite by [n] carry together, by the verifier.

    A statement without a citation is not carried (Gao et al. 2023, section 3). An answer that cites nothing at all has
    no value. Cost: a sentence to verify a statement.
    """

    about = built_in()["citation_recall"]

    def find(self, record: Record) -> Finding:
        """It applies where the answer cites a context."""
        found = cited(self.verifier, record)
        bare = [one for one in found if not one.carried]
        reason = f"what they cite carries {len(found) - len(bare)} of {len(found)} statements"
        reason += f", and not “{plainly(bare[0].text)}”" if bare else ""
        return Finding(1 - len(bare) / len(found), reason)
