"""Questions that make sense only behind an earlier one, and the question that they stand for."""

from __future__ import annotations

import re

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
    """The question that stands alone: behind the earlier one, whose subject it goes on about; as it is where it needs
    none. By rules: the words of both, the earlier question's first."""
    if not follows(question):
        return question
    begun = _GOES_ON.match(question)
    rest = question[begun.end() if begun else 0 :].strip()
    return f"{earlier.rstrip('?!. ')} – {rest}"
