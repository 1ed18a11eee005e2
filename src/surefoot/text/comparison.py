"""Questions that compare two things: the answer is what each of them is, and that stands in two places."""

from __future__ import annotations

import re

from surefoot.text.words import words

_THINGS = (
    r"\bdifferences?\s+between\s+(?P<one>.+?)\s+and\s+(?P<other>.+)",
    r"\bcompare\s+(?P<one>.+?)\s+(?:and|with|to)\s+(?P<other>.+)",
    r"\bhow\s+(?:do|does|is|are)\s+(?P<one>.+?)\s+(?:differ(?:ent)?\s+from|compare[ds]?\s+(?:to|with))\s+(?P<other>.+)",
    r"\bwhen\s+(?:do|should|would|must)\s+\w+\s+(?:use\s+)?(?P<one>.+?)\s+(?:instead\s+of|rather\s+than)\s+(?P<other>.+)",
    r"^(?P<one>.+?)\s+(?:vs\.?|versus)\s+(?P<other>.+)",
)
_COMPARED = [re.compile(pattern, re.IGNORECASE | re.DOTALL) for pattern in _THINGS]
_WHERE = re.compile(r"\s(?:in|for|on|of|when|with|under)\s.*", re.IGNORECASE | re.DOTALL)
"""Behind the second thing, what both of them belong to."""
LONGEST = 8
"""Words of a thing that is compared; more of them are a story, not a name."""


def questions(question: str) -> tuple[str, ...]:
    """The question itself; of one that compares two things, what each of them is as well."""
    one, other, where = _compared(question)
    return (question, f"What is {one}{where}?", f"What is {other}{where}?") if one else (question,)


def about(question: str) -> tuple[frozenset[str], ...]:
    """For each of the things compared the folded words that only its name has, or all of them where there are none;
    none where nothing is compared."""
    names = [frozenset(words(thing)) for thing in _compared(question)[:2] if thing]
    return tuple(name - other or name for name, other in zip(names, reversed(names), strict=True))


def _compared(question: str) -> tuple[str, str, str]:
    """The two things, in the question's own words, and where; empty where it compares nothing."""
    found = next(filter(None, (pattern.search(question) for pattern in _COMPARED)), None)
    if not found:
        return "", "", ""
    one, other = (found[name].strip(" \t\n?.!,;\"'") for name in ("one", "other"))
    where = match[0] if (match := _WHERE.search(other)) else ""
    other = other.removesuffix(where)
    fit = all(0 < len(words(thing)) <= LONGEST for thing in (one, other))
    return (one, other, where) if fit else ("", "", "")
