"""Passages that answer differently: of the corpus and from outside, or of two documents of the corpus. A difference is
shown, with the newer document first where their titles, names or fields give dates, and never averaged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

from surefoot.evidence.exact import number
from surefoot.evidence.markers import MARKER
from surefoot.evidence.merge import same
from surefoot.evidence.sources import origin
from surefoot.text.words import bare, content_words, names, stem, words
from surefoot.types import Conflict, Grade, Passage, Strip

PREFIX = 4
"""Letters that two words begin with where they may be one: "politician" and "political leader"."""
SURE, CERTAIN = 0.5, 0.7
"""Probability from which what the evaluator points at in a passage counts as said there, and from which it does so
although a word of the question is not there: a passage about the bus is graded .6 for the train."""
ROW_END = " |\n"
"""Between two rows of a table."""
VALUE = 4
"""Most words of an answer that is a number and its unit."""
SHORT = 8
"""Most words of an answer that is a name or a value; a longer one is a description, which may differ in words alone."""

_MONTHS = "january february march april may june july august september october november december".split()
_DATE = re.compile(
    rf"(?P<y>(?:19|20)\d\d)(?:-(?P<m>\d\d)(?:-(?P<d>\d\d))?)?(?!\d)"
    rf"|(?:(?P<day>\d{{1,2}})\.?\s+)?(?P<month>{'|'.join(_MONTHS)})\s+(?P<year>(?:19|20)\d\d)",
    re.IGNORECASE,
)
Date = tuple[int, int, int]
"""Year, month and day; 0: not known."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """An answer that the evaluator points at."""

    passage: Passage
    says: str
    chance: float
    """The probability that it is the answer; 1: the evaluator gives none."""

    @classmethod
    def of(cls, passage: Passage, grade: Grade) -> Pointed | None:
        """The words that a grade points at, of a table those of one row; None: it points at none."""
        chance = 1.0 if grade.probability is None else grade.probability
        row = grade.pointed(passage.text).partition(ROW_END)[0]
        return cls(passage, row, chance) if grade.span else None

    @property
    def sure(self) -> bool:
        """It is pointed at with more than even chances."""
        return self.chance >= SURE

    def answers(self, question: str) -> bool:
        """It is certain, or its passage holds every word of the question that tells."""
        there = set(map(stem, words(f"{self.passage.title} {self.passage.text}")))
        return self.chance >= CERTAIN or there.issuperset(map(stem, content_words(question)))


def conflicts(
    question: str, passages: Sequence[Passage], grades: Sequence[Grade], strips: Sequence[Strip]
) -> tuple[Conflict, ...]:
    """The pairs of different answers at which the evaluator points in kept evidence, each of two sources.

    An answer from outside that the corpus has too, and the other way round, is in no conflict, and nothing is where the
    titles name two things.
    """
    every = [
        one
        for passage, grade in zip(passages, grades, strict=True)
        if (one := Pointed.of(passage, grade)) and grade.span and _is_kept(passage, grade.span, strips)
    ]
    sides = {side: [one for one in every if one.passage.source == side] for side in ("corpus", "external")}
    found: dict[tuple[tuple[str, ...], ...], Conflict] = {}
    for a, b in product(*sides.values()):
        backed = any(agree(a.says, c.says) for c in sides["external"]) or any(
            agree(b.says, c.says) for c in sides["corpus"]
        )
        if a.sure and b.sure and not backed and _one_thing(a.passage.title, b.passage.title):
            found.setdefault((_plain(a.says), _plain(b.says)), _conflict(a, b))
    for a, b in combinations(sides["corpus"], 2):
        if differ(question, a, b):
            found.setdefault((_plain(a.says), _plain(b.says)), _conflict(*newest_first(a, b)))
    return tuple(found.values())


def differ(question: str, a: Pointed, b: Pointed) -> bool:
    """True if two sources of the corpus answer differently: as versions of one document do that are not the same, with
    another number or name, or, under titles that hold what the question names, in other words. A title with a part of
    what is named is that of a namesake, and a text without a title may be about anything. What one source says twice is
    one voice."""
    if origin(a.passage) == origin(b.passage):
        return False
    if _versions(a.passage, b.passage):
        return not same(a.passage.text, b.passage.text)
    short = max(len(words(one.says)) for one in (a, b)) <= SHORT
    if not (short and a.sure and b.sure) or agree(a.says, b.says):
        return False
    named = _named(question)
    titles = [set(words(one.passage.title)) for one in (a, b)]
    answering = a.answers(question) and b.answers(question)
    if answering and _values(a.says, b.says) and not _parts(a.passage, b.passage):
        return all(named <= title or named.isdisjoint(title) for title in titles)
    return bool(named) and all(not title or named <= title for title in titles)


def newest_first(a: Pointed, b: Pointed) -> tuple[Pointed, Pointed]:
    """Both, the one of the newer document first; as they are, where their dates do not tell."""
    return (b, a) if newer(b.passage, a.passage) else (a, b)


def newer(one: Passage, other: Passage) -> bool:
    """True if the dates of two passages' documents say that the first is newer."""
    mine, its = dated(one), dated(other)
    return bool(mine and its) and mine > its


