"""Training examples: of labelled questions, with negatives of their positives, which change one thing each."""

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from surefoot.evaluate.ask.questions import hashed
from surefoot.text import toml_values
from surefoot.text.words import bare, fold, places_of, sentences, without, words
from surefoot.types.errors import ConfigError
from surefoot_lab.probes import renamed

T = TypeVar("T")
Row = dict[str, Any]
Spans = tuple[tuple[int, int], ...]
Use = Literal["train", "dev", "split", "held"]
Evidence = Literal["answers", "number", "unknown"]

NO_ARTICLE = "table"
"""The title of passages that belong to no article."""

_LONG = 60
"""A sentence of more characters is no common phrase; it gives its document away."""
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
    """A labelled text beside its evidence: a question with a passage, or a claim with its source."""

    text: str
    """The question, or the claim."""
    context: str
    """The passage's title, or what the claim answers or follows; empty where there is none."""
    evidence: str
    label: int
    """1: the passage answers the question, or the evidence carries all of the claim."""
    spans: Spans | None
    """Places of answers in the passage, or of unsupported words in the claim; empty: there are none; None: unknown."""
    weight: float = 1.0
    hardness: int = 0
    """0 to 2: how much a negative is like a positive. Easy ones come first."""
    kind: str = ""
    """The rule that made it; empty: a person or a string rule labelled it."""
    target: float | None = None
    """The chance to learn in place of the label: a teacher's, or between the two; None: the label."""


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
    whole: bool = False
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
        if self.use in ("dev", "held") and self.made:
            raise ValueError(f"nothing is made of {self.name}, as its use is {self.use}; leave made out")


def sections(path: Path, kind: str, made: Callable[[str, Row], T]) -> list[T]:
    """The source that `made` makes of each section of a TOML file, by its name and its keys.

    Raises ConfigError, which calls the file a `kind`, for a file that cannot be read and for what `made` raises:
    ValueError, or TypeError for an unknown key.
    """
    try:
        return [made(name, keys) for name, keys in toml_values.parsed(path.read_text(encoding="utf-8")).items()]
    except (OSError, ValueError, TypeError) as error:
        raise ConfigError(f"the {kind} {path} cannot be read: {error}") from error


def examples_of_rows(source: Source, rows: Sequence[Row], chance: random.Random) -> Iterator[TrainingExample]:
    """Examples of the rows of one source, with negatives made of their positives."""
    maker = _Maker(source, rows, chance)
    for row in [row for row in rows for _ in range(source.copies)]:
        known = [p for p in row["passages"] if (p.get("label"), p.get("score")) != (None, None)]
        own = [_example(source, row, p) for p in known]
        good = [one for one in own if one.label]
        bad = [one for one in own if not one.label]
        if source.answered and not good:
            continue
        picked = good + chance.sample(bad, min(len(bad), _OWN_NEGATIVES))
        for one in [*picked, *(new for each in good for new in maker.made(row, each, bad))]:
            yield _varied(one, chance, source.whole)


def _example(source: Source, row: Row, passage: Row) -> TrainingExample:
    """The pair with its label. Beside the `score` of a teacher, a logit, it learns the mean of the two, and without a
    label the teacher's chance alone."""
    label: Any = passage.get("label")
    score: Any = passage.get("score")
    text = passage["text"]
    target = None if score is None else 1 / (1 + math.exp(-score))
    if label is not None and target is not None:
        target = (label + target) / 2
    is_good = bool(label) if label is not None else score > 0
    nowhere: Spans | None = () if source.absent and label is not None else None
    return TrainingExample(
        row["question"],
        passage.get("title") or "",
        text,
        int(is_good),
        _spans(source, row, text) if is_good else nowhere,
        source.weight,
        hardness=0 if is_good else 1,
        target=target,
    )


def _spans(source: Source, row: Row, text: str) -> Spans | None:
    """Places of the answer in a passage that has one; None: unknown."""
    found: Spans | None = () if source.evidence == "unknown" else find(answers_of(row), text)
    if not found and source.evidence == "number":
        found = _only_number(row["question"], text)
    return found or None


Change = dict[str, Any] | None
"""The fields in which a made example differs from its positive; None: the positive does not allow it, or chance."""


