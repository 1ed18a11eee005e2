"""What documents state by their structure: terms with their meanings, rows under a header, headings that ask."""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from surefoot.evaluate.ask.questions import hashed
from surefoot.evaluate.testset.prompter import JOINT, grouped, in_turn
from surefoot.text import toml_values
from surefoot.text.blocks import Part, Span, led, parts
from surefoot.text.languages import language
from surefoot.text.words import STOP_WORDS, content_words, fold, words
from surefoot.types import Passage

WORDING = toml_values.beside(__file__, "wording.toml")
KEY_WORDS, LEAST_MEANING, VALUE_WORDS = 8, 4, 60
"""Words of a term or a row's name, at most; of a term's meaning, at least; of a value, at most."""
_MARKS = ".,;:()“”‘’\"'"
ALIKE = 0.6
"""Share of the words of the shorter value from which on two meanings say the same."""
POINTER = 3
"""Keys with one and the same meaning from which on it is none, such as the section that an index of terms points to."""
TRIED = 20
"""Keys of the same build that a name is tried with, at most."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a passage gives for a key: the meaning of a term, the cell of a row, what follows on a heading."""

    passage: Passage
    key: str
    """The term, the first cell of the row, or the heading."""
    column: str
    """The header of the cell; empty: a meaning."""
    start: int
    end: int
    """The value's place in the passage's text."""
    unit: Span
    """The place of the whole row, or of the value, to which a reader has to point."""
    asks: bool = False
    """True if the key is a question itself."""

    @property
    def id(self) -> str:
        """The passage and the place in it."""
        return f"{self.passage.id} {self.start}"

    @property
    def value(self) -> str:
        """The words of the value on one line."""
        return " ".join(self.passage.text[self.start : self.end].split())

    @property
    def headings(self) -> list[str]:
        """The headings that it stands under, innermost first, without one that is its key."""
        return [one for one in reversed(self.passage.title.split(JOINT)) if fold(one) != fold(self.key)]


def facts(passage: Passage, before: str = "") -> Iterator[Fact]:
    """The facts of a passage, in the order of its text; `before` is the title of the passage before it."""
    found = parts(passage.text)
    if question := question_above(passage, before):
        prose = [part for part in found if part.kind in ("paragraph", "definition") and part.units]
        yield from (Fact(passage, question, "", *part.units[0], part.units[0], asks=True) for part in prose[:1])
    for part in found:
        if part.kind == "definition" and part.lead and part.units:
            yield from _fact(passage, passage.text[slice(*part.lead)], "", part.units[0], part.units[0])
        elif part.kind == "table":
            yield from _cells(passage, part)


def _cells(passage: Passage, part: Part) -> Iterator[Fact]:
    """Cells under a header, or in a table without one those that name their column: "Default: 5"."""
    header = [passage.text[slice(*one)] for one in cells(passage.text, part.lead)] if part.lead else []
    for row in part.units:
        first, *others = cells(passage.text, row) or [(row[0], row[0])]  # none: its end was cut off
        key = passage.text[slice(*first)]
        if header and key[:1].isdigit():  # "Years of service 0 to 4" says what it is
            key = f"{header[0]} {key}"
        for number, (start, end) in enumerate(others, start=1):
            column = header[number] if number < len(header) else ""
            if not header:
                column, colon, _ = passage.text[start:end].partition(": ")
                start += len(column + colon) if colon else end - start
            if column.strip():
                yield from _fact(passage, key, column.strip(), (start, end), row)


def cells(text: str, row: Span) -> list[Span]:
    """The place of each cell of a row of a table."""
    found, at = list[Span](), row[0]
    for piece in text[slice(*row)].split("|"):
        start = at + len(piece) - len(piece.lstrip())
        found.append((start, start + len(piece.strip())))
        at += len(piece) + 1
    return found[1:-1]


