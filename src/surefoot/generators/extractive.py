"""The answer as it stands in the evidence: no language model, nothing made up."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile
from textwrap import dedent

from surefoot.evidence.policies import finite
from surefoot.evidence.ranking import order, repeats
from surefoot.text.blocks import Part, Span, led, parts
from surefoot.text.comparison import about, questions
from surefoot.text.words import content_words, stem, words
from surefoot.types import Answer, Citation, Grade, Strip
from surefoot.types.protocols import Evaluator, Knowledge, OnText

DECIDES = "This decides:"
"""Stands before the sentence that answers yes or no without saying so."""
LONGEST = 80
"""Words of a list, a table or code that is shown whole; of a longer one, the item, row, or lines that were pointed at,
of code as far as the next empty ones."""

LONGEST_NAME = 12
"""Words of a heading that is repeated before what stands under it."""

_NAME = re.compile(r"(?<!\S)--?\w|[A-Za-z]\w*[_.:/][A-Za-z]|\w\(|_\w")
"""Of an option, a function, a variable or a file."""
_SITE = re.compile(r"\s[—|–]\s")
"""What parts the name of a page from that of its manual."""
_CLOSED = re.compile(r"[.!?…。！？][\"'”’»)\]]*\Z")
"""The end of a sentence that nothing has to follow."""
_EMPTY = re.compile(r"\n(?:[ \t]*\n){2,}")
"""Several empty lines, as in a picture of a screen; one is as good."""
_FOOTNOTE = re.compile(r"\s*\[[\s,]*\d[\d,\s]*\]")
"""A number in brackets that the text brought along: in an answer it would cite another strip."""
_YES_OR_NO = re.compile(
    r"\W*(?:is|are|was|were|do|does|did|can|could|may|might|will|would|should|must|has|have|had)\b(?!.*\bor\b)",
    re.IGNORECASE | re.DOTALL,
)
_STEPS = re.compile(r"\b(?:how|wie|comment|cómo|come|hoe|як|как)\b|怎么|如何|どう", re.IGNORECASE)


class Extractive:
    """Quotes what the reader points at: a sentence, a list with its lead, a row with its header, or code.

    `reader`: an evaluator whose grades have spans. Configured, it is the pipeline's own evaluator where that points,
    and the shipped one where not, so that another evaluator changes what is read and not who reads.

    Strips that point at the same words add up: what several sources say wins over what the best one says alone. Where
    the reader is less sure of the first quotation than `sure`, others follow it, up to `most` of them and `words` words
    in all. `whole` False: with no more than the words that the best strip points at. It refuses where nothing is
    pointed at, or where no strip that points holds the answer with a probability of `least` (for a reader without
    probabilities: always, as it says by pointing). Cost: one graded pair a strip, most of them known from refinement;
    no language-model call.
    """

    def __init__(
        self,
        reader: Evaluator,
        least: float = 0.1,
        whole: bool = True,
        sure: float = 0.9,
        most: int = 3,
        words: int = 74,
        context: int = 30,
    ) -> None:
        self.reader = reader
        self.least = least
        self.whole = whole
        self.sure = sure
        self.most = most
        self.words = words
        self.context = context

    def generate(self, question: str, knowledge: Knowledge, on_text: OnText = None) -> Answer:
        """The quotations, each cited to the strip that points at it best; a refusal when there are none."""
        ranked = self._ranked(question, knowledge)
        if not ranked:
            return Answer("", refused=True, model=self.reader.name)
        if self.whole:
            answer = self._quoting(question, self._sides(question, ranked, knowledge), knowledge)
        else:
            answer = Answer(f"{ranked[0].pointed} [{ranked[0].marker}]", model=self.reader.name)
        if on_text:
            on_text(answer.text)
        return answer

    def _ranked(self, question: str, knowledge: Knowledge) -> list[_Vote]:
        """The best vote for each of the words that strips point at, the best of all first."""
        read = [led(passage.text, strip.start, strip.end) for strip, passage in knowledge]
        pairs = [(question, replace(p, text=text)) for (_, p), (text, _) in zip(knowledge, read, strict=True)]
        grades = map(finite, self.reader.grade(pairs))
        votes: dict[str, list[_Vote]] = defaultdict(list)
        for marker, ((strip, _), (text, lead), grade) in enumerate(zip(knowledge, read, grades, strict=True), start=1):
            pointed = _plain(text[slice(*grade.span)]) if grade.span else ""
            if grade.span and pointed and _weight(grade) >= self.least:
                shift = strip.start - lead
                span = max(strip.start, grade.span[0] + shift), max(strip.start + 1, grade.span[1] + shift)
                votes[" ".join(words(pointed)) or pointed].append(_Vote(_weight(grade), marker, pointed, span))
        leaders = [max(found, key=lambda vote: vote.weight) for found in votes.values()]
        weights = [sum(vote.weight for vote in found) for found in votes.values()]
        return [leaders[n] for n in order([knowledge[vote.marker - 1][1] for vote in leaders], weights)]

    def _sides(self, question: str, ranked: Sequence[_Vote], knowledge: Knowledge) -> Sequence[_Vote]:
        """The votes to quote: of a comparison the best sentence on either thing, where both have one and the best of
        all does not name both; else the ranked ones."""
        if ranked[0].weight >= self.sure:
            return ranked[:1]
        things = about(question)
        if set().union(*things) <= set(words(knowledge[ranked[0].marker - 1][0].text)):
            return ranked
        sides: list[_Vote] = []
        for asked, own in zip(questions(question)[1:], things, strict=True):
            votes = self._ranked(asked, knowledge)
            sides += next(([vote] for vote in votes if _defines(vote, own, knowledge)), [])
        return sides if len(sides) > 1 else ranked

    def _quoting(self, question: str, ranked: Sequence[_Vote], knowledge: Knowledge) -> Answer:
        texts: list[str] = []
        citations: list[Citation] = []
        headings: set[str] = set()
        room = self.words
        for vote in ranked:
            strip, passage = knowledge[vote.marker - 1]
            spans = extent(question, passage.text, vote.span, self.context)
            slices = [Strip(passage.id, a, b, passage.text[a:b], strip.score, kept=True) for a, b in spans]
            lines = _lines(passage.text, spans)
            if heading := _heading(question, passage.title, lines, headings):
                lines = [f"{heading}:", *lines]
            length = len(" ".join(lines).split())
            if texts and (length > room or _said(slices[-1], citations)):
                continue
            headings.add(heading)
            if not texts and _YES_OR_NO.match(question):
                lines = [DECIDES, *lines]
            texts.append(_cited(lines, f" [{vote.marker}]"))
            citations += [Citation(vote.marker, each, each.text, quoted=True) for each in slices]
            room -= length
            if len(texts) == self.most or room <= 0:
                break
        return Answer("\n\n".join(texts), tuple(citations), model=self.reader.name)


@dataclass(frozen=True, slots=True)
class _Vote:
    """What a strip points at."""

    weight: float
    marker: int
    pointed: str
    span: Span
    """In the passage's text."""


