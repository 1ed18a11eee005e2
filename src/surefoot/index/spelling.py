"""Mends words of a question that no passage holds, by the words that passages do hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from surefoot.index.search import Index
from surefoot.text.languages import language
from surefoot.text.words import STOP_WORDS

FEWEST = 3
"""Passages of a large index that must hold a word to mend another by it: a rare word is a name like any other."""

SHORT = 5
"""Letters from which a word is mended by another letter."""

_NAME = re.compile(r"(?<=[\w,] )[A-Z][a-z]+\b")
_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3,24}(?![^\W_])")
"""Not the letters of "sha256", which is a word as it stands."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def mended(question: str, index: Index) -> str:
    """The question with each word that no passage holds replaced by the one most passages hold of those that differ in
    the order of two letters, or else in one; as it is where no word is such. Of a short word, and of one that is
    written as a name, only the order is mended: another letter makes it another word. Function words stay. Only for
    questions in English letters, since words of another language than the passages' are no misspellings. Some 800
    look-ups a word.
    """
    if language(question) not in ("", "en"):
        return question
    written = {word.lower() for word in _WORD.findall(question) if word.isascii()} - STOP_WORDS
    unknown = written - index.known(written).keys()
    least = min(FEWEST, 1 + index.info().passages // 200)
    names = {name.lower() for name in _NAME.findall(question)}
    better = {
        word: best for word in unknown if (best := _nearest(word, index, least, len(word) < SHORT or word in names))
    }
    return _WORD.sub(lambda match: better.get(match[0].lower(), match[0]), question)


def _nearest(word: str, index: Index, least: int, only_order: bool) -> str:
    """Letters in another order come first: that is how fingers slip, and seldom another word."""
    for variants in (_swapped(word),) if only_order else (_swapped(word), _otherwise(word)):
        found = {other: count for other, count in index.known(dict.fromkeys(variants)).items() if count >= least}
        if found:
            return max(found, key=lambda other: (found[other], other))
    return ""


def _swapped(word: str) -> Iterator[str]:
    for n in range(len(word) - 1):
        yield word[:n] + word[n + 1] + word[n] + word[n + 2 :]


def _otherwise(word: str) -> Iterator[str]:
    """Every spelling that one letter too many, too few or another makes."""
    for n in range(len(word) + 1):
        yield from (word[:n] + letter + word[n:] for letter in _LETTERS)
        if n < len(word):
            yield word[:n] + word[n + 1 :]
            yield from (word[:n] + letter + word[n + 1 :] for letter in _LETTERS)