def _fact(passage: Passage, key: str, column: str, value: Span, unit: Span) -> Iterator[Fact]:
    size = len(words(text := passage.text[slice(*value)])) * (text[:1] != "(")  # a note in place of a value
    fits = (1 if column else LEAST_MEANING) <= size <= VALUE_WORDS and len(words(key)) <= KEY_WORDS
    named = any(map(str.isalpha, key)) and not key.endswith(":") and (not column or column[:1].isalpha())
    if fits and named:
        yield Fact(passage, " ".join(key.split()), column, *value, unit)


def question_above(passage: Passage, before: str, in_faq: bool = False) -> str:
    """The question that a person wrote above this answer: the last heading, if it is not also that of the passage
    before, the first term that the passage defines, or its first paragraph on a page of FAQs; else empty."""
    heading = passage.title.rpartition(JOINT)[2] if passage.title != before else ""
    term = passage.text.partition("\n: ")[0] if "\n: " in passage.text else ""
    opening = passage.text.partition("\n\n")[0] if in_faq and "\n\n" in passage.text else ""
    found = next((" ".join(line.split()) for line in (heading, term, opening) if line.strip().endswith("?")), "")
    return re.sub(r"^(?:Q:|Q?[\d.]+[.:)]?)\s+", "", found) if " " in found and len(found) < 200 else ""


