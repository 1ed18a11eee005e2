"""Each unit's kind of word, its rarity, and the other unit that is as rare."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from surefoot.explain.grade import Words
from surefoot.text.words import STOP_WORDS, content_words, fold, places, places_of, stem, words as words_in
from surefoot.types import Passage, Unit

Kind = Literal[
    "question entity", "relation word", "passage entity", "answer span", "function word", "other", "punctuation"
]
"""A relation word is a content word of the question outside the name, and a word of the passage with its stem."""
KINDS: tuple[Kind, ...] = get_args(Kind)
ENTITY = ("question entity", "passage entity")
ORDINARY = ("relation word", "other")
"""Content words that are neither of the name nor of an answer."""
AS_RARE = 1.0
"""The largest difference in IDF between words that count as equally rare: a factor of e in document frequency."""


@dataclass(frozen=True, slots=True)
class Rarity:
    """Document frequencies of a set of passages."""

    passages: int
    holding: Mapping[str, int]
    """By folded word, the passages that hold it."""

    def of(self, phrase: str) -> float:
        """The mean inverse document frequency of its words, ln((n + 1) / (df + 1)); 0 without words."""
        every = words_in(phrase)
        return sum(self._idf(word) for word in every) / len(every) if every else 0.0

    def _idf(self, word: str) -> float:
        return math.log((self.passages + 1) / (self.holding.get(word, 0) + 1))


def rarity(passages: Iterable[Passage]) -> Rarity:
    """Counted over distinct passages, title and text together."""
    texts = {f"{passage.title} {passage.text}" for passage in passages}
    return Rarity(len(texts), Counter(word for text in texts for word in set(words_in(text))))


def kinds(pair: Words, subject: str, answers: Sequence[str]) -> tuple[Kind, ...]:
    """One a unit. A unit of both name and answer is an answer: findings on names must hold without answers."""
    named = places(subject, pair.question)
    queries = [unit.words for unit in pair.units if unit.side == "question" and not _touches(unit, named)]
    relation = {stem(word) for words in queries for word in words_in(words) if word not in STOP_WORDS}
    return tuple(_kind(unit, pair, subject, answers, relation) for unit in pair.units)


def as_rare(kind: Sequence[str], units: Sequence[Unit], idf: Sequence[float]) -> list[tuple[int, int]]:
    """(unit of a name, ordinary unit nearest in IDF), both of the question or of the passage. A name's unit with none
    within `AS_RARE` is left out; an ordinary unit may serve twice."""
    found = []
    for mine in (n for n, name in enumerate(kind) if name in ENTITY):
        half = units[mine].side == "question"
        others = [n for n, name in enumerate(kind) if name in ORDINARY and (units[n].side == "question") is half]
        nearest = min(others, key=lambda n: abs(idf[n] - idf[mine]), default=None)
        if nearest is not None and abs(idf[nearest] - idf[mine]) <= AS_RARE:
            found.append((mine, nearest))
    return found


def _kind(unit: Unit, pair: Words, subject: str, answers: Sequence[str], relation: set[str]) -> Kind:
    every, text = words_in(unit.words), {"question": pair.question, "title": pair.passage.title}
    whole = text.get(unit.side, pair.passage.text)
    if not every:
        return "punctuation"
    if unit.side != "question" and _touches(unit, places_of(answers, whole)):
        return "answer span"
    if _touches(unit, places(subject, whole)) or (unit.side != "question" and _by_last_name(unit, subject)):
        return "question entity" if unit.side == "question" else "passage entity"
    if set(every) <= STOP_WORDS:
        return "function word"
    return "relation word" if unit.side == "question" or relation & set(map(stem, every)) else "other"


def _touches(unit: Unit, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start < unit.end and unit.start < end for start, end in spans)


def _by_last_name(unit: Unit, subject: str) -> bool:
    """True if it has the name's last word with a capital, as "Feilden" in a text on Henry Feilden."""
    last = content_words(subject)[-1:]
    return any(word[:1].isupper() and words_in(fold(word)) == last for word in unit.words.split())
