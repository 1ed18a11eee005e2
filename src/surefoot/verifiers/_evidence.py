"""Steps that all verifiers share: join the evidence, and answer for what holds nothing to judge."""

from surefoot.text.words import words
from surefoot.types import Assertion, Support


def text_of(assertion: Assertion) -> str:
    """The evidence as one text: each passage behind its title, with a blank line between two."""
    return "\n\n".join(f"{p.title}\n{p.text}" if p.title else p.text for p in assertion.evidence)


def unjudged(assertion: Assertion, name: str) -> Support | None:
    """The verdict on what needs no reading: a sentence without words, or evidence without any; None for all else."""
    if not words(assertion.text):
        return Support(None, None, (), "it has no words", name)
    if not any(words(passage.text) for passage in assertion.evidence):
        return Support(None, False, (), "there is no evidence", name)
    return None