class Structure:
    """All facts of some passages, which of them answer the same question, and how to ask for one."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages = sorted(passages, key=lambda one: (one.file or "", one.start, one.id))
        before = ["", *(one.title for one in self.passages)]
        every = [fact for one, title in zip(self.passages, before, strict=False) for fact in facts(one, title)]
        self._named = grouped(every, lambda fact: (fold(fact.key), fold(fact.column)))
        keys = grouped(every, lambda fact: fact.value)
        telling = (one for one in every if one.column or len({same.key for same in keys[one.value]}) < POINTER)
        self.facts = [fact for fact in telling if self.distinct_name(fact)]
        self._by_key = grouped(self.facts, lambda fact: fact.key)
        self._by_column = grouped(self.facts, lambda fact: (fact.passage.file, fold(fact.column)))

    def drawn(self, lot: str) -> list[Fact]:
        """The facts in the order of a hash, of all files, terms and rows in turn; first one of each key."""
        some = in_turn(self.facts, lambda fact: lot + fact.id, lambda fact: (fact.passage.file, bool(fact.column)))
        first = {fold(fact.key): fact for fact in reversed(some)}.values()
        return sorted(some, key=lambda fact: fact not in first)

    def same(self, fact: Fact) -> list[Fact]:
        """The facts of that name with the same value, in other words perhaps, itself among them."""
        return [one for one in self._named[fold(fact.key), fold(fact.column)] if _alike(one, fact)]

    def distinct_name(self, fact: Fact) -> str:
        """The words for the thing that the fact is about, with the innermost heading that tells it from others of its
        name where there are some; empty: nothing tells it from them."""
        same = self.same(fact)
        others = [one for one in self._named[fold(fact.key), fold(fact.column)] if one not in same]
        if fact.asks or not others:
            return self.key(fact)
        taken = {fold(heading) for one in others for heading in one.headings}
        heading = next((one for one in fact.headings if fold(one) not in taken), "")
        return self._form("in", fact, heading=heading) if heading else ""

    def key(self, fact: Fact) -> str:
        """The words for the thing that the fact is about, whatever else has that name."""
        return self._form("key", fact)

    def question(self, fact: Fact, what: str = "") -> str:
        """The question that the fact answers; of another thing where `what` names one."""
        if fact.asks:
            return fact.key
        return self._form("cell" if fact.column else "meaning", fact, what=what or self.distinct_name(fact))

    def hops(self, fact: Fact) -> Iterator[tuple[str, Fact]]:
        """Questions that lead over this fact to another one, whose key is this one's value, or alone is named in it."""
        if not self._alone(fact) or fact.asks:
            return
        there = {fact.value} if fact.column else {word.strip(_MARKS) for word in fact.value.split()} & self._codes
        if len(named := there - {fact.key}) == 1:
            what = self._form("of" if fact.column else "mentioned", fact)
            for one in self._drawn(self._by_key[named.pop()], fact):
                if self._alone(one) and not one.asks and (one.column or not fact.column):
                    yield self.question(one, what), one

    def premise(self, fact: Fact) -> tuple[str, str]:
        """A question that takes for granted a value of another fact, of the same column and rather the same passage,
        and that value; empty: there is none."""
        own = self._named[fold(fact.key), fold(fact.column)]
        rivals = [one for one in self._by_column[fact.passage.file, fold(fact.column)] if not one.asks]
        others = [one for one in self._drawn(rivals, fact) if not any(_alike(one, mine) for mine in own)]
        for one in sorted(others, key=lambda one: one.passage != fact.passage):
            value, form = one.value.rstrip("."), "why_cell" if fact.column else "why"
            return self._form(form, fact, what=self.distinct_name(fact), other=value), value
        return "", ""

    def absent(self, fact: Fact) -> str:
        """A name made of this fact's key and the last word of another's of the same build, such that no sentence, item
        or row holds all its parts; empty: there is none."""
        mine = _split(fact.key)
        ends = [n for n in range(0, len(mine), 2) if mine[n]]
        if fact.asks or len(ends) < 2 or not all(_is_name(mine[n]) for n in ends):
            return ""
        rivals = self._by_column[fact.passage.file, fold(fact.column)]
        for one in self._drawn((one for one in rivals if _build(one.key) == _build(fact.key)), fact)[:TRIED]:
            pieces = [*mine[: ends[-1]], (last := _split(one.key)[ends[-1]]), *mine[ends[-1] + 1 :]]
            sought = {fold(piece) for piece in pieces[::2] if piece}
            if _is_name(last) and len(sought) == len(ends) and not any(sought <= unit for unit in self._units):
                return "".join(pieces)
        return ""

    def _alone(self, fact: Fact) -> bool:
        """True if nothing of that name has another value."""
        return len(self.same(fact)) == len(self._named[fold(fact.key), fold(fact.column)])

    def _form(self, name: str, fact: Fact, **values: str) -> str:
        forms = WORDING.get(language(fact.passage.text[:1500]), WORDING["en"])
        return str(forms[name].format(key=fact.key, column=fact.column, **values))

    @staticmethod
    def _drawn(some: Iterable[Fact], fact: Fact) -> list[Fact]:
        return sorted(some, key=lambda one: hashed(f"{fact.id}\n{one.id}"))

    @cached_property
    def _codes(self) -> set[str]:
        """Keys that are no ordinary words, as they are written."""
        return {fact.key for fact in self.facts if not fact.key.isalpha() or fact.key.isupper()}

    @cached_property
    def _units(self) -> list[frozenset[str]]:
        """The words of each sentence, item and row, with those of the last heading and of what leads up to it."""
        texts = (
            " ".join([one.title.rpartition(JOINT)[2], led(one.text, *unit)[0]])
            for one in self.passages
            for part in parts(one.text)
            for unit in part.units
        )
        return [frozenset(map(fold, _split(text)[::2])) for text in texts]


def _alike(one: Fact, other: Fact) -> bool:
    """True if two values say the same: cells in the same words, meanings in many."""
    if one.column or other.column:
        return words(one.value) == words(other.value)
    mine, its = {*content_words(one.value)}, {*content_words(other.value)}
    return len(mine & its) >= ALIKE * min(len(mine), len(its))


def _split(text: str) -> list[str]:
    """The words of a text, those of an identifier apart, and what stands between them."""
    return re.split(r"([\W_]+)", text)


def _is_name(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and fold(word) not in STOP_WORDS


def _build(key: str) -> Hashable:
    pieces = _split(key)
    return (*pieces[1::2], *(bool(piece) for piece in pieces[::2]))
