"""The answer as it stands in the evidence: no language model, nothing made up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from surefoot.evidence.beyond import beyond
from surefoot.evidence.differences import Pointed, differ, newer
from surefoot.evidence.exact import exact, lacking
from surefoot.evidence.policies import finite
from surefoot.evidence.ranking import order, repeats
from surefoot.text.blocks import Part, Span, led, parts
from surefoot.text.words import content_words, stem, words
from surefoot.types import Answer, Citation, Grade, Passage, Strip
from surefoot.types.protocols import Evaluator, Knowledge, OnText

DIFFERS = "“{title}” differs:"
"""Stands before the place of another document that answers otherwise; the newer one is quoted first."""
UNDECIDED = "two documents differ, and nothing tells which is newer"
GAP = "…"
"""Stands where the answer goes back to what its passage says before the block that answers."""
SECOND = 0.3
"""Least share of the first passage's probability that a second one needs to be quoted after it: of a table's rows the
next one mostly speaks of something else."""

_FOOTNOTE = re.compile(r"\s*\[[\s,]*\d[\d,\s]*\]")
"""A number in brackets that the text brought along: in an answer it would cite another source."""
_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
"""The mark of a list's item."""


class Extractive:
    """Quotes the passage that answers, whole: first the block that the reader points at, with the sentence, row or item
    that answers in bold, then the rest of it.

    `reader`: an evaluator whose grades have spans. Configured, it is the pipeline's own evaluator where that has them,
    and the shipped one where not, so that another evaluator changes what is read and not who reads.

    The passages stand in the order of `evidence.ranking`, those first that hold the exact things of the question
    (`evidence.exact`), and so of their rows and sentences. Where another document answers otherwise, its block follows,
    the newer one first (`evidence.differences`); where no date tells, the answer is hedged. Where none does, and the
    reader is less sure of the first than `sure`, the block that it points at in the next one follows, unless that is
    far less likely to answer. Of a passage of more than `words` words, the blocks around that block are shown as far as
    they fit. `whole` False: only the words that it points at. What quoting cannot do is said in a hedge
    (`evidence.beyond`): compare, count, join, choose, judge. It refuses where the reader gives no strip a probability
    of `least` (a reader without probabilities: where it points at nothing). Cost: one graded pair a strip, most of them
    known from refinement; no language-model call.
    """

    def __init__(
        self, reader: Evaluator, least: float = 0.1, whole: bool = True, sure: float = 0.7, words: int = 250
    ) -> None:
        self.reader = reader
        self.least = least
        self.whole = whole
        self.sure = sure
        self.words = words
        self._task = "qa"

    def with_task(self, task: str) -> Extractive:
        """The same, which says that it cannot choose, or judge a claim, where that is the task."""
        posed = copy(self)
        posed._task = task
        return posed

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The quotations, each place cited once, with the words in it that answer; a refusal when there are none."""
        found = self._ranked(question, knowledge)
        if not self.whole:
            found = [one for one in found if one.pointed][:1]
        if not found:
            return Answer("", refused=True, model=self.reader.name)
        return self._answer(question, found)

    def _ranked(self, question: str, knowledge: Knowledge) -> list[_Reading]:
        sought = exact(question), frozenset(map(stem, content_words(question)))
        read = [led(passage.text, strip.start, strip.end) for strip, passage in knowledge]
        pairs = [(question, replace(p, text=text)) for (_, p), (text, _) in zip(knowledge, read, strict=True)]
        grades = list(map(finite, self.reader.grade(pairs)))
        every = [
            _Reading(marker, *each, _moved(grade, each[0].start - lead, each[0]), *sought)
            for marker, (each, (_, lead), grade) in enumerate(zip(knowledge, read, grades, strict=True), start=1)
        ]
        useful = [one for one in every if one.chance >= self.least]
        ranked = [useful[n] for n in order([one.passage for one in useful], [one.grade for one in useful])]
        return sorted(ranked, key=lambda one: one.lacks)

    def _answer(self, question: str, found: Sequence[_Reading]) -> Answer:
        first, *others = found
        if not self.whole:
            return Answer(f"{_plain(first.pointed)} [{first.marker}]", model=self.reader.name)
        rival = next((other for other in others if _differ(question, first, other)), None)
        if rival and newer(rival.passage, first.passage):
            first, rival = rival, first
        second = rival
        if not rival and first.chance < self.sure:
            likely = (one for one in others if one.chance >= SECOND * first.chance)
            second = next((one for one in likely if not repeats(one.strip.text, [first.strip.text])), None)
        quoted = [(first, first.layout(self.words)), *([(second, second.layout(words=0))] if second else [])]
        texts = [_shown(one, shown) for one, shown in quoted]
        citations = tuple(citation for one, shown in quoted for citation in _citations(one, shown))
        if not rival:
            text = "\n\n".join(texts)
            because = beyond(question, "\n".join([*(one.passage.title for one, _ in quoted), text]), self._task)
            return Answer(text, citations, model=self.reader.name, hedged=bool(because), because=because)
        text = f"{texts[0]}\n\n{DIFFERS.format(title=rival.passage.title)}\n\n{texts[1]}"
        dated = newer(first.passage, rival.passage)
        return Answer(text, citations, model=self.reader.name, hedged=not dated, because="" if dated else UNDECIDED)


def _differ(question: str, one: _Reading, other: _Reading) -> bool:
    a, b = (Pointed.of(each.passage, each.grade) for each in (one, other))
    return a is not None and b is not None and differ(question, a, b)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A strip and its grade by the reader, whose offsets are those of the passage's text."""

    marker: int
    strip: Strip
    passage: Passage
    grade: Grade
    things: tuple[str, ...]
    """The exact things of the question."""
    words: frozenset[str]
    """Stems of its words."""

    @property
    def lacks(self) -> int:
        """How many of these the passage does not mention."""
        return len(lacking(f"{self.passage.title}\n{self.passage.text}", self.things))

    @property
    def chance(self) -> float:
        """The probability that it answers; without one, 1 where the reader points at something, else 0."""
        if self.grade.score is None:
            return 0.0
        return float(self.grade.span is not None) if self.grade.probability is None else self.grade.probability

    @property
    def pointed(self) -> str:
        """The words that the reader points at."""
        return self.grade.pointed(self.passage.text)

    @property
    def unit(self) -> Span:
        """The sentence, row or item that answers: the one that it points at, or that it was graded by, unless another
        one holds more of the exact things; of a table, the one row that shares as many words with the question, and
        nothing where there are more. Without one, nothing, at the place that it points at."""
        place = (self.grade.span or self.grade.window or (self.strip.start, 0))[0]
        begin, end = self.strip.start, self.strip.end
        units = [(p, u) for p in parts(self.passage.text) for u in p.units if u[0] < end and begin < u[1]]
        if not units:
            return place, place
        at = next((n for n, (_, unit) in enumerate(units) if place < unit[1]), len(units) - 1)
        missing = [self._missing(*one) for one in units] if self.things else [0] * len(units)
        part, unit = units[at if missing[at] == min(missing) else missing.index(min(missing))]
        if part.kind != "table":
            return unit
        shared = {row: self._shared(row) for row in part.units}
        telling = [row for row, many in shared.items() if many >= max(1, shared[unit])]
        return telling[0] if len(telling) == 1 else (unit[0], unit[0])

    def _missing(self, part: Part, unit: Span) -> int:
        lead, own = (self.passage.text[slice(*span)] for span in (part.lead or (0, 0), unit))
        return len(lacking(f"{self.passage.title}\n{lead}\n{own}", self.things))

    def _shared(self, unit: Span) -> int:
        return len(self.words.intersection(map(stem, words(self.passage.text[slice(*unit)]))))

    def layout(self, words: int) -> Layout:
        """The slices of it to show."""
        return layout(self.strip, self.passage.text, self.unit, words)


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

    unit: Span
    """The sentence, row or item that answers, within the block; empty: none is told."""
    block: Span
    """The paragraph, list, table or code that answers, with the sentence that leads to it."""
    lead: Span | None = None
    """The header or term above the block, where the strip lacks it."""
    after: Span | None = None
    before: Span | None = None

    @property
    def place(self) -> Span:
        """The block with what is shown around it."""
        return (self.before or self.block)[0], (self.after or self.block)[1]


