"""The answer as it stands in the evidence: no language model, nothing made up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from surefoot.evidence.policies import finite
from surefoot.evidence.ranking import order, repeats
from surefoot.text.blocks import Part, Span, led, parts
from surefoot.types import Answer, Citation, Grade, Passage, Strip
from surefoot.types.protocols import Evaluator, Knowledge, OnText

GAP = "…"
"""Stands where the answer goes back to what its passage says before the block that answers."""

_FOOTNOTE = re.compile(r"\s*\[[\s,]*\d[\d,\s]*\]")
"""A number in brackets that the text brought along: in an answer it would cite another source."""


class Extractive:
    """Quotes the passage that answers, whole: first the block that the reader points at, marked, then the rest of it.

    `reader`: an evaluator whose grades have spans. Configured, it is the pipeline's own evaluator where that has them,
    and the shipped one where not, so that another evaluator changes what is read and not who reads.

    The passages stand in the order of `evidence.ranking`. Where the reader is less sure of the first than `sure`, the
    block that it points at in the next one follows. Of a passage of more than `words` words, the blocks around that
    block are shown as far as they fit. `whole` False: only the words that it points at. It refuses where the reader
    gives no strip a probability of `least` (a reader without probabilities: where it points at nothing). Cost: one
    graded pair a strip, most of them known from refinement; no language-model call.
    """

    def __init__(
        self, reader: Evaluator, least: float = 0.1, whole: bool = True, sure: float = 0.7, words: int = 250
    ) -> None:
        self.reader = reader
        self.least = least
        self.whole = whole
        self.sure = sure
        self.words = words

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The quotations, each cited to its strip, best first; a refusal when there are none."""
        found = self._ranked(question, knowledge)
        if not self.whole:
            found = [one for one in found if one.pointed][:1]
        if not found:
            return Answer("", refused=True, model=self.reader.name)
        answer = self._answer(found)
        if on_text:
            on_text(answer.text)
        return answer

    def _ranked(self, question: str, knowledge: Knowledge) -> list[_Reading]:
        read = [led(passage.text, strip.start, strip.end) for strip, passage in knowledge]
        pairs = [(question, replace(p, text=text)) for (_, p), (text, _) in zip(knowledge, read, strict=True)]
        grades = list(map(finite, self.reader.grade(pairs)))
        every = [
            _Reading(marker, *each, _moved(grade, each[0].start - lead, each[0]))
            for marker, (each, (_, lead), grade) in enumerate(zip(knowledge, read, grades, strict=True), start=1)
        ]
        useful = [one for one in every if one.chance >= self.least]
        return [useful[n] for n in order([one.passage for one in useful], [one.grade for one in useful])]

    def _answer(self, found: Sequence[_Reading]) -> Answer:
        first, *others = found
        if not self.whole:
            return Answer(f"{_plain(first.pointed)} [{first.marker}]", model=self.reader.name)
        quoted = [(first, first.layout(self.words))]
        if first.chance < self.sure:
            second = next((one for one in others if not repeats(one.strip.text, [first.strip.text])), None)
            quoted += [(second, second.layout(words=0))] if second else []
        texts = [_shown(one, shown) for one, shown in quoted]
        citations = [_citation(one, span) for one, shown in quoted for span in shown.slices]
        return Answer("\n\n".join(texts), tuple(citations), model=self.reader.name)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A strip and its grade by the reader, whose offsets are those of the passage's text."""

    marker: int
    strip: Strip
    passage: Passage
    grade: Grade

    @property
    def chance(self) -> float:
        """The probability that it answers; without one, 1 where the reader points at something, else 0."""
        if self.grade.score is None:
            return 0.0
        return float(self.grade.span is not None) if self.grade.probability is None else self.grade.probability

    @property
    def pointed(self) -> str:
        """The words that the reader points at."""
        return self.passage.text[slice(*self.grade.span)] if self.grade.span else ""

    @property
    def place(self) -> int:
        """The place that it points at, or else where the part begins that it was graded by."""
        return (self.grade.span or self.grade.window or (self.strip.start, 0))[0]

    def layout(self, words: int) -> Layout:
        """The slices of it to show."""
        return layout(self.strip, self.passage.text, self.place, words)


def _moved(grade: Grade, by: int, strip: Strip) -> Grade:
    """The grade with its places moved into the passage's text, none before the strip."""
    span, window = (
        place and (max(strip.start, place[0] + by), max(strip.start + 1, place[1] + by))
        for place in (grade.span, grade.window)
    )
    return replace(grade, span=span, window=window)


@dataclass(frozen=True, slots=True)
class Layout:
    """The slices of a passage's text that an answer shows."""

    block: Span
    """The paragraph, list, table or code that answers, with the sentence that leads to it."""
    lead: Span | None = None
    """The header or term above the block, where the strip lacks it."""
    after: Span | None = None
    before: Span | None = None

    @property
    def slices(self) -> tuple[Span, ...]:
        """All of them, the block first."""
        return tuple(filter(None, (self.block, self.lead, self.after, self.before)))


def layout(strip: Strip, text: str, place: int, words: int) -> Layout:
    """Lay out a strip of a passage's text: the block at `place`, then the blocks behind it and those before it, as far
    as `words` words go."""
    every = [part for part in parts(text) if part.start < strip.end and strip.start < part.end]
    if not every:
        return Layout((strip.start, strip.end))
    last = at = next((n for n, part in enumerate(every) if place < part.end), len(every) - 1)
    lead = every[at].lead
    first = begin = at - 1 if lead and at and lead[0] < every[at - 1].end else at
    room = words - _count(text, every[first : at + 1])
    while last + 1 < len(every) and (room := room - _count(text, every[last + 1 : last + 2])) >= 0:
        last += 1
    while last + 1 == len(every) and begin and (room := room - _count(text, every[begin - 1 : begin])) >= 0:
        begin -= 1
    start = max(strip.start, every[first].start)
    return Layout(
        (start, min(strip.end, every[at].end)),
        lead if lead and lead[1] <= start else None,
        (every[at + 1].start, min(strip.end, every[last].end)) if last > at else None,
        (max(strip.start, every[begin].start), every[first - 1].end) if begin < first else None,
    )


def _count(text: str, some: Sequence[Part]) -> int:
    return sum(len(text[part.start : part.end].split()) for part in some)


def _citation(one: _Reading, span: Span) -> Citation:
    part = Strip(one.passage.id, *span, one.passage.text[slice(*span)], one.strip.score, kept=True)
    return Citation(one.marker, part, part.text, quoted=True)


def _shown(one: _Reading, shown: Layout) -> str:
    """The slices under each other, the marker behind the block."""
    lead, block, after, before = (
        _readable(one.passage.text, span) if span else ""
        for span in (shown.lead, shown.block, shown.after, shown.before)
    )
    whole_lines = "\n" in block or block.startswith("|")
    block = f"{lead}\n{block}".lstrip("\n") + ("\n" if whole_lines else " ") + f"[{one.marker}]"
    return "\n\n".join(filter(None, (block, after, GAP if before else "", before)))


def _readable(text: str, span: Span) -> str:
    """The slice as it stands; paragraphs on one line and without footnotes."""
    pieces = []
    for part in parts(text):
        if part.start < span[1] and span[0] < part.end:
            piece = text[max(part.start, span[0]) : min(part.end, span[1])]
            pieces.append(_plain(piece) if part.kind == "paragraph" else piece)
    return "\n\n".join(pieces) or text[slice(*span)].strip()


def _plain(text: str) -> str:
    return " ".join(_FOOTNOTE.sub("", text).split())
