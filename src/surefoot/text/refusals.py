"""Answers that say that there is none, and those that only say yes or no."""

import re
from itertools import dropwhile

from surefoot.text.words import words

_ADMITS = re.compile(
    r"""
      \b(?:I|we)\s+(?:(?:do|does|did|could|can|was|were|am|are)\s*(?:n['’]t|not)|cannot|can['’]t|couldn['’]t)\s+(?:\w+ly\s+)?
        (?:know|find|answer|determine|provide|locate|tell|say|see|confirm|identify|access|have\s+(?:any|enough|specific|access))\b
    | \b(?:I['’]m|I\s+am|we['’]re|we\s+are)\s+(?:unable\b|not\s+(?:able\s+to\b|(?:sure|aware|certain)\W*$))
    | \b(?:un|not\s+)(?:able|possible)\s+to\s+(?:answer|find|determine|provide|say|tell)\b
    | \b(?:is|are|was|were)\s+(?:not|n['’]t)\s+(?:\w+ly\s+)?(?:mentioned|stated|specified|provided|given|included|found
        |answered|available)\s+(?:in|by)\s+the\b
    | \b(?:context|passages?|documents?|texts?|sources?|evidence|information|conversation)\b[^.]{0,60}
        \b(?:do(?:es)?\s*(?:n['’]t|not)|did\s*(?:n['’]t|not))\s+(?:\w+ly\s+)?
        (?:contain|provide|mention|say|give|specify|include|state|indicate|hold|answer|have|discuss|cover|tell|explain)
    | \b(?:there\s+is|contains?|provides?|has|have|found|gives?)\s+(?:no|not\s+enough|insufficient)\s+
        (?:specific\s+|further\s+|such\s+|enough\s+)?(?:information|mention|answer|evidence|details?)\b
    | \bcannot\s+be\s+(?:answered|determined|found)\b | ^\W*(?:unknown|unanswerable|no\s+answer|not\s+found|n/a)\W*$
    | ^\W*(?:I['’]m|I\s+am)\s+sorry\b | ^\W*not\s+found\b
    | \b(?:none|neither)\s+of\s+the\s+(?:\w+\s+)?(?:sources|passages|documents|texts|excerpts)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def refuses(text: str) -> bool:
    """True if the text says that there is no answer, or is empty; by the commonest English phrases."""
    return not text.strip() or bool(_ADMITS.search(text))


_VERDICTS = frozenset("yes no true false".split())
_LEADS = frozenset("this that the claim statement it is not".split())
"""Words before a verdict: "The statement is false"."""
_NOTHING = frozenset("information mention answer source".split())
"""Words that make of a "no" another one: "No source says so"."""
VERDICT_WORDS = _VERDICTS | _LEADS


def begins_with_verdict(text: str) -> bool:
    """True if the text begins by saying yes, no, true or false."""
    first = [*dropwhile(_LEADS.__contains__, words(text)), ""]
    return first[0] in _VERDICTS and first[1] not in _NOTHING