def layout(strip: Strip, text: str, unit: Span, words: int) -> Layout:
    """Lay out a strip of a passage's text: the block around `unit`, then the blocks behind it and those before it, as
    far as `words` words go."""
    every = [part for part in parts(text) if part.start < strip.end and strip.start < part.end]
    if not every:
        return Layout(unit, (strip.start, strip.end))
    last = at = next((n for n, part in enumerate(every) if unit[0] < part.end), len(every) - 1)
    lead = every[at].lead
    first = begin = at - 1 if lead and at and lead[0] < every[at - 1].end else at
    room = words - _count(text, every[first : at + 1])
    while last + 1 < len(every) and (room := room - _count(text, every[last + 1 : last + 2])) >= 0:
        last += 1
    while last + 1 == len(every) and begin and (room := room - _count(text, every[begin - 1 : begin])) >= 0:
        begin -= 1
    start = max(strip.start, every[first].start)
    end = min(strip.end, every[at].end)
    return Layout(
        (max(start, unit[0]), min(end, unit[1])),
        (start, end),
        lead if lead and lead[1] <= start else None,
        (every[at + 1].start, min(strip.end, every[last].end)) if last > at else None,
        (max(strip.start, every[begin].start), every[first - 1].end) if begin < first else None,
    )


def _count(text: str, some: Sequence[Part]) -> int:
    return sum(len(text[part.start : part.end].split()) for part in some)


