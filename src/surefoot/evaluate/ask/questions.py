"""Labelled questions: one JSON object a line, or the official files of the papers' data sets."""

import json
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from surefoot.evaluate.problems import DataProblem, Problems, Row
from surefoot.evidence.merge import by_id
from surefoot.text.json_values import parsed
from surefoot.types import Passage, Source
from surefoot.types.errors import UsageError

SHARED = "the shared format"
READERS = "surefoot.questions"
"""Entry points of packages that read other formats: functions of a path and `Problems` that give the format's name and
rows in the shared format, or None for files that they do not know. They repair, count, and leave no question out."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its accepted answers and, where they are known, the passages that hold them."""

    id: str
    question: str
    """Empty: the data have none, and it fails when it is asked."""
    answers: tuple[str, ...]
    """Empty: none is known, so that nothing matches."""
    gold: frozenset[str]
    """Ids of the passages labelled relevant; empty: not known."""
    choices: tuple[tuple[str, str], ...] = ()
    """Each letter with its text, of a multiple-choice question."""
    key: str = ""
    """The letter of the right choice; empty: no choices, or not known."""
    prop: str = ""
    """The kind of thing asked for, as the data name it (PopQA's `prop`, or "claim", or "biography"); empty: they do
    not."""
    passages: tuple[Passage, ...] = ()
    """Passages that came with the question, in the order in which they were found, each id once."""
    outside: tuple[Passage, ...] = ()
    """Results of a web search that came with it."""
    answerable: bool = True
    """False: the data say that nothing answers it, so a refusal is right and any answer is wrong."""


@dataclass(frozen=True, slots=True)
class LoadedQuestions:
    """Questions with where they come from and what is amiss with them."""

    format: str
    examples: tuple[Example, ...]
    of: int
    """The number of questions before a sample was taken."""
    problems: tuple[DataProblem, ...]
    """Problems of all questions, not only of the sample."""


def read(path: str | Path, limit: int | None = None) -> list[Example]:
    """The questions of `load`."""
    return list(load(path, limit=limit).examples)


def load(path: str | Path, golds: str | Path | None = None, limit: int | None = None) -> LoadedQuestions:
    """The questions of a file of lines `{"id", "question", "answers": [...], "passages": [{"id", "label"}]}`, or of a
    format that an installed package reads (surefoot-lab: Self-RAG's eval_data, and a set of CRAG's `data/` folder).

    `passages` may be left out; so may `prop`, `choices` ({letter: text}, or a list) with `answer_key`, and `outside`,
    passages that a web search brought. `golds` is a file with answers to the same questions, which CRAG's folder lacks;
    it is joined by the question's words, never by the line. `limit` takes a sample of so many, in the order of the
    file: the ones whose ids hash lowest, so that it is the same everywhere and a smaller sample is part of a larger
    one. (The first lines are no sample: data sets are sorted.)

    Raises UsageError, with the line, where a file in the shared format is not as it should be. What is wrong with an
    official one, which its user did not write, is counted in `problems`; each question stays.
    """
    problems = Problems()
    name, found = _found(Path(path), problems)
    if golds:
        found = _distinct(_answered(found, _found(Path(golds), problems)[1], problems), problems)
    examples = [_example(row, f"{path}, question {row['id']}") for row in found]
    if not examples:
        raise UsageError(f"{path} holds no questions")
    seen: set[str] = set()
    for example in examples:
        if not example.question.strip():
            problems.add("no question; it fails, and counts as wrong", example.id)
        elif folded(example.question) in seen:
            problems.add("asked before under another id; each counts", example.id)
        if example.answerable and not any(answer.strip() for answer in example.answers):
            problems.add("no gold answer; whatever is said counts as wrong", example.id)
        seen.add(folded(example.question))
    chosen = set(sample((example.id for example in examples), limit))
    sampled = tuple(example for example in examples if example.id in chosen)
    return LoadedQuestions(name, sampled, len(examples), problems.all())


