"""Questions that quoting cannot answer: the parts of the answer stand in the documents, and nobody has put them
together there."""

from __future__ import annotations

import re

from surefoot.text.words import content_words, stem, words

_SUPERLATIVE = re.compile(
    r"\b(?:which|what|who|whose|where|when)\b.{0,80}?\b(?P<most>most|least|largest|smallest|biggest|highest|lowest"
    r"|longest|shortest|oldest|newest|youngest|fewest|greatest|best|worst|cheapest|fastest|slowest|heaviest|lightest"
    r"|latest|earliest|strongest|nearest)\b",
    re.IGNORECASE,
)
_COMPARISON = re.compile(
    r"\bdifferences?\s+between\b|\bdiffer(?:s|ent)?\b|\bcompare[ds]?\b|\bvs\.?(?=\s)|\bversus\b|\b(?:better|worse|more|less|"
    r"faster|slower|larger|smaller|higher|lower|older|newer|cheaper)\b.{0,60}\bor\b",
    re.IGNORECASE,
)
_COMPARES = frozenset(
    "differ differs difference differences different unlike whereas while compared comparison versus vs instead both "
    "contrast but than".split()
)
_LIMITS = frozenset("maximum minimum max min limit limits".split())
"""Words of a text that states which one is the largest, or smallest, in its own way."""
COMPARE = "it asks for a comparison, and I only quote; these places may hold the parts"


def beyond(question: str, quoted: str) -> str:
    """Why the quoted text can only hold parts of the answer; empty: it may hold it. A text that compares by itself
    ("the largest", "unlike") may, and so may one that speaks of both things."""
    there = set(words(quoted))
    superlative = _SUPERLATIVE.search(question)
    if superlative and there.isdisjoint({superlative["most"].lower(), *_LIMITS}):
        return COMPARE
    if not _COMPARISON.search(question) or not _COMPARES.isdisjoint(there):
        return ""
    compared = {stem(word) for word in content_words(question) if word not in _COMPARES}
    return "" if compared <= {stem(word) for word in there} else COMPARE