def _citations(one: _Reading, shown: Layout) -> Iterator[Citation]:
    """The place that is shown, with the words in it that answer; and the lead that stands apart from it."""
    answering = shown.unit if shown.unit[0] < shown.unit[1] else shown.block
    for place, quoted in ((shown.place, answering), *([(shown.lead, shown.lead)] if shown.lead else [])):
        part = Strip(one.passage.id, *place, one.passage.text[slice(*place)], one.strip.score, kept=True)
        yield Citation(one.marker, part, one.passage.text[slice(*quoted)], quoted=True)


def _shown(one: _Reading, shown: Layout) -> str:
    """The slices under each other, the marker behind the block."""
    text = one.passage.text
    lead, after, before = (_readable(text, span) if span else "" for span in (shown.lead, shown.after, shown.before))
    block = _readable(text, shown.block, shown.unit)
    whole_lines = "\n" in block or block.startswith("|")
    block = f"{lead}\n{block}".lstrip("\n") + ("\n" if whole_lines else " ") + f"[{one.marker}]"
    return "\n\n".join(filter(None, (block, after, GAP if before else "", before)))


def _readable(text: str, span: Span, unit: Span = (0, 0)) -> str:
    """The slice as it stands, with `unit` in bold where a part has others; paragraphs on one line and without
    footnotes."""
    pieces = []
    for part in parts(text):
        if part.start < span[1] and span[0] < part.end:
            start, end = max(part.start, span[0]), min(part.end, span[1])
            marked = len(part.units) > 1 and part.kind != "code" and start <= unit[0] < unit[1] <= end
            flowing = _plain if part.kind == "paragraph" else str
            bold = _bold(flowing(text[slice(*unit)])) if marked else ""
            pieces.append(flowing(text[start : unit[0]] + bold + text[unit[1] : end] if marked else text[start:end]))
    return "\n\n".join(pieces) or text[slice(*span)].strip()


def _bold(text: str) -> str:
    """In bold, as Markdown has it: of a row each cell, of an item its first line."""
    first, line_end, rest = text.partition("\n")
    if text.startswith("|"):
        cells = [cell.strip() for cell in text.strip("|").split("|")]
        return f"| {' | '.join(f'**{cell}**' if cell and '*' not in cell else cell for cell in cells)} |"
    mark = _MARK.match(first)
    words = first[mark.end() :] if mark else first
    return text if "*" in words or "`" in words else f"{mark[0] if mark else ''}**{words}**{line_end}{rest}"


def _plain(text: str) -> str:
    return " ".join(_FOOTNOTE.sub("", text).split())