def sample(ids: Iterable[str], limit: int | None) -> list[str]:
    """The `limit` ids that hash lowest, or all."""
    return sorted(ids, key=hashed)[:limit]


def hashed(text: str, size: int = 64) -> bytes:
    """So many bytes, at most 64, as good as drawn and the same everywhere, also of half a surrogate pair."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=size).digest()


def rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Number, from 1, and content of each line of JSON that is not blank; raises UsageError with the line number."""
    number = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, parsed(line)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {number} is not JSON: {error.msg} at column {error.colno}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text, after line {number}") from error


def _found(path: Path, problems: Problems) -> tuple[str, list[Row]]:
    """The name of the format, and rows in the shared format, their ids distinct."""
    for reader in entry_points(group=READERS):
        if there := reader.load()(path, problems):
            return there[0], _distinct(there[1], problems)
    checked: dict[str, Row] = {}
    for number, row in rows(path):
        example = _example(row, f"{path}, line {number}")
        if example.id in checked:
            raise UsageError(f"{path}, line {number}: the id '{example.id}' was there before; ids must be distinct")
        checked[example.id] = row
    return SHARED, list(checked.values())


def distinct(ids: Iterable[str]) -> list[str]:
    """The ids in their order, each once: the second "q" becomes "q#2", or the next number that none has."""
    found, taken = dict[str, None](), Counter[str]()
    for id in ids:
        name = id
        while name in found:
            taken[id] += 1
            name = f"{id}#{taken[id] + 1}"
        found[name] = None
    return list(found)


def _distinct(found: Sequence[Row], problems: Problems) -> list[Row]:
    """The rows with ids of their own; what is no text becomes an empty question."""
    for row, name in zip(found, distinct(row["id"] for row in found), strict=True):
        if name != row["id"]:
            problems.add("questions whose id was there before; numbered", row["id"])
            row["id"] = name
        if not isinstance(row.get("question"), str):
            row["question"] = ""
    return list(found)


def _answered(found: Sequence[Row], golds: Sequence[Row], problems: Problems) -> list[Row]:
    """The rows with the answers of `golds` to the same question; of equal ones the first to the first."""
    known: defaultdict[str, deque[Row]] = defaultdict(deque)
    for gold in golds:
        known[folded(gold["question"])].append(gold)
    joined = []
    for row in found:
        same = known[folded(row["question"])]
        if not same:
            problems.add("questions that the file of gold answers does not have", str(row["id"]))
        joined.append(row | {name: value for name, value in same.popleft().items() if value} if same else row)
    for gold in (gold for same in known.values() for gold in same):
        problems.add("gold answers to questions that are not there", str(gold["id"]))
    return joined


def folded(question: str) -> str:
    """The question without differences of case and white space."""
    return " ".join(question.split()).casefold()


def _passages(row: Row, key: str, source: Source) -> tuple[Passage, ...]:
    """Those that have a text."""
    there = [p for p in row.get(key) or () if str(p.get("text") or "").strip()]
    return by_id([Passage(str(p.get("id")), str(p["text"]), str(p.get("title") or ""), source) for p in there])


def _example(row: Any, place: str) -> Example:
    try:
        choices = row.get("choices") or {}
        lettered = zip("ABCDEFGHIJ", choices, strict=False) if isinstance(choices, list) else choices.items()
        example = Example(
            str(row["id"]),
            row["question"],
            tuple(map(str, row["answers"])),
            frozenset(str(p["id"]) for p in row.get("passages", ()) if p.get("label") == 1),
            tuple((str(letter), str(text)) for letter, text in lettered),
            str(row.get("answer_key") or ""),
            str(row.get("prop") or (row["type"] if row.get("type") in ("claim", "biography") else "")),
            _passages(row, "passages", "corpus"),
            _passages(row, "outside", "external"),
            row.get("answerable") is not False,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{place} is not a question: it needs id, question and answers ({error})") from error
    if not isinstance(example.question, str) or not isinstance(row["answers"], list):
        raise UsageError(f"{place} is not a question: question must be a text, and answers a list of texts")
    return example