def dated(passage: Passage) -> Date:
    """The latest date in the fields, title or file name of a passage's document; three zeros: there is none."""
    sources = [str(passage.meta.get("date") or ""), passage.title, passage.file or ""]
    return max((_date(match) for text in sources for match in _DATE.finditer(text)), default=(0, 0, 0))


def _date(match: re.Match[str]) -> Date:
    month = match["month"]
    numbered = _MONTHS.index(month.lower()) + 1 if month else int(match["m"] or 0)
    return int(match["y"] or match["year"]), numbered, int(match["d"] or match["day"] or 0)


def _undated(title: str) -> list[str]:
    return words(_DATE.sub(" ", bare(title)))


def _parts(a: Passage, b: Passage) -> bool:
    """True if two passages are parts of one document, or of its versions."""
    mine, its = (_undated(one.title.partition(" › ")[0]) for one in (a, b))
    return mine == its


def _versions(a: Passage, b: Passage) -> bool:
    """True if two passages stand under the same headings of documents whose titles differ by a date at most."""
    mine, its = _undated(a.title), _undated(b.title)
    return bool(mine) and mine == its and a.title != b.title


def _is_kept(passage: Passage, span: tuple[int, int], strips: Sequence[Strip]) -> bool:
    return any(s.kept and s.passage_id == passage.id and s.start <= span[0] and span[1] <= s.end for s in strips)


def _conflict(a: Pointed, b: Pointed) -> Conflict:
    return Conflict(a.passage.id, a.says, b.passage.id, b.says)


def _one_thing(a: str, b: str) -> bool:
    """False if two titles name two things: neither has all words of the other, or what stands in brackets differs, as
    it does of namesakes. A text without a title may be about anything."""
    mine, other = set(words(bare(a))), set(words(bare(b)))
    bracketed = [set(words(title)) - set(words(bare(title))) for title in (a, b)]
    return not mine or not other or ((mine <= other or other <= mine) and bracketed[0] == bracketed[1])


def agree(a: str, b: str) -> bool:
    """True if two answers may mean the same, or cannot be compared; wide on purpose.

    They may where a word of one begins like a word of the other, where one is the other's initials, where one's numbers
    are among the other's, or where only one has a number. Of PopQA's answers, the first agrees with 75 % of its aliases
    (rare synonyms are what is left), and with 8 % of the answers to other questions of its relation.
    """
    mine, other = set(_plain(a)), set(_plain(b))
    numbers, others = _numbers(a), _numbers(b)
    if bool(numbers) != bool(others):
        return True
    if numbers:
        return numbers <= others or others <= numbers
    if not mine or not other or _initials(a, b) or _initials(b, a):
        return True
    return any(_akin(x, y) for x, y in product(mine, other))


def _initials(short: str, long: str) -> bool:
    """True if the one consists of the other's initials, as "U.S." does, with or without small words."""
    letters = "".join(words(short))
    every = "".join(word[0] for word in words(long))
    return len(letters) > 1 and letters in (every, "".join(word[0] for word in content_words(long)))


def _values(a: str, b: str) -> bool:
    """True if two short answers are values of one kind: a number each, of one unit where both have one, or a name."""
    if any("\n" in one.strip() for one in (a, b)):
        return False
    if _numbers(a) and _numbers(b):
        units = [[word for word in _plain(one) if not number(word)[0].isdigit()] for one in (a, b)]
        alike = any(_akin(x, y) for x, y in product(*units))
        return max(len(words(one)) for one in (a, b)) <= VALUE and (alike or not all(units))
    return all(_named(one).issuperset(_plain(one)) for one in (a, b))


def _named(text: str) -> set[str]:
    return {word for name in names(text) for word in words(name)}


def _akin(word: str, other: str) -> bool:
    return word.startswith(other[:PREFIX]) or other.startswith(word[:PREFIX])


def _numbers(text: str) -> set[str]:
    """The numbers of a text, "five" as 5."""
    return {value for word in words(MARKER.sub(" ", text)) if (value := number(word))[0].isdigit()}


def _plain(text: str) -> tuple[str, ...]:
    return tuple(content_words(MARKER.sub(" ", text)))
