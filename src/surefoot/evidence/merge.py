"""Local and external knowledge side by side: nothing said twice, and nothing averaged that differs.

Two texts count as the same where the later one says nothing new: they share most word triples (Jaccard), and the
later one has no name, number or negation that the earlier one lacks. Without the second half a copy in which only the
year, or the one name, was changed counts as a copy. Of 60 paragraphs of Wikipedia, 297 of 300 copies (footnotes added,
end cut off, lead-in, other signs, capitals) are found, and 4 of 237 that differ (another year or name, a negation,
another second half) are taken for copies; by the triples alone 300 and 179. MinHash would estimate these triples, and a
few dozen texts a question need no estimate.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from surefoot.evidence.markers import MARKER
from surefoot.text.words import names, words
from surefoot.types import Passage, Strip

ALIKE = 0.8
"""Share of word triples from which two texts may count as the same, by Jaccard, or one as part of the other."""

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
    chosen: list[Passage] = []
    aside = []
    for passage in passages:
        twin = next((other for other in (*known, *chosen) if same(passage.text, other.text)), None)
        if twin or len(chosen) == most:
            why = f"says the same as {twin.id}" if twin else f"not among the best {most} passages from outside"
            aside.append(Strip(passage.id, 0, len(passage.text), passage.text, None, kept=False, reason=why))
        else:
            chosen.append(passage)
    return tuple(chosen), tuple(aside)


def distinct(strips: Sequence[Strip]) -> tuple[Strip, ...]:
    """All strips, in order; of kept ones that say the same, only the first stays kept: local before external."""
    chosen: list[Strip] = []
    merged = []
    for strip in strips:
        twin = next((other for other in chosen if strip.kept and same(strip.text, other.text)), None)
        if twin:
            strip = replace(strip, kept=False, reason=f"says the same as a strip of {twin.passage_id}")
        elif strip.kept:
            chosen.append(strip)
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
    return frozenset(words(MARKER.sub(" ", text)))


@dataclass(frozen=True, slots=True)
class _Print:
    words: frozenset[str]
    triples: frozenset[tuple[str, ...]]
    telling: frozenset[str]
    """The words of names, numbers and negations."""


@lru_cache(maxsize=512)
def _print(text: str) -> _Print:
    plain = MARKER.sub(" ", text)
    every = words(plain)
    triples = frozenset(tuple(every[i : i + 3]) for i in range(max(1, len(every) - 2)))
    telling = {word for name in names(plain) for word in words(name)} | _NEGATIONS.intersection(every)
    return _Print(frozenset(every), triples, frozenset(telling))


def by_id(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages without those whose id came before."""
    first: dict[str, Passage] = {}
    for passage in passages:
        first.setdefault(passage.id, passage)
    return tuple(first.values())
