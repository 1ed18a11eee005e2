"""Noise robustness: 1 less the noise sensitivity of RAGChecker (Ru et al. 2024, arXiv 2408.08067) and RAGAS."""

from typing import ClassVar

from surefoot.judges._diamond import built_in
from surefoot.judges._scores import lacks, scored, unscored
from surefoot.judges._support import carries, claims, plainly
from surefoot.types import Metric, Passage, Quote, Record, Score
from surefoot.types.protocols import Verifier


class NoiseRobustness:
    """The share of the answer's claims that are not both wrong and taken from the contexts.

    A claim is wrong where no reference carries it, and taken from the contexts where these do. Noise sensitivity counts
    such claims; here as everywhere a higher value is better. A reference that leaves things out makes right claims
    wrong. Cost: two sentences to verify a claim, and one more for each reference beside the first.
    """

    about: ClassVar[Metric] = built_in()["noise_robustness"]
    name = metric = about.name

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are contexts, a reference, and an answer that claims something."""
        truths = [truth for truth in record.truths if truth.strip()]
        if not truths or not record.contexts or not record.answer:
            lacking = {"reference answer": not truths, "contexts": not record.contexts, "answer": not record.answer}
            return lacks(self, record, next(what for what, missing in lacking.items() if missing))
        if not (stated := claims(record.answer)):
            return unscored(self, record, "the answer claims nothing", applies=False)
        sources = [record.contexts, *((Passage("truth", truth),) for truth in truths)]
        found = carries(self, record, self.verifier, [(claim, source) for source in sources for claim in stated])
        if isinstance(found, Score):
            return found
        misled, right = found[: len(stated)], found[len(stated) :]
        noise = [claim for place, claim in enumerate(stated) if misled[place] and not any(right[place :: len(stated)])]
        quotes = [Quote(claim, "answer", True) for claim in noise[:3]]
        reason = f"{len(noise)} of {len(stated)} claims stand in the contexts and in no reference"
        reason += f", such as “{plainly(noise[0])}”" if noise else ""
        return scored(self, record, 1 - len(noise) / len(stated), reason, *quotes)
