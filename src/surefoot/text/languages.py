"""The language of a sentence, told by its script or by the small words that its language cannot do without.

It is only good enough to tell, over whole sentences, languages that an evaluator has learned from others. Names and
titles of other languages are common, so a sentence counts as foreign only when it is so through and through.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path

from surefoot.text.words import STOP_WORDS, WORD, fold

FUNCTION_WORDS: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("function_words.toml").read_text(encoding="utf-8")
)
"""Folded."""
OTHER = "other"
_PARTICLES = frozenset("de la el del da das dos do di du van von le al o os".split())
"""Parts of names too; they count only before a word in lower case: "Universidade de São Paulo" is in no language."""
_KNOWN = {language: frozenset(known.split()) for language, known in FUNCTION_WORDS.items()}
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]+")
FEWEST = 6
"""From so many words, one small word beside a letter that English lacks tells the language; else it takes two."""


@lru_cache(maxsize=8192)
def language(sentence: str, names: frozenset[str] = frozenset()) -> str:
    """The code of the language, as "en", or the name of a script that is not Latin, as "cyrillic" and "cjk"; OTHER:
    some language but English; empty: unknown. `names` are folded words to ignore, such as quoted ones."""
    script = _script(_LATIN.sub(lambda word: "" if fold(word[0]) in names else word[0], sentence))
    if script != "latin":
        return script
    every = [word for word in _small(sentence) if word not in names]
    english = sum(word in STOP_WORDS for word in every)
    counts = {code: sum(word in known for word in every) for code, known in _KNOWN.items()}
    best = max(counts, key=counts.__getitem__)
    sure = counts[best] > 1 or (len(every) >= FEWEST and not sentence.isascii())
    if counts[best] > english and sure:
        return best if [*counts.values()].count(counts[best]) == 1 else OTHER
    if not english and sum(word.islower() and not word.isascii() for word in WORD.findall(sentence)) > 1:
        return OTHER
    return "en" if english >= max(1, counts[best]) else ""


def _small(sentence: str) -> list[str]:
    """The folded words, without those that may be parts of names."""
    prose = " ".join(word for word in sentence.split() if not _is_address(word))
    found = [word for word in WORD.findall(prose) if len(word) > 1]
    return [
        folded
        for word, after in zip_longest(found, found[1:], fillvalue="")
        if (folded := fold(word)) not in _PARTICLES or after[:1].islower()
    ]


def _is_address(word: str) -> bool:
    """True for addresses and paths: with a scheme, with two dots, or with a slash behind one."""
    return "://" in word or word.strip(".").count(".") > 1 or "/" in word.partition(".")[2]


def _script(sentence: str) -> str:
    letters = [*filter(str.isalpha, sentence)]
    foreign = [letter for letter in letters if letter > "\u024f"]
    if 2 * len(foreign) <= len(letters):
        return "latin"
    kinds = Counter(unicodedata.name(letter, "?").split()[0].lower() for letter in foreign)
    most = kinds.most_common(1)[0][0]
    return "cjk" if most in ("hiragana", "katakana") else most
