"""The traits that low-scored records share and others have less, and the words that they miss: in sentences with
counts, or none."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import exp, lgamma

from surefoot.evaluate.diagnose.evidence import seen_by
from surefoot.text.words import content_words
from surefoot.types import Metric, Record

Trait = tuple[str, str]
"""A kind of trait, as `_SENTENCES` has it, and its text."""

FEWEST = 3
"""Low-scored records that share a trait, at least."""
CHANCE = 0.05
"""Chance that any of the traits that were looked at is as unevenly spread by accident, at most (Bonferroni)."""
SHARE = 0.1
"""Share of the low-scored records that lack a missing word that is named, at least."""
LISTED = 3
"""Missing words that a sentence names."""

_SENTENCES = {
    "tag": "{here} of these {low} have the {text}, and {there} of the {others} others.",
    "source": "“{text}” is among the contexts of {here} of these {low}, and of {there} of the {others} others.",
    "word": "The question has “{text}” in {here} of these {low}, and in {there} of the {others} others.",
}


def traits(record: Record) -> frozenset[Trait]:
    """The words of its question, the titles or addresses of its sources, and its tags."""
    found = {("word", word) for word in content_words(record.question)}
    found |= {("source", name) for passage in seen_by(record) if (name := passage.title or passage.url)}
    return frozenset(found | {("tag", f"{name} “{value}”") for name, value in record.tags.items()})


def shared(low: Collection[str], every: Mapping[str, Collection[Trait]]) -> Iterator[str]:
    """For each kind of trait the one that most sets the low-scored records apart from the others, if it is no accident.
    `every` has the traits of all scored records by id, `low` the ids of some of them."""
    others = len(every) - len(low)
    here = Counter(trait for id in low for trait in every[id])
    there = Counter(trait for id, those in every.items() if id not in low for trait in those)
    looked_at = len({*here, *there})
    for kind, sentence in _SENTENCES.items():
        ahead = [t for t, n in here.items() if t[0] == kind and n >= FEWEST and n * others > 2 * there[t] * len(low)]
        if not ahead or not others:
            continue
        best = max(sorted(ahead), key=lambda trait: here[trait] / len(low) - there[trait] / others)
        if looked_at * tail(here[best], len(low), here[best] + there[best], len(every)) < CHANCE:
            yield sentence.format(here=here[best], low=len(low), text=best[1], there=there[best], others=others)


def tail(hits: int, drawn: int, marked: int, of: int) -> float:
    """The chance that of so many drawn at random at least `hits` are marked (hypergeometric; Fisher's exact test)."""
    last = min(drawn, marked)
    chances = (_choose(marked, n) + _choose(of - marked, drawn - n) - _choose(of, drawn) for n in range(hits, last + 1))
    return sum(map(exp, chances))


def _choose(of: int, n: int) -> float:
    """The logarithm of the number of ways to choose."""
    return lgamma(of + 1) - lgamma(n + 1) - lgamma(of - n + 1) if 0 <= n <= of else float("-inf")


def missing(metric: Metric, low: Sequence[Record]) -> Iterator[str]:
    """The words that two of these records and a tenth of them lack, the commonest first: of the reference in answer or
    contexts, or of the answer in the contexts. Nothing for a metric of another kind."""
    corners = [corner for corner in ("truth", "answer", "context") if corner in metric.edge]
    if len(corners) < 2:
        return
    sought, place = corners
    pairs = (({*content_words(_text(record, corner))} for corner in corners) for record in low)
    lacking = Counter(word for there, held in pairs for word in there - held)
    ranked = sorted(lacking.items(), key=lambda each: (-each[1], each[0]))[:LISTED]
    common = [(word, n) for word, n in ranked if n >= max(2, SHARE * len(low))]
    if common:
        listed = ", ".join(f"“{word}” ({n})" for word, n in common)
        lacks = "answer lacks" if place == "answer" else "contexts lack"
        of = "reference" if sought == "truth" else sought
        yield f"Words of the {of} that the {lacks} most often in these {len(low)}: {listed}."


def _text(record: Record, corner: str) -> str:
    if corner == "context":
        return " ".join(f"{passage.title} {passage.text}" for passage in record.contexts or ())
    return " ".join(record.truths) if corner == "truth" else record.answer or ""
