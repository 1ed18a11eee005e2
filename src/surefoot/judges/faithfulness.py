"""Faithfulness, as RAGAS counts it (Es et al. 2024, arXiv 2309.15217): the share of the answer's claims that stand."""

from surefoot.judges._diamond import built_in
from surefoot.judges.context_adherence import ContextAdherence


class Faithfulness(ContextAdherence):
    """The share of the answer's claims that the contexts carry, each by the verifier's yes or no.

    Context adherence is the mean of the same chances, and tells a sure claim from a likely one. Cost: a sentence to
    verify a claim.
    """

    about = built_in()["faithfulness"]
    counts = True
