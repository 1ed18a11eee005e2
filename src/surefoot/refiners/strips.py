"""Decompose, filter, recompose: passages are cut into strips, and the strips that help are kept in their order."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from surefoot.evidence.exclusions import Evidence, ExcludedSentence
from surefoot.evidence.ranking import order
from surefoot.text.blocks import led, parts
from surefoot.text.words import content_words, stem, words
from surefoot.types import Passage, Strip, Thresholds
from surefoot.types.protocols import Evaluator
from surefoot.types.ranges import Count, Natural

Span = tuple[int, int]
Mode = Literal["sentences", "fixed_num", "excerption", "selection"]

UNREAD = "not read: others share more words with the question"


@dataclass(frozen=True, eq=False)
class Strips:
    """Cuts passages into strips and keeps those that help (CRAG paper, section 4.4).

    `mode` says how a passage is cut: "selection" not at all (the passage is the strip, and is read whole), "sentences"
    in groups of `size` (the open reproduction; a passage of one or two sentences is one strip), "fixed_num" in windows
    of `window` words, of which `tail` at least make one of their own, or "excerption" in pieces, in threes, repeated
    ones dropped, and those of `fragment` words or fewer joined to the one before; all but "sentences" are the ways of
    the paper's script. Each strip is graded by the evaluator together with its passage's title, since "He was a
    politician" helps only when the title says who, and with what leads up to it, such as the header of its table; the
    scripts grade the bare text. Strips below the evaluator's strip threshold are dropped, then the `best` of the others
    are kept (None: 5 of "sentences", else 6), by their grades and by how well their passages were found. "selection"
    keeps whole passages against the passages' own lower threshold. `floor` takes the place of either threshold: a low
    one drops nothing, as the paper's selection does.

    Of more than `most` strips those that share the most words with the question are read; others are dropped unread.

    Cost: one graded pair a strip, in one batch a question; none for "selection" where grades are cached.
    """

    evaluator: Evaluator
    thresholds: Thresholds
    mode: Mode = "selection"
    size: Count = 3
    best: Count | None = None
    most: Count = 20
    window: Count = 50
    tail: Natural = 10
    fragment: Natural = 5
    floor: float | None = None

    @property
    def least(self) -> float:
        """The score below which a strip is dropped."""
        own = self.thresholds.lower if self.mode == "selection" else self.thresholds.strip
        return own if self.floor is None else self.floor

    def refine(self, question: str, passages: Sequence[Passage]) -> tuple[Strip, ...]:
        """Every strip of every passage, the kept ones marked; a sentence that is no evidence is one that is dropped."""
        evidence = Evidence.for_question(self.evaluator, question)
        clean = [evidence.masked(passage) for passage in passages]
        cut = [(n, *span) for n, passage in enumerate(passages) for span in self._cut(evidence, passage)]
        read = [replace(clean[n], text=led(clean[n].text, a, b)[0]) for n, a, b, _ in cut]
        telling = self._telling(question, read)
        grades = self.evaluator.grade([(question, read[i]) for i in telling])
        graded = dict(zip(telling, grades, strict=True))
        strips = []
        for i, (n, a, b, excluded) in enumerate(cut):
            why = excluded or ("" if i in graded else UNREAD)
            score = graded[i].score if i in graded else None
            strips.append(self._sift(Strip(passages[n].id, a, b, passages[n].text[a:b], score, not why, why)))
        chosen = [i for i, strip in enumerate(strips) if strip.kept]
        ranked = order([passages[cut[i][0]] for i in chosen], [graded[i] for i in chosen])
        best = self.best or (5 if self.mode == "sentences" else 6)
        for i in (chosen[n] for n in ranked[best:]):
            strips[i] = replace(strips[i], kept=False, reason=f"not among the best {best}")
        return tuple(strips)

    def _telling(self, question: str, read: Sequence[Passage]) -> list[int]:
        """The places of the strips to read, in their order: long tables have more rows than a reader has time for."""
        sought = set(map(stem, content_words(question)))
        shared = [len(sought.intersection(map(stem, words(passage.text)))) for passage in read]
        return sorted(sorted(range(len(read)), key=lambda i: -shared[i])[: self.most])

    def cut(self, text: str) -> list[Span]:
        """The spans of the strips of a text, in order and disjoint."""
        match self.mode:
            case "sentences":
                return by_sentences(text, self.size)
            case "fixed_num":
                return by_windows(text, self.window, self.tail)
            case "excerption":
                return by_excerpts(text, self.fragment)
            case "selection":
                return whole(text)

    def _cut(self, evidence: Evidence, passage: Passage) -> list[tuple[int, int, str]]:
        """Strips of what counts as evidence, and between them each sentence that does not, with the reason."""
        spans: list[tuple[int, int, str]] = []
        begin = 0
        for one in [*evidence.excluded(passage), ExcludedSentence(len(passage.text), len(passage.text), "")]:
            between = self.cut(passage.text[begin : one.start])
            spans += [(begin + start, begin + end, "") for start, end in between]
            spans += [(one.start, one.end, one.because)] if one.because else []
            begin = one.end
        return spans

    def _sift(self, strip: Strip) -> Strip:
        if not strip.kept:
            return strip
        if strip.score is None:
            return replace(strip, kept=False, reason="could not be graded")
        if strip.score < self.least:
            return replace(strip, kept=False, reason=f"{strip.score:.2f} < {self.least:.2f}")
        return strip


def by_sentences(text: str, size: int) -> list[Span]:
    """Groups of `size` sentences of one or several paragraphs; each item of a list, row of a table and block of code
    alone. A heading is no strip."""
    spans: list[Span] = []
    for is_prose, same in groupby(parts(text), lambda part: part.kind in ("paragraph", "caption")):
        if is_prose:
            spans += _grouped([span for part in same for span in part.units], size)
        else:
            spans += [
                span
                for part in same
                for span in (_grouped(part.units, size) if part.kind == "definition" else part.units)
            ]
    return spans


def _grouped(units: Sequence[Span], size: int) -> list[Span]:
    groups = [units[i : i + size] for i in range(0, len(units), size)]
    return [(group[0][0], group[-1][1]) for group in groups]


def by_windows(text: str, window: int, tail: int) -> list[Span]:
    """Windows of so many words; a short tail joins the window before."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    starts = list(range(0, len(spans), window))
    if len(starts) > 1 and len(spans) - starts[-1] < tail:
        starts.pop()
    ends = [*starts[1:], len(spans)] if spans else []
    return [(spans[start][0], spans[end - 1][1]) for start, end in zip(starts, ends, strict=True)]


def by_excerpts(text: str, fragment: int) -> list[Span]:
    """Pieces between "?" and ". ", exact repetitions dropped, short ones joined to the one before, in threes.

    The script joins what is left around a dropped repetition into one text. Ours ends the group there, because a
    strip is a slice of its passage.
    """
    runs: list[list[Span]] = [[]]
    seen: set[str] = set()
    for match in re.finditer(r"\S.*?(?:\?|\.(?=\s)|$)", text, re.DOTALL):
        start, end = match.start(), match.start() + len(match.group().rstrip())
        if text[start:end] in seen:
            runs.append([])
        elif runs[-1] and len(text[start:end].split()) <= fragment:
            runs[-1][-1] = (runs[-1][-1][0], end)
        else:
            seen.add(text[start:end])
            runs[-1].append((start, end))
    return [(run[i][0], run[min(i + 2, len(run) - 1)][1]) for run in runs for i in range(0, len(run), 3)]


def whole(text: str) -> list[Span]:
    """The passage itself."""
    stripped = text.strip()
    return [(text.index(stripped), text.index(stripped) + len(stripped))] if stripped else []
