"""The evaluator's examples: labelled files of many domains, and negatives made from their positives.

An evaluator that sees only the files' own negatives learns how answers look, or which names go together, but not to
read the question. So each positive brings negatives that change one thing and leave the rest, of the kinds in `MADE`.

No example comes from the articles of a development question: neither its question, nor its passages, nor others of the
same articles, nor any that share a long sentence with them.
"""

import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, get_args

from surefoot.evaluate.ask import questions
from surefoot.evaluate.ask.questions import hashed
from surefoot.run import manifest
from surefoot.run.store import write_text
from surefoot.text.words import bare
from surefoot.types.errors import ConfigError
from surefoot_lab.datasets import pairs
from surefoot_lab.train import openings
from surefoot_lab.train.examples import (
    NEEDS,
    Row,
    Source,
    TrainingExample,
    answers_of,
    article,
    examples_of_rows,
    find,
    is_article,
    long_sentences,
    normal,
    percentile,
    sections,
    subject_of,
)

Half = Literal["fit", "test"]

SHIPPED = Path(__file__).with_name("mixture.toml")
"""The mixture that the shipped weights learned from."""
PARAGRAPHS, PAGES = "corpus/wikipedia.jsonl", "miniwiki/pages.jsonl"
"""Files below the data's folder: passages {id, title, text}, and pages {title, paragraphs}. Questions of a file without
passages, such as PopQA's, get those under their subject's name."""
SHARE_DEV = 20
"""Percentage of a "split" file's articles that are development data."""


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
    """The rows of all files, divided into examples and development questions.

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
        lacking = {
            source
            for source, rows in found.items()
            if source.use in ("train", "split") and not any(row.get("passages") for row in rows)
        }
        paragraphs = _paragraphs(data) if lacking else {}
        for source, rows in found.items():
            mine = [_with_passages(row, paragraphs) for row in rows] if source in lacking else rows
            selected = (held.without(row) for row in mine if not _is_dev(row, source))
            self.train[source] = _thinned([row for row in selected if row], source.most)
        self.dev = {source.name: self.dev[source.name] for source in listed if source.use != "held"}
        files = [*(f"{source.name}.jsonl" for source in listed), *([PARAGRAPHS, PAGES] if lacking else [])]
        self.about: dict[str, Any] = {
            "mixture": fingerprint(listed),
            "data": {name: manifest.fingerprint(data / name) for name in files},
        }
        """Hashes of the mixture and of its files."""

    def examples(self, seed: int) -> list[TrainingExample]:
        """All examples of one pass; the same for the same seed.

        Positives are spread evenly, and negatives grow harder. (Ordered by hardness alone, the last quarter was all
        negatives and undid what the others had taught: development AUC fell from .838 to .832.)
        """
        chance = random.Random(seed)  # noqa: S311
        made = [one for source, rows in self.train.items() for one in examples_of_rows(source, rows, chance)]
        order = sorted(range(len(made)), key=lambda i: chance.random() + 0.35 * made[i].hardness)
        kinds = [[i for i in order if made[i].label == label] for label in (0, 1)]
        placed = [(place / len(kind), i) for kind in kinds for place, i in enumerate(kind)]
        return [made[i] for _, i in sorted(placed)]

    def write_dev(self, folder: Path) -> None:
        """Write the halves of the development questions below `fit` and `test`, as files of the same format.

        A file without a labelled passage is left out.
        """
        for name, rows in self.dev.items():
            for part in get_args(Half):
                some = [row for row in rows if half(row) == part]
                if any(p.get("label") is not None for row in some for p in row.get("passages", ())):
                    lines = "".join(json.dumps(row) + "\n" for row in some)
                    write_text(folder / part / f"{_stem(name)}.jsonl", lines)


def _thinned(rows: list[Row], most: int | None) -> list[Row]:
    """At most so many of the rows: those whose ids hash lowest, as the first ones of a file are often of one kind."""
    return rows if most is None else sorted(rows, key=lambda row: hashed(str(row["id"])))[:most]


class _Held:
    """The questions, passages and articles that no example may come from."""

    def __init__(self, rows: Sequence[Row]) -> None:
        passages = [p for row in rows for p in row.get("passages", ())]
        self.ids = {p["id"] for p in passages}
        self.sentences = {key for p in passages for key in long_sentences(p["text"])}
        self.questions = {normal(row["question"]) for row in rows}
        self.titles = {normal(p["title"]) for p in passages if is_article(p)}
        self.titles |= {normal(row["s_wiki_title"]) for row in rows if row.get("s_wiki_title")}
        self.titles.discard("")  # of a title without letters, and of every row without a subject

    def without(self, row: Row) -> Row | None:
        """The row without held passages; None if its question or subject is held, or no passage is left."""
        if normal(row["question"]) in self.questions or normal(row.get("s_wiki_title") or "") in self.titles:
            return None
        free = [p for p in row.get("passages", ()) if not self._holds(p)]
        return {**row, "passages": free} if free else None

    def _holds(self, passage: Row) -> bool:
        titled = is_article(passage) and normal(passage["title"]) in self.titles
        return titled or passage["id"] in self.ids or not self.sentences.isdisjoint(long_sentences(passage["text"]))


def _is_dev(row: Row, source: Source) -> bool:
    if source.use != "split":
        return source.use != "train"
    return percentile(article(row)) < SHARE_DEV


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
    mine = paragraphs.get(normal(subject_of(row)), ())
    return {**row, "passages": [{**p, "label": int(bool(find(answers_of(row), p["text"])))} for p in mine]}


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
        if (key := NEEDS.get(kind)) and not any(row.get(key) for row in rows):
            raise ConfigError(f"of {source.name} no '{kind}' can be made: none of its questions has {key}")
    return rows


def _stem(name: str) -> str:
    return name.replace("/", "-")
