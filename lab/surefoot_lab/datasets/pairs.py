"""Labelled pairs: questions with passages that are known to answer, or not to."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from surefoot.evaluate.ask.questions import rows, sample
from surefoot.run.manifest import fingerprint
from surefoot.text.words import places
from surefoot.types import Passage
from surefoot.types.errors import UsageError

T = TypeVar("T")
Part = Literal["question", "passage"]

BLANK_QUESTION = "What is it?"
"""Asks for nothing in particular; made of words, since a question without any cannot be graded by all evaluators."""
BLANK_PASSAGE = "It is."
"""Says nothing in particular."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A question and a passage that is known to answer it, or not to."""

    question_id: str
    question: str
    passage: Passage
    label: int
    """1: the passage is relevant, or holds the answer; 0: it is not, or does not."""
    answers: tuple[str, ...] = ()
    """Accepted answers of the question; empty: none are known."""
    source: str = ""
    """The passage's source, as the data set names it."""
    rank: int | None = None
    """The passage's place in the retrieval that the data were made with, from 1."""
    label_title: int | None = None
    """1: the passage belongs to the article that the question is about, whatever it says of it."""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The labelled pairs of one file, in its order; those of one question stand together."""

    path: str
    sha256: str
    """Of the whole file."""
    pairs: tuple[LabelledPair, ...]
    unlabelled: int
    """Passages of these questions that were left out because nobody knows their label."""
    thinned: bool = False
    """The relevant passages of some questions were taken out, by `tune.thinned`."""

    def numbers(self) -> tuple[int, ...]:
        """For each pair the number of its question, from 0, in order of appearance."""
        known: dict[str, int] = {}
        return tuple(known.setdefault(pair.question_id, len(known)) for pair in self.pairs)


def read(path: str | Path, limit: int | None = None, *, by_answer: bool = False) -> LabelledSet:
    """The pairs of a file of lines `{"id", "question", "passages": [{"id", "text", "label", "title"?, "rank"?, ...}]}`.

    A label is 1, 0, or null for not known. `answers` may be left out; the ids of questions must be distinct. `limit`
    takes a sample of so many of the questions that have a labelled passage: the ones whose ids hash lowest, as
    `datasets.read` does. `by_answer`: a passage whose label is not known has 1 where an accepted answer stands in its
    title or text, and else 0. Raises UsageError with the line number.
    """
    questions: dict[str, list[LabelledPair | None]] = {}
    for number, row in rows(Path(path)):
        place = f"{path}, line {number}"
        question_id, found = _question(row, place, by_answer)
        if question_id in questions:
            raise UsageError(f"{place}: the id '{question_id}' was there before; ids must be distinct")
        questions[question_id] = found
    labelled = [question_id for question_id, found in questions.items() if any(found)]
    if not labelled:
        raise UsageError(f"{path} holds no labelled passages; a passage needs a label of 0 or 1")
    chosen = set(questions) if limit is None else set(sample(labelled, limit))
    each = [pair for question_id, found in questions.items() if question_id in chosen for pair in found]
    selected = tuple(pair for pair in each if pair)
    return LabelledSet(str(path), fingerprint(path), selected, len(each) - len(selected))


def blanked(labelled: LabelledSet, part: Part) -> LabelledSet:
    """The same pairs with every question, or every passage's title and text, replaced by the same empty words.

    Differences that an evaluator still finds there say nothing about whether a passage answers its question.
    """
    if part == "question":
        blank = [replace(pair, question=BLANK_QUESTION) for pair in labelled.pairs]
    else:
        blank = [replace(p, passage=replace(p.passage, title="", text=BLANK_PASSAGE)) for p in labelled.pairs]
    return replace(labelled, pairs=tuple(blank))


def holds(passage: Passage, phrases: Iterable[str]) -> bool:
    """True if one of the phrases stands in the passage's title or in its text."""
    return any(places(phrase, part) for phrase in phrases for part in (passage.title, passage.text))


def _question(row: Any, place: str, by_answer: bool) -> tuple[str, list[LabelledPair | None]]:
    try:
        return str(row["id"]), list(_pairs(row, by_answer))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        reason = f"'{error.args[0]}' is missing" if isinstance(error, KeyError) else error
        raise UsageError(f"{place} is no question with passages {{id, text, label}}: {reason}") from error


def _pairs(row: dict[str, Any], by_answer: bool) -> Iterator[LabelledPair | None]:
    """One for each passage of the question; None for an unlabelled one."""
    question = _must("question", row["question"], str)
    answers = tuple(map(str, _must("answers", row.get("answers", []), list)))
    for arguments in _must("passages", row.get("passages", []), list):
        title = "" if arguments.get("title") is None else arguments["title"]
        passage = Passage(str(arguments["id"]), _must("text", arguments["text"], str), _must("title", title, str))
        label = _flag(arguments, "label")
        if label is None and by_answer:
            label = int(holds(passage, answers))
        rank = arguments.get("rank")
        if rank is not None and type(rank) is not int:
            raise ValueError(f"rank must be a whole number or null, not {rank!r}")
        about = str(arguments.get("source", "")), rank, _flag(arguments, "label_title")
        yield None if label is None else LabelledPair(str(row["id"]), question, passage, label, answers, *about)


def _must(key: str, value: Any, be: type[T]) -> T:
    if not isinstance(value, be):
        raise ValueError(f"{key} must be {'a text' if be is str else 'a list'}, not {value!r}")
    return value


def _flag(values: dict[str, Any], key: str) -> int | None:
    value = values.get(key)
    if value not in (None, 0, 1):
        raise ValueError(f"{key} must be 1, 0 or null, not {value!r}")
    return None if value is None else int(value)