def extent(question: str, text: str, span: Span, context: int) -> tuple[Span, ...]:
    """The slices of a passage's text that answer where `span` was pointed at: the sentence, with its neighbours while
    they take no more than `context` words, the list or the code that it stands in, each with what leads to it. Of a
    definition of what the question names, and nothing else, the whole. Behind a sentence that has no end, or for a
    question that asks how, the list or the code that follows."""
    every = parts(text)
    at = next((n for n, part in enumerate(every) if span[0] < part.end), len(every) - 1)
    part = every[at]
    touched = [unit for unit in part.units if unit[0] < span[1] and span[0] < unit[1]] or [*part.units[:1]]
    if not touched:
        return ((part.start, part.end),)
    begin, end = touched[0][0], touched[-1][1]
    if part.kind in ("paragraph", "caption", "note", "contents"):
        said = _amid(text, part.units, touched, context)
        leads = said[1] == part.units[-1][1] and (_STEPS.search(question) or not _CLOSED.search(text, *said))
        announced = text.endswith(":", *said)
        if leads and (shown := _following(text, every[at + 1 :], announced, context)):
            return (begin, said[1]), *shown
        return (said,)
    lead = (part.lead,) if part.lead else ()
    if part.kind in ("list", "code") and _fits(text, part):
        return (*lead, (part.start, part.end))
    if part.kind == "code":
        lines = _around(text, span, "\n\n", (begin, end))
        return (*lead, lines if _words(text, *lines) <= LONGEST else _around(text, span, "\n", (begin, end)))
    if part.kind == "definition":
        named = part.lead and set(map(stem, words(text[slice(*part.lead)])))
        whole = named and named.issuperset(map(stem, content_words(question)))
        return (*lead, _amid(text, part.units, touched, LONGEST if whole else context))
    return (*lead, (begin, end))


