"""What of a passage counts as evidence for a question, and what does not.

A passage can earn a grade, and even an answer, by saying the question again: a made-up FAQ, a quiz with its key, "if
anybody asks …". The evaluator compares words, and no words are closer to a question than its own. But who repeats a
question asserts nothing. Such a sentence is found by what it has in common with the question, whatever else it says and
in whatever language, and does not count: it is blanked out before grading, and its strip is dropped. So is a sentence
that gives orders to the machine (`surefoot.screen`). The rest of the passage counts as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from surefoot.screen import orders, unmasked
from surefoot.types import Action, Grade, Passage
from surefoot.words import content_words, sentences, stem, words

ORDER = "an instruction to the machine"
REPEATED = "it repeats the question"
LEFT_OVER = "it goes on from a repetition of the question"
FOUND = dict.fromkeys((REPEATED, LEFT_OVER), "the question repeated") | {ORDER: "instructions found"}

_WHO = frozenset("who whom whose what which when where why how".split())
_VERBS = frozenset(
    "is are was were do does did can could will would should shall may might must has have had am".split()
)
_MARKS = re.compile("[?？؟]")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
SHARE, MOST = 0.6, 0.75
"""Of a question's words: so many repeat it in a run that begins as it does; so many in any run, or in a question."""
FEWEST = 5
"""Words of a sentence that can say something by itself after a question."""


@dataclass(frozen=True, slots=True)
class Discount:
    """A sentence that does not count as evidence: `text[start:end]`."""

    start: int
    end: int
    because: str


def discounts(question: str, passage: Passage) -> tuple[Discount, ...]:
    """The sentences of the passage that are no evidence for this question, in order and disjoint.

    Where the passage's source is vouched for, a repeated question counts, as in an FAQ of one's own.
    """
    found = dict.fromkeys(orders(passage.text), ORDER)
    if passage.standing != "vouched":
        for span, because in _repetitions(question, passage.text):
            found.setdefault(span, because)
    return tuple(Discount(start, end, found[start, end]) for start, end in sorted(found))


def as_evidence(question: str, passage: Passage) -> Passage:
    """The passage with such sentences replaced by as many spaces, so that all offsets stay true; a title that is one by
    nothing."""
    text = passage.text
    for one in discounts(question, passage):
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    title = "" if discounts(question, replace(passage, text=passage.title)) else passage.title
    return passage if (text, title) == (passage.text, passage.title) else replace(passage, text=text, title=title)


def dismissed(question: str, passages: Sequence[Passage]) -> dict[str, tuple[str, ...]]:
    """What was found that is no evidence, in words, and the ids of the passages that hold it, in text or title."""
    found: dict[str, list[str]] = {}
    for passage in passages:
        title = replace(passage, text=passage.title)
        reasons = {one.because for text in (passage, title) for one in discounts(question, text)}
        for words_of_it in dict.fromkeys(FOUND[because] for because in sorted(reasons)):
            found.setdefault(words_of_it, []).append(passage.id)
    return {what: tuple(ids) for what, ids in found.items()}


def judged(question: str, passages: Sequence[Passage], grades: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grades, with INCORRECT for a passage of which nothing counts as evidence: that is known without a score."""
    return tuple(
        Grade(passage.id, None, label=Action.INCORRECT, reason=why, cap=Action.INCORRECT)
        if (why := _nothing(question, passage))
        else grade
        for passage, grade in zip(passages, grades, strict=True)
    )


def _nothing(question: str, passage: Passage) -> str:
    """Why nothing of the passage counts; empty: something does, or it has no text at all."""
    if not passage.text.strip() or as_evidence(question, passage).text.strip():
        return ""
    reasons = dict.fromkeys(one.because for one in discounts(question, passage))
    return f"nothing in it counts as evidence: {', '.join(reasons)}"


@lru_cache(maxsize=4096)  # a passage is looked at before grading, before refining, and before answering
def _repetitions(question: str, text: str) -> tuple[tuple[tuple[int, int], str], ...]:
    asked = _Asked.of(question)
    found: list[tuple[tuple[int, int], str]] = []
    after = False
    for start, end in sentences(text):
        said = text[start:end]
        repeats = any(map(asked.repeated, dict.fromkeys((said, unmasked(said)))))
        after = repeats or (after and asked.hangs_on(said))
        if after:
            found.append(((start, end), REPEATED if repeats else LEFT_OVER))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, as its repetitions are told from texts that answer it."""

    words: tuple[str, ...]
    asking: int | None
    """Which of the words makes it a question; None: none that is known here."""
    is_question: bool
    """False: a query of keywords, which any good passage repeats."""
    content: frozenset[str]

    @classmethod
    def of(cls, question: str) -> _Asked:
        every = _tokens(question)
        asking = next((n for n, word in enumerate(every) if word in _WHO or (n == 0 and word in _VERBS)), None)
        is_question = asking is not None or bool(_MARKS.search(question))
        return cls(every, asking, is_question, frozenset(map(stem, content_words(question))))

    def repeated(self, said: str) -> bool:
        """Whether a sentence puts the question again, or holds it as it was put."""
        there = _tokens(said)
        if not self.is_question or len(self.content.intersection(map(stem, there))) < SHARE * len(self.content):
            return False
        return self._put(there) or self._asks(said)

    def hangs_on(self, said: str) -> bool:
        """Whether a sentence says nothing without the one before: a clause of it, or a word or two in reply."""
        there = _tokens(said)
        goes_on = not said[:1].isupper() and not said[:1].isdigit()
        return goes_on or (len(there) < FEWEST and self.content.isdisjoint(map(stem, there)))

    def _put(self, there: Sequence[str]) -> bool:
        """In a run of the question's own words, with the one that makes it a question; more of them where that stands
        in its midst, as "which" may in what is no question."""
        run = self._run(there)
        share = SHARE if self.asking is not None and self.asking < 2 else MOST
        whole = self.asking is None or self.asking in run
        return whole and len(run) >= max(3, share * len(self.words))

    def _asks(self, said: str) -> bool:
        """In a question of its own, in which most of the other's words stand."""
        *before, _ = _MARKS.split(said)
        held = self.content.intersection(map(stem, _tokens(" ".join(before))))
        return len(self.content) > 2 and len(held) >= MOST * len(self.content)

    def _run(self, there: Sequence[str]) -> range:
        """Where in the question the longest run of words stands that stands in the sentence too."""
        best = range(0)
        lengths = [0] * (len(there) + 1)
        for i, word in enumerate(self.words):
            previous, lengths = lengths, [0] * (len(there) + 1)
            for j, other in enumerate(there):
                if word == other:
                    lengths[j + 1] = previous[j] + 1
                    if lengths[j + 1] > len(best):
                        best = range(i + 1 - lengths[j + 1], i + 1)
        return best


def _tokens(text: str) -> tuple[str, ...]:
    """Words; of a script without spaces, characters."""
    return tuple(token for word in words(text) for token in (word if _UNSPACED.search(word) else (word,)))
