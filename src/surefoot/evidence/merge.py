"""Local and external knowledge side by side: nothing said twice, and nothing averaged that differs.

Two texts count as the same where the later one says nothing new: they share most word triples (Jaccard), and the
later one has no name, number or negation that the earlier one lacks. Without the second half a copy in which only the
year, or the one name, was changed counts as a copy. Of 60 paragraphs of Wikipedia, 297 of 300 copies (footnotes added,
end cut off, lead-in, other signs, capitals) are found, and 4 of 237 that differ (another year or name, a negation,
another second half) are taken for copies; by the triples alone 300 and 179. MinHash would estimate these triples, and a
few dozen texts a question need no estimate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

from surefoot.text.words import bare, content_words, names, sentences, words
from surefoot.types import Conflict, Grade, Passage, Strip

ALIKE = 0.8
"""Share of word triples from which two texts may count as the same, by Jaccard, or one as part of the other."""
SAME_SENTENCE = 0.8
"""Share of content words, numbers aside, from which two sentences count as one statement with another number."""
PREFIX = 4
"""Letters that two words begin with where they may be one: "politician" and "political leader"."""
SURE = 0.5
"""Probability from which what the evaluator points at in a passage counts as said there."""
FEWEST = 4
"""Content words, numbers aside, that such a sentence has at least: "Born 1911." and "Born 1912." may be two people."""

_FOOTNOTE = re.compile(r"\[\d+\]")
_NEGATIONS = {"not", "no", "never", "none", "nor", "neither", "cannot"}


def fresh(hits: Sequence[Passage], known: Sequence[Passage]) -> tuple[Passage, ...]:
    """The hits that are new: neither their id is known, nor, word for word, their title and text.

    The same text under another title is graded again, because the title may be what says whom it is about.
    """
    seen = {key for passage in known for key in _keys(passage)}
    new = []
    for hit in hits:
        if seen.isdisjoint(_keys(hit)):
            new.append(hit)
        seen.update(_keys(hit))
    return tuple(new)


def _keys(passage: Passage) -> tuple[str, tuple[str, ...]]:
    return passage.id, (*words(passage.title), "\n", *words(passage.text))


def selected(
    passages: Sequence[Passage], known: Sequence[Passage], most: int
) -> tuple[tuple[Passage, ...], tuple[Strip, ...]]:
    """The first `most` passages that say something new beside `known`; each other one as a dropped strip with why."""
    kept: list[Passage] = []
    aside = []
    for passage in passages:
        twin = next((other for other in (*known, *kept) if same(passage.text, other.text)), None)
        if twin or len(kept) == most:
            why = f"says the same as {twin.id}" if twin else f"not among the best {most} passages from outside"
            aside.append(Strip(passage.id, 0, len(passage.text), passage.text, None, kept=False, reason=why))
        else:
            kept.append(passage)
    return tuple(kept), tuple(aside)


def distinct(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """All strips, in order; of kept ones that say the same, only the first stays kept: local before external."""
    kept: list[Strip] = []
    merged = []
    for strip in strips:
        twin = next((other for other in kept if strip.kept and same(strip.text, other.text)), None)
        if twin:
            strip = replace(strip, kept=False, reason=f"says the same as a strip of {twin.passage_id}")
        elif strip.kept:
            kept.append(strip)
        merged.append(strip)
    return tuple(merged)


def same(later: str, earlier: str) -> bool:
    """True if the earlier text says all that the later one says, in nearly the same words."""
    a, b = _print(later), _print(earlier)
    return len(a.triples & b.triples) >= ALIKE * len(a.triples | b.triples) and a.telling <= b.words


def covered(later: Passage, earlier: Passage) -> bool:
    """True if the earlier passage has all words of the later one, most in the same order, and its title those of the
    later one's last heading: what is said of another thing in the same words is said of another thing."""
    heading, title, there = _bag(later.title.split(" › ")[-1]), _bag(earlier.title), _bag(earlier.text)
    if not heading <= title or any(word not in there and word not in title for word in _bag(later.text)):
        return False
    mine = _print(later.text).triples
    return len(mine & _print(earlier.text).triples) >= ALIKE * len(mine)


@lru_cache(maxsize=1024)
def _bag(text: str) -> frozenset[str]:
    return frozenset(words(_FOOTNOTE.sub(" ", text)))


@dataclass(frozen=True, slots=True)
class _Print:
    words: frozenset[str]
    triples: frozenset[tuple[str, ...]]
    telling: frozenset[str]
    """The words of names, numbers and negations."""


@lru_cache(maxsize=512)
def _print(text: str) -> _Print:
    plain = _FOOTNOTE.sub(" ", text)
    every = words(plain)
    triples = frozenset(tuple(every[i : i + 3]) for i in range(max(1, len(every) - 2)))
    telling = {word for name in names(plain) for word in words(name)} | _NEGATIONS.intersection(every)
    return _Print(frozenset(every), triples, frozenset(telling))


