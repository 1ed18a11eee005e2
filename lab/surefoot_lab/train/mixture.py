"""The evaluator's lessons: labelled files of many domains, and negatives made from their positives.

An evaluator that sees only the files' own negatives learns how answers look, or which names go together, but not to
read the question. So each positive brings negatives that change one thing and leave the rest, of the kinds in `MADE`.

No lesson comes from the articles of a development question: neither its question, nor its passages, nor others of the
same articles, nor any that share a long sentence with them.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from surefoot.evaluate.ask import questions
from surefoot.evaluate.ask.questions import hashed
from surefoot.run import manifest
from surefoot.run.store import write_text
from surefoot.text.words import bare, fold, places_of, renamed, sentences, without
from surefoot.types.errors import ConfigError
from surefoot_lab.datasets import pairs
from surefoot_lab.train import openings
from surefoot_lab.train.sources import Row, Spans, long_sentences, normal, percentile, sections

Use = Literal["train", "dev", "split"]
Half = Literal["fit", "test"]
Evidence = Literal["answers", "number", "unknown"]

SHIPPED = Path(__file__).with_name("mixture.toml")
"""The mixture that the shipped weights learned from."""
PARAGRAPHS, PAGES = "corpus/wikipedia.jsonl", "miniwiki/pages.jsonl"
"""Files below the data's folder: passages {id, title, text}, and pages {title, paragraphs}. Questions of a file without
passages, such as PopQA's, get those under their subject's name."""
NO_ARTICLE = "table"
"""The title of passages that belong to no article."""

SHARE_DEV = 20
"""Percentage of a "split" file's articles that are development data."""
_OWN_NEGATIVES = 3
"""Of a question's own negatives, at most so many for each copy."""
_CROPPED = 0.5
"""Share of passages cut to a few sentences: an evaluator grades strips too, and short texts train faster."""
_UNTITLED = 0.15
"""Share of passages that lose their title, since not every corpus has titles."""
_LEFT = 60
"""Characters that must be left of a text without its answer, since length would give a scrap away."""
_NEEDS = {
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


def sources(path: Path = SHIPPED) -> list[Source]:
    """The sections of a mixture file. Raises ConfigError for an unknown key or value."""
    return sections(path, "mixture", lambda name, keys: Source(name, **{**keys, "made": tuple(keys.get("made", ()))}))


def fingerprint(listed: Sequence[Source]) -> str:
    """A hash of the sections' contents; defaults that are spelled out, comments and layout do not count."""
    usual = asdict(Source("", "dev")).items()
    results = [sorted(asdict(source).items() - usual) for source in listed]
    return hashlib.sha256(json.dumps(results).encode()).hexdigest()


def half(row: Row) -> Half:
    """The use of a development question, by a hash of its id: to choose by (weights, calibration and thresholds), or
    only to measure on."""
    return "fit" if hashed(str(row["id"]))[0] % 2 else "test"


class Mixture:
    """The rows of all files, divided into lessons and development questions.

    Raises UsageError for a file that is missing or of another format, and ConfigError for negatives that cannot be made
    of it.
    """

    def __init__(self, data: Path, listed: Sequence[Source]) -> None:
        self.train: dict[Source, list[Row]] = {}
        self.dev: dict[str, list[Row]] = {}
        self.searched = {_stem(source.name) for source in listed if source.searched}
        """Development files, without their ending, that thresholds for actions are fitted on."""
        found = {source: _questions(data / f"{source.name}.jsonl", source) for source in listed}
        for source, rows in found.items():
            self.dev[source.name] = [row for row in rows if _is_dev(row, source)]
        held = _Held([row for rows in self.dev.values() for row in rows])
        lacking = {source for source, rows in found.items() if source.use != "dev" and not any(map(_passages, rows))}
        paragraphs = _paragraphs(data) if lacking else {}
        for source, rows in found.items():
            mine = [_with_passages(row, paragraphs) for row in rows] if source in lacking else rows
            selected = (held.without(row) for row in mine if not _is_dev(row, source))
            self.train[source] = _thinned([row for row in selected if row], source.most)
        files = [*(f"{source.name}.jsonl" for source in listed), *([PARAGRAPHS, PAGES] if lacking else [])]
        self.about = {
            "mixture": fingerprint(listed),
            "data": {name: manifest.fingerprint(data / name) for name in files},
        }
        """Hashes of the mixture and of its files."""

    def lessons(self, seed: int) -> list[TrainingExample]:
        """All lessons of one pass; the same for the same seed.

        Positives are spread evenly, and negatives grow harder. (Ordered by hardness alone, the last quarter was all
        negatives and undid what the others had taught: development AUC fell from .838 to .832.)
        """
        chance = random.Random(seed)  # noqa: S311
        made = [lesson for source, rows in self.train.items() for lesson in _lessons(source, rows, chance)]
        order = sorted(range(len(made)), key=lambda i: chance.random() + 0.35 * made[i].hardness)
        kinds = [[i for i in order if made[i].label == label] for label in (0, 1)]
        placed = [(place / len(kind), i) for kind in kinds for place, i in enumerate(kind)]
        return [made[i] for _, i in sorted(placed)]

    def write_dev(self, folder: Path) -> None:
        """Write the development questions as files of the same format, and their halves below `fit` and `test`.

        A file without a labelled passage is left out.
        """
        for name, rows in self.dev.items():
            for part in ("", *get_args(Half)):
                some = [row for row in rows if not part or half(row) == part]
                if any(p.get("label") is not None for row in some for p in _passages(row)):
                    lines = "".join(json.dumps(row) + "\n" for row in some)
                    write_text(folder / part / f"{_stem(name)}.jsonl", lines)


def _thinned(rows: list[Row], most: int | None) -> list[Row]:
    """At most so many of the rows: those whose ids hash lowest, as the first ones of a file are often of one kind."""
    return rows if most is None else sorted(rows, key=lambda row: hashed(str(row["id"])))[:most]


class _Held:
    """The questions, passages and articles that no lesson may come from."""

    def __init__(self, rows: Sequence[Row]) -> None:
        passages = [p for row in rows for p in _passages(row)]
        self.ids = {p["id"] for p in passages}
        self.sentences = {key for p in passages for key in long_sentences(p["text"])}
        self.questions = {normal(row["question"]) for row in rows}
        self.titles = {normal(p["title"]) for p in passages if _is_article(p)}
        self.titles |= {normal(row["s_wiki_title"]) for row in rows if row.get("s_wiki_title")}
        self.titles.discard("")  # of a title without letters, and of every row without a subject

    def without(self, row: Row) -> Row | None:
        """The row without held passages; None if its question or subject is held, or no passage is left."""
        if normal(row["question"]) in self.questions or normal(row.get("s_wiki_title") or "") in self.titles:
            return None
        free = [p for p in _passages(row) if not self._holds(p)]
        return {**row, "passages": free} if free else None

    def _holds(self, passage: Row) -> bool:
        titled = _is_article(passage) and normal(passage["title"]) in self.titles
        return titled or passage["id"] in self.ids or not self.sentences.isdisjoint(long_sentences(passage["text"]))


def _lessons(source: Source, rows: Sequence[Row], chance: random.Random) -> Iterator[TrainingExample]:
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
    found: Spans | None = () if source.evidence == "unknown" else find(_answers(row), text)
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
                found[_article(row)].append(row)
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
        if len(rest) < _LEFT or find(_answers(row), good.title):
            return None
        return replace(good, text=rest, label=0, spans=self.nowhere, hardness=2)

    def other_entity(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with the same question about a rival, whom it neither names nor answers for."""
        rival = self._rival(row, good)
        if not rival or find(_answers(rival), good.text):
            return None
        return replace(good, question=rival["question"], label=0, spans=self.nowhere, hardness=1)

    def other_relation(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with another question about the same article, none of whose answers it holds."""
        queries = normal(good.question)
        others = [one for one in self._alike.get(_article(row), ()) if normal(one["question"]) != queries]
        for other in self.chance.sample(others, len(others)):
            if not _answered(other, good) and not places_of(_answers(other), f"{good.title}\n{good.text}"):
                return replace(good, question=other["question"], label=0, spans=self.nowhere, hardness=2)
        return None

    def renamed(self, row: Row, good: TrainingExample, bad: Sequence[TrainingExample]) -> TrainingExample | None:
        """The passage with a rival's name in it."""
        rival = self._rival(row, good)
        if not rival or self.chance.random() >= 0.6:
            return None
        mine, other = _subject(row), _subject(rival)
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
        mine, other = _subject(row), _subject(rival)
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


def _is_dev(row: Row, source: Source) -> bool:
    if source.use != "split":
        return source.use == "dev"
    return percentile(_article(row)) < SHARE_DEV


def _article(row: Row) -> str:
    """The article of a row: its subject's page, that of its first positive or passage, its item, or its own id."""
    passages = sorted(_passages(row), key=lambda p: p.get("label") != 1)
    title = next((p["title"] for p in passages if _is_article(p)), "")
    return normal(row.get("s_wiki_title") or title) or str(row.get("item") or row["id"])


def _is_article(passage: Row) -> bool:
    return bool(passage.get("title")) and passage["title"] != NO_ARTICLE


def _answered(other: Row, good: TrainingExample) -> bool:
    """Whether the passage answers the other question too, as far as labels and answers tell."""
    known = any(p.get("label") == 1 and p["text"] == good.text for p in other["passages"])
    return known or bool(find(_answers(other), good.text))


def _paragraphs(data: Path) -> dict[str, list[Row]]:
    """Passages of both corpora, by the bare name in their title."""
    found: dict[str, list[Row]] = defaultdict(list)
    for name in (PARAGRAPHS, PAGES):
        for passage in _texts(data / name):
            found[normal(bare(passage["title"]))].append(passage)
    return found


def _texts(path: Path) -> Iterator[Row]:
    """The passages of a corpus: its lines, or, where these are pages, their paragraphs."""
    for _, row in questions.rows(path):
        if "paragraphs" in row:
            numbered = enumerate(row["paragraphs"])
            yield from ({"id": f"{row['title']}#{n}", "title": row["title"], "text": text} for n, text in numbered)
        else:
            yield row


def _with_passages(row: Row, paragraphs: dict[str, list[Row]]) -> Row:
    """The question with the passages under its subject's name, labelled as in PopQA: 1 where an answer occurs."""
    mine = paragraphs.get(normal(_subject(row)), ())
    return {**row, "passages": [{**p, "label": int(bool(find(_answers(row), p["text"])))} for p in mine]}


def _questions(path: Path, source: Source) -> list[Row]:
    """The rows of a file in the format of `datasets.pairs`, or of `datasets.questions` if none has a passage."""
    if source.asked:
        return openings.questions(_texts(path))
    rows = [row for _, row in questions.rows(path)]
    if any(isinstance(row, dict) and row.get("passages") for row in rows):
        pairs.read(path)
    else:
        questions.read(path)
    for kind in source.made:
        if (key := _NEEDS.get(kind)) and not any(row.get(key) for row in rows):
            raise ConfigError(f"of {source.name} no '{kind}' can be made: none of its questions has {key}")
    return rows


def _passages(row: Row) -> list[Row]:
    found: list[Row] = row.get("passages", [])
    return found


def _answers(row: Row) -> list[str]:
    return list(map(str, row.get("answers", [])))


def _stem(name: str) -> str:
    return name.replace("/", "-")


def _subject(row: Row) -> str:
    """The bare name of the question's entity; empty where the file has none."""
    return bare(row.get("s_wiki_title") or "")
