"""The support of texts for a claim, from the words they share: no model that infers, so a claim that is true for other
words than those that stand there gets less than it deserves, and one that twists the words gets more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass

from surefoot.judges._scores import head
from surefoot.text.refusals import refuses
from surefoot.text.words import STOP_WORDS, sentences, stem, words
from surefoot.types import Passage, Quote
from surefoot.types.protocols import Embedder, Matrix

FEWEST = 4
"""Telling words from which a claim's direction says more than its words do."""
SUPPORTED = 0.5
"""Probability from which a claim counts as carried in an explanation; values take the probabilities as they are."""
_MARKS = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|\*\*|https?://\S+|(?m:^)\s*(?:[-*•#]+|\d{1,2}[.)])\s+")
_NEGATIONS = frozenset("not no never none nor neither cannot without nobody nothing t".split())
"""Words that negate, with the "t" of a "did n't" that was cut apart."""
_PERSON = frozenset("i me my we our you your im ourselves myself".split())


@dataclass(frozen=True, slots=True)
class Shared:
    """The words and the meaning that a claim shares with texts."""

    triples: float
    """Share of its word triples that stand in the texts; of fewer than three words, whether they stand side by side."""
    near: float
    """Cosine with the nearest sentence; of a claim of few words, which has no direction, the share of its telling words
    in the sentence that has most of them."""
    person: float
    """True if it speaks of "I" or "you", and no text does."""
    figures: float
    """Share of its numbers that stand nowhere; 0 where it has none."""
    negation: float
    """True if one of the claim and the sentence that has most of it is negated, and the other is not."""


NAMES = tuple(Shared.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class WordSupport:
    """The support of the texts for a claim."""

    shared: Shared
    passage_id: str
    """The text whose sentence has most of the claim's telling words."""
    sentence: str
    """That sentence, as it stands there."""
    missing: tuple[str, ...]
    """Telling words of the claim that stand nowhere, in order."""

    @property
    def probability(self) -> float:
        """The chance that people would say so, by the package's own head."""
        return head("support").probability(astuple(self.shared))


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage_id: str
    text: str
    words: tuple[str, ...]
    stems: tuple[str, ...]
    held: frozenset[str]


class SourceTexts:
    """Texts that claims are held against, cut into sentences and embedded once."""

    def __init__(self, passages: Sequence[Passage], embedder: Embedder) -> None:
        self._embedder = embedder
        self._sentences = []
        for passage in passages:
            for text in _cut(f"{passage.title}\n{passage.text}"):
                plain = tuple(words(plainly(text)))
                stems = tuple(stem(word) for word in plain)
                self._sentences.append(_Sentence(passage.id, text, plain, stems, frozenset(stems)))
        self._vectors: Matrix = embedder.embed([one.text for one in self._sentences])
        self._words = {word for one in self._sentences for word in one.words}
        self._stems = {word for one in self._sentences for word in one.stems}
        self._triples = {triple for one in self._sentences for triple in _triples(one.stems)}

    @property
    def empty(self) -> bool:
        """Nothing stands there but addresses and marks."""
        return not self._stems

    def of(self, claim: str) -> WordSupport:
        """The claim against all the texts; raises ValueError where they are empty."""
        plain = words(plainly(claim))
        every = [word for word in plain if word not in STOP_WORDS] or plain or ["?"]
        sought = {stem(word): word for word in every}
        cosines = self._vectors @ self._embedder.embed([plainly(claim)])[0]
        ranks = [(len(sought.keys() & one.held), cosine) for one, cosine in zip(self._sentences, cosines, strict=True)]
        best = self._sentences[ranks.index(max(ranks))]
        near = max(ranks)[0] / len(sought) if len(sought) < FEWEST else max(0.0, float(cosines.max()))
        numbers = [word for word in plain if word[0].isdigit()]
        stems = tuple(stem(word) for word in plain)
        if known := _triples(stems):
            triples = sum(triple in self._triples for triple in known) / len(known)
        else:  # fewer than three words
            runs = (one.stems[i : i + len(stems)] for one in self._sentences for i in range(len(one.stems)))
            triples = float(stems in runs)
        shared = Shared(
            triples,
            near,
            float(bool(_PERSON.intersection(plain) - self._words)),
            sum(word not in self._words for word in numbers) / len(numbers) if numbers else 0.0,
            float(_NEGATIONS.isdisjoint(plain) != _NEGATIONS.isdisjoint(best.words)),
        )
        missing = tuple(word for stemmed, word in sought.items() if stemmed not in self._stems)
        return WordSupport(shared, best.passage_id, best.text, missing)

    def carry(self, claims: Sequence[str]) -> ClaimSupport:
        """All the claims, of which there is one at least; raises ValueError where the texts are empty."""
        each = tuple(self.of(claim) for claim in claims)
        least = min(range(len(each)), key=lambda place: each[place].probability)
        return ClaimSupport(each, claims[least], each[least])


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """The support of the texts for several claims."""

    each: tuple[WordSupport, ...]
    claim: str
    """The one that is carried least."""
    least: WordSupport

    @property
    def carried(self) -> int:
        """The number of claims that are likely carried."""
        return sum(one.probability >= SUPPORTED for one in self.each)

    @property
    def mean(self) -> float:
        """The mean chance that a claim is carried."""
        return sum(one.probability for one in self.each) / len(self.each)

    @property
    def weakest(self) -> str:
        """The claim that is carried least, in words: its chance, the nearest sentence, and what stands nowhere."""
        missing = f"; nowhere in the contexts: {', '.join(self.least.missing[:8])}" if self.least.missing else ""
        chance = f"({self.least.probability:.2f})"
        return f"“{plainly(self.claim)}” {chance}, nearest to “{plainly(self.least.sentence)}”{missing}"

    def quotes(self, where: str) -> tuple[Quote, Quote]:
        """The claim that is carried least, from this corner of the record, and the sentence nearest to it."""
        return Quote(self.claim, where, True), Quote(self.least.sentence, self.least.passage_id, True)


def claims(text: str) -> list[str]:
    """The sentences and lines of lists of an answer, but for those that lead up to a list, or refuse."""
    return [one for one in _cut(text) if not refuses(plainly(one)) and not one.rstrip("* ").endswith(":")]


def plainly(text: str) -> str:
    """Without markers of citations, addresses and signs of Markdown."""
    return " ".join(_MARKS.sub(" ", text).split())


def _cut(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for start, end in sentences(line):
            if words(plainly(line[start:end])):
                yield line[start:end]


def _triples(stems: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(stems[i : i + 3]) for i in range(len(stems) - 2)]