def conflicts(passages: Sequence[Passage], grades: Sequence[Grade], strips: Sequence[Strip]) -> tuple[Conflict, ...]:
    """Where kept evidence of the corpus and kept evidence from outside differ; each pair of sayings once.

    Two passages differ when the evaluator points at other answers in them, or when they hold the same sentence with
    another number, another name or a negation. An answer that the other side has too is in no conflict, and nothing is
    where their titles name two things.
    """
    kept = [strip for strip in strips if strip.kept]
    sides = {"corpus": list[Statement](), "external": list[Statement]()}
    for passage, grade in zip(passages, grades, strict=True):
        own = [strip for strip in kept if strip.passage_id == passage.id]
        sides[passage.source] += _claims(passage, grade, own)
    local, external = sides["corpus"], sides["external"]
    found: dict[tuple[tuple[str, ...], ...], Conflict] = {}
    for a, b in product(local, external):
        if _differ(a, b, local, external):
            found.setdefault((_plain(a.says), _plain(b.says)), Conflict(a.passage_id, a.says, b.passage_id, b.says))
    return tuple(found.values())


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a kept piece of evidence."""

    passage_id: str
    title: str
    says: str
    answer: bool
    """True: the evaluator points at it as the answer; False: it is a sentence."""


def _claims(passage: Passage, grade: Grade, strips: Sequence[Strip]) -> Iterator[Statement]:
    for strip in strips:
        if grade.span and _sure(grade) and strip.start <= grade.span[0] and grade.span[1] <= strip.end:
            yield Statement(passage.id, passage.title, passage.text[slice(*grade.span)], answer=True)
        for start, end in sentences(strip.text):
            yield Statement(passage.id, passage.title, strip.text[start:end], answer=False)


def _sure(grade: Grade) -> bool:
    return grade.probability is None or grade.probability >= SURE


def _differ(a: Statement, b: Statement, local: Sequence[Statement], external: Sequence[Statement]) -> bool:
    if a.answer != b.answer or not _one_thing(a.title, b.title):
        return False
    if not a.answer:
        return _other_number(a.says, b.says) or _reversed(a.says, b.says)
    backed = any(agree(a.says, c.says) for c in external if c.answer)
    return not backed and not any(agree(b.says, c.says) for c in local if c.answer)


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
    alike = any(x.startswith(y[:PREFIX]) or y.startswith(x[:PREFIX]) for x, y in product(mine, other))
    return not mine or not other or alike or _initials(a, b) or _initials(b, a)


def _initials(short: str, long: str) -> bool:
    """True if the one consists of the other's initials, as "U.S." does, with or without small words."""
    letters = "".join(words(short))
    every = "".join(word[0] for word in words(long))
    return len(letters) > 1 and letters in (every, "".join(word[0] for word in content_words(long)))


def _other_number(a: str, b: str) -> bool:
    """True if these are one sentence but for one number in each."""
    numbers, others = _numbers(a), _numbers(b)
    if len(numbers - others) != 1 or len(others - numbers) != 1:
        return False
    mine, other = set(_plain(a)) - numbers, set(_plain(b)) - others
    return len(mine & other) >= max(FEWEST, SAME_SENTENCE * len(mine | other))


def _reversed(a: str, b: str) -> bool:
    """True if these are one sentence but for one place behind its first content word, where only one has a negation, or
    where each has another name."""
    mine, other = _sequence(a), _sequence(b)
    before = _alike(mine, other)
    after = _alike(mine[before:][::-1], other[before:][::-1])
    shared = (*mine[:before], *mine[len(mine) - after :])
    if len(set(content_words(" ".join(shared)))) < FEWEST or not content_words(" ".join(mine[:before])):
        return False
    x, y = mine[before : len(mine) - after], other[before : len(other) - after]
    if not x or not y:
        return bool(x + y) and _NEGATIONS.issuperset(x + y)
    named = _print(a).telling.issuperset(x) and _print(b).telling.issuperset(y)
    return named and _NEGATIONS.isdisjoint(x + y) and not agree(" ".join(x), " ".join(y))


def _alike(a: Sequence[str], b: Sequence[str]) -> int:
    """How many words two sequences have in common at their beginning."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@lru_cache(maxsize=512)
def _sequence(text: str) -> tuple[str, ...]:
    return tuple(words(_FOOTNOTE.sub(" ", text)))


def _numbers(text: str) -> set[str]:
    return {word for word in words(_FOOTNOTE.sub(" ", text)) if word[0].isdigit()}


def _plain(text: str) -> tuple[str, ...]:
    return tuple(content_words(_FOOTNOTE.sub(" ", text)))


def by_id(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages without those whose id came before."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.id, passage)
    return tuple(first.values())
