"""In what language a sentence is written: by its script, or by the small words that its language cannot do without.

Good enough to tell what an evaluator has learned from what it has not, over whole sentences; no more. Names and titles
of other languages are common in texts, so a sentence counts as foreign only when it is so through and through.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from surefoot.words import STOP_WORDS, words

FUNCTION_WORDS = {
    "de": "der das und ist nicht ein eine einen einem einer auf fur mit sich auch dem den des im wird werden "
    "zu wie oder aber nur bei nach wenn wer sie ich es durch uber sind wurde hat haben dass zum zur vom so ihm ihr man",
    "fr": "les des une est et dans pour que qui sur pas par au aux avec ce cette sont il elle vous nous ne se "
    "en un ou ont ete plus leur ces comme mais si tout",
    "es": "los las una es en que por para con se su sus lo como mas pero cuando un fue son esta este sobre "
    "todo quien les",
    "it": "il lo gli una che per con della nel sono si non come piu alla dal un dei delle questa questo vi su "
    "chi quando ha",
    "pt": "uma que por para com nao se ao mais um em na no foi sao sobre quando quem esta este",
    "nl": "het een en dat niet voor met zijn op aan door bij wordt ook als naar wie er om te uit zij werd die",
    "pl": "w na z nie jest sie ze jak przez dla od po co kto oraz tym tego sa byl przy lub gdy",
    "tr": "ve bir bu icin ile olarak ne kadar olan sadece gibi daha icinde olur",
}
"""Folded, without those that are parts of names, such as "de", "la" and "van"."""
_KNOWN = {language: frozenset(known.split()) for language, known in FUNCTION_WORDS.items()}
_LETTER = re.compile(r"[^\W\d_]")
FEWEST, SHARE = 2, 0.2
"""Function words that a language shows itself by: so many, and so large a part of a sentence's words."""


@lru_cache(maxsize=8192)
def language(sentence: str) -> str:
    """ "en", the code of another language, or the name of a script that is not Latin ("cyrillic", "cjk"); empty: it
    cannot be told."""
    script = _script(sentence)
    if script != "latin":
        return script
    every = words(sentence)
    english = sum(word in STOP_WORDS for word in every)
    counts = {code: sum(word in known for word in every) for code, known in _KNOWN.items()}
    best = max(counts, key=counts.__getitem__)
    if counts[best] > english and counts[best] >= max(FEWEST, SHARE * len(every)):
        return best
    return "en" if english >= max(1, counts[best]) else ""


def _script(sentence: str) -> str:
    letters = _LETTER.findall(sentence)
    foreign = [letter for letter in letters if letter > "\u024f"]
    if 2 * len(foreign) <= len(letters):
        return "latin"
    kinds = Counter(unicodedata.name(letter, "?").split()[0].lower() for letter in foreign)
    most = kinds.most_common(1)[0][0]
    return "cjk" if most in ("hiragana", "katakana") else most