class _Maker:
    """Makes examples of one source's positives, of the kinds in its `made`: negatives, unless they say otherwise."""

    def __init__(self, source: Source, rows: Sequence[Row], chance: random.Random) -> None:
        self.source, self.chance, self.rows = source, chance, rows
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
        """An example of each kind, where the positive allows it and chance picks it."""
        usual = {"label": 0, "spans": () if self.source.absent else None, "target": None}
        for kind in self.source.made:
            if change := MADE[kind](self, row, good, bad):
                yield replace(good, **{**usual, **change})

    def other_question(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The passage with another passage's question, which it does not answer as far as labels and answers tell."""
        other = self.chance.choice(self.rows)
        if self.chance.random() >= 0.7 or _answered(other, good):
            return None
        return {"text": other["question"]}

    def answer_removed(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The passage without the sentences that hold an answer."""
        if not good.spans or self.chance.random() >= 0.6:
            return None
        rest = without(good.evidence, good.spans)
        if len(rest) < _LEFT or find(answers_of(row), good.context):
            return None
        return {"evidence": rest, "hardness": 2}

    def other_entity(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The passage with the same question about a rival, whom it neither names nor answers for."""
        rival = self._rival(row, good)
        if not rival or find(answers_of(rival), good.evidence):
            return None
        return {"text": rival["question"], "hardness": 1}

    def other_relation(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The passage with another question about the same article, none of whose answers it holds."""
        others = [one for one in self._alike.get(article(row), ()) if normal(one["question"]) != normal(good.text)]
        for other in self.chance.sample(others, len(others)):
            if not _answered(other, good) and not places_of(answers_of(other), f"{good.context}\n{good.evidence}"):
                return {"text": other["question"], "hardness": 2}
        return None

    def renamed(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The passage with a rival's name in it."""
        rival = self._rival(row, good)
        if not rival or self.chance.random() >= 0.6:
            return None
        title, text = (renamed(part, subject_of(row), subject_of(rival)) for part in (good.context, good.evidence))
        return {"context": title, "evidence": text, "hardness": 2} if text != good.evidence else None

    def joined(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> Change:
        """The answering text among others that were found for the same question; still a positive."""
        if not bad or self.chance.random() >= 0.5:
            return None
        others = self.chance.sample([one.evidence for one in bad], min(len(bad), self.chance.randint(1, 2)))
        at = self.chance.randint(0, len(others))
        before = len("".join(f"{text} " for text in others[:at]))
        spans = good.spans and tuple((start + before, end + before) for start, end in good.spans)
        return {"evidence": " ".join([*others[:at], good.evidence, *others[at:]]), "spans": spans, "label": 1}

    def _rival(self, row: Row, good: TrainingExample) -> Row | None:
        """The row of another entity with the same relation, drawn at random; None if the passage names that entity."""
        rival = self.chance.choice(self.rivals[row.get("prop", "")])
        mine, other = subject_of(row), subject_of(rival)
        spoken_of = find([other], f"{good.context} {good.evidence}")
        return rival if mine and other and fold(mine) != fold(other) and not spoken_of else None


MADE: dict[str, Callable[[_Maker, Row, TrainingExample, Sequence[TrainingExample]], Change]] = {
    "other question": _Maker.other_question,
    "answer removed": _Maker.answer_removed,
    "other entity": _Maker.other_entity,
    "other relation": _Maker.other_relation,
    "renamed": _Maker.renamed,
    "joined": _Maker.joined,
}
"""Kinds of examples made of a positive, by their names in a mixture file."""


def _varied(one: TrainingExample, chance: random.Random, whole: bool) -> TrainingExample:
    """The example, perhaps without its title, perhaps cut to some of its sentences."""
    if chance.random() < _UNTITLED and find([bare(one.context)], one.evidence):
        one = replace(one, context="")
    if whole or chance.random() >= _CROPPED or (one.label and not one.spans):
        return one
    ranges = sentences(one.evidence)
    if len(ranges) < 2:
        return one
    anchor = chance.choice(one.spans)[0] if one.spans else chance.randrange(len(one.evidence))
    centre = next((i for i, (_, end) in enumerate(ranges) if anchor < end), len(ranges) - 1)
    first, last = max(0, centre - chance.randint(0, 2)), min(len(ranges) - 1, centre + chance.randint(0, 2))
    start, end = ranges[first][0], ranges[last][1]
    spans = one.spans and tuple((a - start, b - start) for a, b in one.spans if start <= a and b <= end)
    if one.label and not spans:  # the answer crosses a sentence's end
        return one
    return replace(one, evidence=one.evidence[start:end], spans=spans)


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
    question_form = r"(?:in |on |during |about |approximately )*(?:when|what year|how (?:many|much|old|long))"
    if not re.match(question_form, question):
        return None
    numbers = [match.span() for match in re.finditer(r"\d[\d,.]*\d|\d", text)]
    return tuple(numbers) if len(numbers) == 1 else None


def article(row: Row) -> str:
    """The article of a row: its subject's page, that of its first positive or passage, its item, or its own id."""
    passages = sorted(row.get("passages", ()), key=lambda p: p.get("label") != 1)
    title = next((p["title"] for p in passages if is_article(p)), "")
    return normal(row.get("s_wiki_title") or title) or str(row.get("item") or row["id"])


def is_article(passage: Row) -> bool:
    """True for a passage with the title of an article."""
    return bool(passage.get("title")) and passage["title"] != NO_ARTICLE


def _answered(other: Row, good: TrainingExample) -> bool:
    """True if the passage answers the other question too, as far as labels and answers tell."""
    known = any(p.get("label") == 1 and p["text"] == good.evidence for p in other["passages"])
    return known or bool(find(answers_of(other), good.evidence))


def answers_of(row: Row) -> list[str]:
    """The accepted answers of a question."""
    return list(map(str, row.get("answers", [])))


def subject_of(row: Row) -> str:
    """The bare name of the question's entity; empty where the file has none."""
    return bare(row.get("s_wiki_title") or "")


def long_sentences(text: str) -> Iterator[bytes]:
    """A hash of each long sentence, by which one document is known in another; the same in any spelling."""
    return (hashed(normal(text[start:end]), 8) for start, end in sentences(text) if end - start > _LONG)


def percentile(text: str) -> int:
    """A number from 0 to 99 by a hash of the text: what divides documents into parts is the same everywhere."""
    return int.from_bytes(hashed(text, 8), "big") % 100


def normal(text: str) -> str:
    """The words of the text, folded, with a space between two."""
    return " ".join(words(text))
