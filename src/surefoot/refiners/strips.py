"""Decompose, filter, recompose: passages are cut into strips, and the strips that help are kept in their order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from surefoot.evidence.exclusions import Evidence, ExcludedSentence
from surefoot.evidence.ranking import order
from surefoot.text.blocks import led, parts
from surefoot.text.words import content_words, stem, words
from surefoot.types import Passage, Strip, Thresholds
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Evaluator

Span = tuple[int, int]
Mode = Literal["sentences", "fixed_num", "excerption", "selection"]

UNREAD = "not read: others share more words with the question"


@dataclass(frozen=True, slots=True)
class StripSizes:
    """The length of strips, by the way in which they are cut; those of CRAG's released script."""

    size: int = 3
    """"sentences": so many make a strip."""
    window: int = 50
    """"fixed_num": words of a window."""
    tail: int = 10
    """"fixed_num": the fewest words that make a window of their own."""
    fragment: int = 5
    """"excerption": a piece of so many words or fewer joins the one before."""


class Strips:
    """Cuts passages into strips and keeps those that help (CRAG paper, section 4.4).

    `mode` says how a passage is cut: "selection" not at all (the passage is the strip, and is read whole), "sentences"
    in groups of `size` (the open reproduction; a passage of one or two
    sentences is one strip), "fixed_num" in windows of 50 words, or "excerption" in pieces, in threes, repeated ones
    dropped; all but "sentences" are the ways of the paper's script. Each strip is
    graded by the evaluator together with its passage's title, since "He was a politician" helps only when the title
    says who, and with what leads up to it, such as the header of its table; the scripts grade the bare text. Strips
    below the evaluator's strip threshold are dropped, then the `best` of the others are kept, by their grades and by
    how well their passages were found. "selection" keeps whole passages against the passages' own lower threshold.
    `floor` takes the place of either threshold: a low one drops nothing, as the paper's selection does. `size`,
    `window`, `tail` and `fragment` are those of `StripSizes`.

    Of more than `most` strips those that share the most words with the question are read; others are dropped unread.

    Cost: one graded pair a strip, in one batch a question; none for "selection" where grades are cached.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        thresholds: Thresholds,
        mode: Mode = "selection",
        size: int = 3,
        best: int | None = None,
        most: int = 20,
        window: int = 50,
        tail: int = 10,
        fragment: int = 5,
        floor: float | None = None,
    ) -> None:
        if mode not in CUTS:
            raise ConfigError(f"no way to cut strips called '{mode}'; there are: {', '.join(CUTS)}")
        if min(size, most, window, best or 1) < 1 or min(tail, fragment) < 0 or best == 0:
            raise ConfigError("refiner: size, best, most and window must be at least 1, tail and fragment at least 0")
        self.evaluator = evaluator
        own = thresholds.lower if mode == "selection" else thresholds.strip
        self.floor = own if floor is None else floor
        self.mode: Mode = mode
        self.sizes = StripSizes(size, window, tail, fragment)
        self.most = most
        self.best = best or {"sentences": 5, "fixed_num": 6, "excerption": 6, "selection": 6}[mode]

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
        for i in (chosen[n] for n in ranked[self.best :]):
            strips[i] = replace(strips[i], kept=False, reason=f"not among the best {self.best}")
        return tuple(strips)

    def _telling(self, question: str, read: Sequence[Passage]) -> list[int]:
        """The places of the strips to read, in their order: long tables have more rows than a reader has time for."""
        sought = set(map(stem, content_words(question)))
        shared = [len(sought.intersection(map(stem, words(passage.text)))) for passage in read]
        return sorted(sorted(range(len(read)), key=lambda i: -shared[i])[: self.most])

    def _cut(self, evidence: Evidence, passage: Passage) -> list[tuple[int, int, str]]:
        """Strips of what counts as evidence, and between them each sentence that does not, with the reason."""
        spans: list[tuple[int, int, str]] = []
        begin = 0
        for one in [*evidence.excluded(passage), ExcludedSentence(len(passage.text), len(passage.text), "")]:
            between = CUTS[self.mode](passage.text[begin : one.start], self.sizes)
            spans += [(begin + start, begin + end, "") for start, end in between]
            spans += [(one.start, one.end, one.because)] if one.because else []
            begin = one.end
        return spans

    def _sift(self, strip: Strip) -> Strip:
        if not strip.kept:
            return strip
        if strip.score is None:
            return replace(strip, kept=False, reason="could not be graded")
        if strip.score < self.floor:
            return replace(strip, kept=False, reason=f"{strip.score:.2f} < {self.floor:.2f}")
        return strip


def by_sentences(text: str, sizes: StripSizes) -> list[Span]:
    """Groups of `size` sentences of one or several paragraphs; each item of a list, row of a table and block of code
    alone. A heading is no strip."""
    spans: list[Span] = []
    for is_prose, same in groupby(parts(text), lambda part: part.kind in ("paragraph", "caption")):
        if is_prose:
            spans += _grouped([span for part in same for span in part.units], sizes.size)
        else:
            spans += [
                span
                for part in same
                for span in (_grouped(part.units, sizes.size) if part.kind == "definition" else part.units)
            ]
    return spans


def _grouped(units: Sequence[Span], size: int) -> list[Span]:
    groups = [units[i : i + size] for i in range(0, len(units), size)]
    return [(group[0][0], group[-1][1]) for group in groups]


def by_windows(text: str, sizes: StripSizes) -> list[Span]:
    """Windows of so many words; a short tail joins the window before."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    starts = list(range(0, len(spans), sizes.window))
    if len(starts) > 1 and len(spans) - starts[-1] < sizes.tail:
        starts.pop()
    ends = [*starts[1:], len(spans)] if spans else []
    return [(spans[start][0], spans[end - 1][1]) for start, end in zip(starts, ends, strict=True)]


def by_excerpts(text: str, sizes: StripSizes) -> list[Span]:
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
        elif runs[-1] and len(text[start:end].split()) <= sizes.fragment:
            runs[-1][-1] = (runs[-1][-1][0], end)
        else:
            seen.add(text[start:end])
            runs[-1].append((start, end))
    return [(run[i][0], run[min(i + 2, len(run) - 1)][1]) for run in runs for i in range(0, len(run), 3)]


def whole(text: str, _: StripSizes) -> list[Span]:
    """The passage itself."""
    stripped = text.strip()
    return [(text.index(stripped), text.index(stripped) + len(stripped))] if stripped else []


CUTS: dict[str, Callable[[str, StripSizes], list[Span]]] = {
    "sentences": by_sentences,
    "fixed_num": by_windows,
    "excerption": by_excerpts,
    "selection": whole,
}
"""The cut of each mode: (text, sizes) -> spans, in order, disjoint."""
