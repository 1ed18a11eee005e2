"""Makes training examples of labelled questions, and negatives of their positives, which change one thing each."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

from surefoot.text.words import bare, fold, places_of, sentences, without
from surefoot_lab.renaming import renamed
from surefoot_lab.train.sources import Row, Spans, normal

Use = Literal["train", "dev", "split"]
Evidence = Literal["answers", "number", "unknown"]

NO_ARTICLE = "table"
"""The title of passages that belong to no article."""

_OWN_NEGATIVES = 3
"""Of a question's own negatives, at most so many for each copy."""
_CROPPED = 0.5
"""Share of passages cut to a few sentences: an evaluator grades strips too, and short texts train faster."""
_UNTITLED = 0.15
"""Share of passages that lose their title, since not every corpus has titles."""
_LEFT = 60
"""Characters that must be left of a text without its answer, since length would give a scrap away."""
NEEDS = {
    "answer removed": "answers",
    "other entity": "s_wiki_title",
    "other relation": "answers",
    "renamed": "s_wiki_title",
}
"""The key that a question must have for this to be made of its positives."""


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A labelled pair."""

    question: str
    title: str
    text: str
    label: int
    """1: the passage answers the question."""
    weight: float
    spans: Spans | None
    """Places of answers in the text; empty: there is none; None: unknown."""
    hardness: int = 0
    """0 to 2: how much a negative is like a positive. Easy ones come first."""


@dataclass(frozen=True, slots=True)
class Source:
    """A section of a mixture file, where its keys are explained. Raises ValueError for an impossible value."""

    name: str
    use: Use
    weight: float = 1.0
    copies: int = 1
    made: tuple[str, ...] = ()
    absent: bool = False
    evidence: Evidence = "answers"
    answered: bool = False
    searched: bool = False
    asked: bool = False
    most: int | None = None

    def __post_init__(self) -> None:
        for key, value, known in (
            ("use", (self.use,), get_args(Use)),
            ("evidence", (self.evidence,), get_args(Evidence)),
            ("made", self.made, MADE),
        ):
            if unknown := [one for one in value if one not in known]:
                raise ValueError(f"{key} of {self.name} cannot be {unknown[0]!r}; there are: {', '.join(known)}")
        if not self.weight > 0 or not self.copies >= 1:
            raise ValueError(f"weight and copies of {self.name} must be above 0")
        if self.use == "dev" and self.made:
            raise ValueError(f"nothing is made of {self.name}, as its use is dev; leave made out")


def examples_of_rows(source: Source, rows: Sequence[Row], chance: random.Random) -> Iterator[TrainingExample]:
    """Examples of the rows of one source, with negatives made of their positives."""
    maker = _Maker(source, rows, chance)
    for row in [row for row in rows for _ in range(source.copies)]:
        own = [_lesson(source, row, p) for p in row["passages"] if p.get("label") is not None]
        good = [lesson for lesson in own if lesson.label]
        bad = [lesson for lesson in own if not lesson.label]
        if source.answered and not good:
            continue
        picked = good + chance.sample(bad, min(len(bad), _OWN_NEGATIVES))
        for lesson in [*picked, *(new for each in good for new in maker.made(row, each, bad))]:
            yield _varied(lesson, chance)


def _lesson(source: Source, row: Row, passage: Row) -> TrainingExample:
    label, text = int(passage["label"]), passage["text"]
    nowhere: Spans | None = () if source.absent else None
    spans = _evidence(source, row, text) if label else nowhere
    title = passage.get("title") or ""
    return TrainingExample(row["question"], title, text, label, source.weight, spans, hardness=0 if label else 1)


def _evidence(source: Source, row: Row, text: str) -> Spans | None:
    """Places of the answer in a passage that has one; None: unknown."""
    found: Spans | None = () if source.evidence == "unknown" else find(answers_of(row), text)
    if not found and source.evidence == "number":
        found = _only_number(row["question"], text)
    return found or None


class _Maker:
    """Makes lessons of one source's positives, of the kinds in its `made`."""

    def __init__(self, source: Source, rows: Sequence[Row], chance: random.Random) -> None:
        self.source, self.chance = source, chance
        self.nowhere: Spans | None = () if source.absent else None
        self.rows = rows
        self.rivals: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self.rivals[row.get("prop", "")].append(row)

    @cached_property
    def _alike(self) -> dict[str, list[Row]]:
        """Rows with known answers, by their article."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            if row.get("answers"):
                found[article(row)].append(row)
        return found

    def made(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Iterator[TrainingExample]:
        """A lesson of each kind, where the positive allows it and chance picks it."""
        for kind in self.source.made:
            if lesson := MADE[kind](self, row, good, bad):
                yield lesson

    def other_question(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with another passage's question, which it does not answer as far as labels and answers tell."""
        other = self.chance.choice(self.rows)
        if self.chance.random() >= 0.7 or _answered(other, good):
            return None
        return replace(good, question=other["question"], label=0, spans=self.nowhere)

    def answer_removed(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage without the sentences that hold an answer."""
        if not good.spans or self.chance.random() >= 0.6:
            return None
        rest = without(good.text, good.spans)
        if len(rest) < _LEFT or find(answers_of(row), good.title):
            return None
        return replace(good, text=rest, label=0, spans=self.nowhere, hardness=2)

    def other_entity(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with the same question about a rival, whom it neither names nor answers for."""
        rival = self._rival(row, good)
        if not rival or find(answers_of(rival), good.text):
            return None
        return replace(good, question=rival["question"], label=0, spans=self.nowhere, hardness=1)

    def other_relation(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with another question about the same article, none of whose answers it holds."""
        queries = normal(good.question)
        others = [one for one in self._alike.get(article(row), ()) if normal(one["question"]) != queries]
        for other in self.chance.sample(others, len(others)):
            if not _answered(other, good) and not places_of(answers_of(other), f"{good.title}\n{good.text}"):
                return replace(good, question=other["question"], label=0, spans=self.nowhere, hardness=2)
        return None

    def renamed(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with a rival's name in it."""
        rival = self._rival(row, good)
        if not rival or self.chance.random() >= 0.6:
            return None
        mine, other = subject_of(row), subject_of(rival)
        title, text = (renamed(part, mine, other) for part in (good.title, good.text))
        if text == good.text:
            return None
        return replace(good, title=title, text=text, label=0, spans=self.nowhere, hardness=2)

    def joined(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The answering text among others that were found for the same question; still a positive."""
        if not bad or self.chance.random() >= 0.5:
            return None
        others = self.chance.sample([lesson.text for lesson in bad], min(len(bad), self.chance.randint(1, 2)))
        at = self.chance.randint(0, len(others))
        before = len("".join(f"{text} " for text in others[:at]))
        text = " ".join([*others[:at], good.text, *others[at:]])
        spans = good.spans and tuple((start + before, end + before) for start, end in good.spans)
        return replace(good, text=text, spans=spans)

    def _rival(self, row: Row, good: TrainingExample) -> Row | None:
        """The row of another entity with the same relation, drawn at random; None if the passage names that entity."""
        rival = self.chance.choice(self.rivals[row.get("prop", "")])
        mine, other = subject_of(row), subject_of(rival)
        spoken_of = find([other], f"{good.title} {good.text}")
        return rival if mine and other and fold(mine) != fold(other) and not spoken_of else None


MADE: dict[str, Callable[[_Maker, Row, TrainingExample, Sequence[TrainingExample]], TrainingExample | None]] = {
    "other question": _Maker.other_question,
    "answer removed": _Maker.answer_removed,
    "other entity": _Maker.other_entity,
    "other relation": _Maker.other_relation,
    "renamed": _Maker.renamed,
    "joined": _Maker.joined,
}
"""Kinds of lessons made of a positive, by their names in a mixture file."""


def _varied(lesson: TrainingExample, chance: random.Random) -> TrainingExample:
    """The lesson, perhaps without its title, perhaps cut to some of its sentences."""
    if chance.random() < _UNTITLED and find([bare(lesson.title)], lesson.text):
        lesson = replace(lesson, title="")
    if chance.random() >= _CROPPED or (lesson.label and not lesson.spans):
        return lesson
    ranges = sentences(lesson.text)
    if len(ranges) < 2:
        return lesson
    anchor = chance.choice(lesson.spans)[0] if lesson.spans else chance.randrange(len(lesson.text))
    centre = next((i for i, (_, end) in enumerate(ranges) if anchor < end), len(ranges) - 1)
    first, last = max(0, centre - chance.randint(0, 2)), min(len(ranges) - 1, centre + chance.randint(0, 2))
    start, end = ranges[first][0], ranges[last][1]
    spans = lesson.spans and tuple((a - start, b - start) for a, b in lesson.spans if start <= a and b <= end)
    if lesson.label and not spans:  # the answer crosses a sentence's end
        return lesson
    return replace(lesson, text=lesson.text[start:end], spans=spans)


def find(answers: Sequence[str], text: str) -> Spans:
    """Places of the answers in the text, at word boundaries, in any case; in order.

    To the letter, unlike `words.places_of`: the evaluator learns to point at all of "26.1 %".
    """
    found = {
        match.span()
        for answer in answers
        if answer.strip()
        for match in re.finditer(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", text, re.IGNORECASE)
    }
    return tuple(sorted(found))


def _only_number(question: str, text: str) -> Spans | None:
    """The only number in the text, if the question asks for one; None: unknown."""
    if not re.match(
        r"(?:in |on |during |about |approximately )*(?:when|what year|how (?:many|much|old|long))", question
    ):
        return None
    numbers = [match.span() for match in re.finditer(r"\d[\d,.]*\d|\d", text)]
    return tuple(numbers) if len(numbers) == 1 else None


def article(row: Row) -> str:
    """The article of a row: its subject's page, that of its first positive or passage, its item, or its own id."""
    passages = sorted(passages_of(row), key=lambda p: p.get("label") != 1)
    title = next((p["title"] for p in passages if is_article(p)), "")
    return normal(row.get("s_wiki_title") or title) or str(row.get("item") or row["id"])


def is_article(passage: Row) -> bool:
    """True for a passage with the title of an article."""
    return bool(passage.get("title")) and passage["title"] != NO_ARTICLE


def _answered(other: Row, good: TrainingExample) -> bool:
    """True if the passage answers the other question too, as far as labels and answers tell."""
    known = any(p.get("label") == 1 and p["text"] == good.text for p in other["passages"])
    return known or bool(find(answers_of(other), good.text))


def passages_of(row: Row) -> list[Row]:
    """The passages of a question; none for one that has none."""
    found: list[Row] = row.get("passages", [])
    return found


def answers_of(row: Row) -> list[str]:
    """The accepted answers of a question."""
    return list(map(str, row.get("answers", [])))


def subject_of(row: Row) -> str:
    """The bare name of the question's entity; empty where the file has none."""
    return bare(row.get("s_wiki_title") or "")
