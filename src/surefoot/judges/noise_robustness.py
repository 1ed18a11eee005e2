"""Noise robustness: 1 less the noise sensitivity of RAGChecker (Ru et al. 2024, arXiv 2408.08067) and RAGAS."""

from surefoot.judges._diamond import built_in
from surefoot.judges._scores import Finding, Unscored, lacks
from surefoot.judges._support import VerifierJudge, carries, claims, plainly
from surefoot.types import Passage, Quote, Record


class NoiseRobustness(VerifierJudge):
    """The share of the answer's claims that are not both wrong and taken from the contexts.

    A claim is wrong where no reference carries it, and taken from the contexts where these do. Noise sensitivity counts
    such claims; here as everywhere a higher value is better. A reference that leaves things out makes right claims
    wrong. Cost: two sentences to verify a claim, and one more for each reference beside the first.
    """

    about = built_in()["noise_robustness"]

    def find(self, record: Record) -> Finding:
        """It applies where there is a context, and the answer claims something."""
        if not record.contexts:
            raise lacks("contexts")
        if not (stated := claims(record.answer or "")):
            raise Unscored("the answer claims nothing", applies=False)
        sources = [record.contexts, *((Passage("truth", truth),) for truth in record.truths if truth.strip())]
        found = carries(self.verifier, record, [(claim, source) for source in sources for claim in stated])
        misled, right = found[: len(stated)], found[len(stated) :]
        noise = [claim for place, claim in enumerate(stated) if misled[place] and not any(right[place :: len(stated)])]
        quotes = tuple(Quote(claim, "answer", True) for claim in noise[:3])
        reason = f"{len(noise)} of {len(stated)} claims stand in the contexts and in no reference"
        reason += f", such as “{plainly(noise[0])}”" if noise else ""
        return Finding(1 - len(noise) / len(stated), reason, quotes)