def _following(text: str, following: Sequence[Part], announced: bool, context: int) -> Sequence[Span]:
    """The list, table or code that comes next, unless it is long. Of what is announced, else the terms of definitions,
    unless they are long, or a paragraph of at most `context` words."""
    if following and following[0].kind in ("list", "code", "table"):
        return ((following[0].start, following[0].end),) if _fits(text, following[0]) else ()
    terms = [part.lead for part in takewhile(lambda part: part.kind == "definition", following) if part.lead]
    shown, most = (terms, LONGEST) if terms else ([(part.start, part.end) for part in following[:1]], context)
    return shown if announced and sum(_words(text, *span) for span in shown) <= most else ()


def _around(text: str, span: Span, edge: str, within: Span) -> Span:
    """From the end of the last `edge` before the span to the next one behind it."""
    begin, end = text.rfind(edge, within[0], span[0]), text.find(edge, max(span), within[1])
    return (within[0] if begin < 0 else begin + len(edge)), (within[1] if end < 0 else end)


def _amid(text: str, units: Sequence[Span], touched: Sequence[Span], context: int) -> Span:
    """From the first of the touched sentences to the last, with those behind and before that fit into `context`."""
    first, last = units.index(touched[0]), units.index(touched[-1])
    while last + 1 < len(units) and _words(text, units[first][0], units[last + 1][1]) <= context:
        last += 1
    while first and _words(text, units[first - 1][0], units[last][1]) <= context:
        first -= 1
    return units[first][0], units[last][1]


def _words(text: str, start: int, end: int) -> int:
    return len(text[start:end].split())


def _said(strip: Strip, citations: Sequence[Citation]) -> bool:
    """Whether the strip is quoted, or its words are, from another passage."""
    quoted = [citation.strip for citation in citations if citation.strip]
    places = {(one.passage_id, one.start, one.end) for one in quoted}
    others = [one.text for one in quoted if one.passage_id != strip.passage_id]
    return (strip.passage_id, strip.start, strip.end) in places or repeats(strip.text, others)


def _fits(text: str, part: Part) -> bool:
    return _words(text, part.start, part.end) <= LONGEST


def _heading(question: str, title: str, quoted: Sequence[str], known: Set[str]) -> str:
    """The heading that the quotations stand under, where only that names what was asked about, or where it is a name,
    such as that of an option, which they lack; else empty."""
    *above, heading = title.split(" › ")
    heading = heading if above else _SITE.split(heading)[0]
    if heading in known or len(heading.split()) > LONGEST_NAME:
        return ""
    said = " ".join(quoted)
    missing = set(map(stem, content_words(question))) - set(map(stem, words(said)))
    asked = bool(above) and not missing.isdisjoint(map(stem, words(heading)))
    names = [name for name in heading.split() if _NAME.search(name)]
    return heading if asked or (names and not any(name.strip(",;") in said for name in names)) else ""


def _defines(vote: _Vote, names: Set[str], knowledge: Knowledge) -> bool:
    """Whether it points at prose, or an item or row, that has these words in it or in its title path."""
    strip, passage = knowledge[vote.marker - 1]
    code = any(part.kind == "code" and part.start <= vote.span[0] < part.end for part in parts(passage.text))
    return not code and names <= set(words(f"{passage.title} {strip.text}"))


def _cited(lines: list[str], marker: str) -> str:
    """One text of the lines, the marker behind the first that is prose."""
    if "\n" in lines[0] or lines[0].startswith("|"):
        return "\n".join([*lines, marker.strip()])
    while len(lines) > 1 and lines[0].endswith(":") and "\n" not in lines[1] and not lines[1].startswith(("|", "- ")):
        lines = [f"{lines[0]} {lines[1]}", *lines[2:]]
    return "\n".join([lines[0] + marker, *lines[1:]])


def _lines(text: str, spans: Sequence[Span]) -> list[str]:
    """Each slice as it is shown; several terms of definitions as a list."""
    terms = {part.lead for part in parts(text) if part.kind == "definition"}
    mark = "- " if sum(span in terms for span in spans) > 1 else ""
    return [(mark if span in terms else "") + _shown(text, *span) for span in spans]


def _shown(text: str, start: int, end: int) -> str:
    """The slice as it stands where it has several lines or is of a table or code, in which `[1]` is no footnote."""
    said = text[start:end]
    code = any(part.kind == "code" and part.start <= start < part.end for part in parts(text))
    if code:
        return _EMPTY.sub("\n\n", dedent(said)).strip("\n").rstrip()
    return said.strip() if "\n" in said or said.startswith("|") else _plain(said)


def _plain(text: str) -> str:
    """On one line, without footnotes."""
    return " ".join(_FOOTNOTE.sub("", text).split())


def _weight(grade: Grade) -> float:
    return 1.0 if grade.probability is None else grade.probability
