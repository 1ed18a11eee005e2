"""Questions that make sense only behind an earlier one, and the question that they stand for."""

import re
from collections.abc import Iterable

from surefoot.text.words import STOP_WORDS, fold, words

_GOES_ON = "and|but|or|also|what about|how about|what if|und|aber|oder|et|mais|ou|y|pero|e|那么|那".split("|")
_STANDS_FOR = frozenset(
    "it its that this these those them they their theirs there then same one ones he she him her".split()
)
_ASKING = frozenset(
    "tell show explain mean means work works happen happens example examples use more else again".split()
)
_ARTICLES = frozenset("the a an der die das den ein eine le la les un une el los las".split())
_TERM = re.compile(r"[$@/-]{0,2}\w(?:[\w.:/@+'’-]*\w)?")
_DASH = " – "
_END = "?!. "
LONGEST = 5
"""Words of a subject that takes the place of another; what is longer is more than a subject."""
FEWEST = 2
"""Words of its own that a question needs which refers to something: "How do I turn it off?" has one."""


def follows(question: str) -> bool:
    """True if the question makes sense only behind another: it begins with "and" or "what about", or it says "it" or
    "that" and next to nothing else."""
    if words(_rest(question)):
        return True
    every = words(question)
    own = [word for word in every if word not in STOP_WORDS | _STANDS_FOR | _ASKING]
    return bool(_STANDS_FOR.intersection(every)) and len(own) < FEWEST


def completed(question: str, earlier: str) -> str:
    """The question that stands alone; as it is where it needs no other. By rules, without a model.

    "And the Hohrin Hut?" behind "Who built the Ruvel Bridge?" is "Who built the Hohrin Hut?": the new subject takes the
    place of the old one, where both are names, or share a word ("north bridge", "south bridge"); side by side, the
    passage about the old one is the answer. All else stands behind the earlier question, as in "Who built the Ruvel
    Bridge – in 1911?" (of 11 such turns of MTRAG the first ten passages hold the evidence for 9, and for 6 of the
    questions alone, by BM25). What an earlier completion put there goes.
    """
    if not follows(question):
        return question
    rest = _rest(question) or question.strip()
    first, dash, behind = earlier.partition(_DASH)
    if dash and behind.endswith("?"):
        first += "?"
    return _replaced(first, rest.rstrip(_END)) or f"{first.rstrip(_END)}{_DASH}{rest}"


def _rest(question: str) -> str:
    """What stands behind the words by which a question goes on from another; empty: it begins with none."""
    start = question.strip()
    behind = ((some, start[len(some) :]) for some in _GOES_ON if start.lower().startswith(some))
    whole = (rest for some, rest in behind if not (some.isascii() and (rest[:1].isalnum() or rest[:1] in tuple("_-"))))
    return next(whole, "").lstrip(" \n\t,，")


def standing_alone(question: str, earlier: Iterable[str]) -> str:
    """The question completed from those before it, the oldest first, each of which may go on from another one itself;
    as it is where it needs none, or there is none that stands alone."""
    whole = ""
    for one in (*earlier, question):
        whole = completed(one, whole) if whole else "" if follows(one) else one
    return whole or question


def _replaced(earlier: str, subject: str) -> str:
    """The earlier question about another subject; empty: the new one is no bare name or noun, or the old one is not
    known."""
    new = [*_TERM.finditer(subject)]
    article = bool(new) and new[0][0].casefold() in _ARTICLES
    new = new[article:]
    are_names = all(_is_name(term[0]) for term in new)
    if not 0 < len(new) <= LONGEST or not (article or are_names) or any(fold(term[0]) in STOP_WORDS for term in new):
        return ""
    known = {fold(term[0]) for term in new}
    old: list[re.Match[str]] = []
    for run in _runs(earlier):
        shared = [n for n, term in enumerate(run, start=1) if fold(term[0]) in known]
        if shared or (are_names and _is_name(run[0][0])):
            old = run[: shared[-1]] if shared else run
    return earlier[: old[0].start()] + subject[new[0].start() :] + earlier[old[-1].end() :] if old else ""


def _runs(question: str) -> list[list[re.Match[str]]]:
    """Words side by side that are no function words: all of them names, or none. Without the question's first word."""
    found: list[list[re.Match[str]]] = []
    before: re.Match[str] | None = None
    for term in [*_TERM.finditer(question)][1:]:
        if fold(term[0]) in STOP_WORDS:
            before = None
            continue
        if before and _is_name(before[0]) == _is_name(term[0]) and question[before.end() : term.start()].isspace():
            found[-1].append(term)
        else:
            found.append([term])
        before = term
    return found


def _is_name(word: str) -> bool:
    """True for what is capitalised, and for what no plain word looks like: mark_old, $sort."""
    return word[0].isupper() or not word.isalpha()
