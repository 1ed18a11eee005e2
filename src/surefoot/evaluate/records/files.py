"""Records of a file or of a run of any RAG system, with what they lack and what cannot be judged for it.

The format is told by what is in the file; each has a module beside this one.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from surefoot.config import trust
from surefoot.evaluate.ask import questions
from surefoot.evaluate.problems import DataProblem, Problems
from surefoot.evaluate.records import rows, spans, traces
from surefoot.evaluate.records.folder import records_of
from surefoot.evaluate.records.paths import COLUMNS, Paths
from surefoot.run import manifest
from surefoot.run.store import runs
from surefoot.text.json_values import parsed
from surefoot.types import Record, Trace
from surefoot.types.errors import UsageError

_REMARKS: dict[str, Callable[[Record], bool]] = {
    "records without a question": lambda one: not one.question.strip(),
    "records without contexts": lambda one: one.contexts is None,
    "records with empty contexts: that is judged": lambda one: one.contexts == (),
    "records without an answer": lambda one: one.answer is None,
    "records with an empty answer: it is judged as one": lambda one: one.answer is not None and not one.answer.strip(),
    "records without a reference answer": lambda one: one.answerable and not one.truths,
    "questions that failed; their answer counts as empty": lambda one: bool(one.trace and one.trace.error),
}

NO_MAPPING: Paths = {}


@dataclass(frozen=True, slots=True)
class LoadedRecords:
    """Records, with where they come from and what is amiss with them."""

    format: str
    records: tuple[Record, ...]
    """Records in the order of the file, with distinct ids."""
    problems: tuple[DataProblem, ...]
    """Missing, repaired or left out parts, each counted."""


def read(path: str | Path, golds: str | Path | None = None, mapping: Paths = NO_MAPPING) -> LoadedRecords:
    """The records of a file or of a run's folder, whatever its format.

    `mapping` has paths of fields that stand under names of their own: {"question": ["input.query"]}. A name that is no
    field's becomes a tag; UsageError where no record gets it.

    `golds` is a file of questions with answers (`datasets.questions.load`) that completes records without a reference:
    by id, else by the words of the question. A run's folder names its own, taken if unchanged and below the working
    directory.

    No row is left out: a row that is no record raises UsageError, naming the line; what a record lacks is counted. A
    second record of an id gets "#2" behind it, one without an id its number, and records that ask the same form a
    group.
    """
    problems, place = Problems(), Path(path)
    name, records = _found(place, problems, mapping)
    records = _answered(records, golds or _golds(place, problems), problems)
    records = _grouped(_identified(records, problems), problems)
    there = {tag for record in records for tag in record.tags}
    if lacking := [name for name in mapping if name not in {*COLUMNS, *there}]:
        raise UsageError(f"no record has {lacking[0]!r}; tags: {', '.join(sorted(there)) or 'none'}")
    for record in records:
        for what, lacks in _REMARKS.items():
            if lacks(record):
                problems.add(what, record.id)
    return LoadedRecords(name, tuple(records), problems.all())


def _found(path: Path, problems: Problems, mapping: Paths) -> tuple[str, list[Record]]:
    """The kind of a file or of a run's folder in words, and its records in order; ids are empty where it has none.
    Raises UsageError."""
    file = path / "records.jsonl"
    if path.is_dir() and not file.exists():
        return "a run of Surefoot", traces.run(_run(path), problems)
    if path.is_dir() and (path / "scores.jsonl").exists():
        return "records of Surefoot", list(records_of(file))
    form, values = rows.parsed(file if path.is_dir() else path, problems)
    first = values[0][1] if values else None
    if traces.is_record(first):
        return "records of Surefoot", [traces.decoded(Record, "value", value, place) for place, value in values]
    if traces.is_trace(first):
        found = ((traces.decoded(Trace, "trace", value, place), value) for place, value in values)
        return "traces of Surefoot", [traces.record(trace, str(value.get("key", ""))) for trace, value in found]
    if spans.recognised(first):
        return "spans", spans.records(values, problems, mapping)
    tool, records = rows.records(values, path.name, problems, mapping)
    return tool or form, records


def _run(folder: Path) -> Path:
    inner = runs(folder)
    if len(inner) > 1:
        raise UsageError(f"{folder} holds several runs; give one of them: {', '.join(map(str, inner))}")
    if not inner or not (inner[0] / "traces.jsonl").exists():
        raise UsageError(f"{folder} holds no records: neither records.jsonl nor run.json with traces.jsonl")
    return inner[0]


def _golds(place: Path, problems: Problems) -> str | None:
    """The file of a run's questions, if it is unchanged since."""
    inner = runs(place) if place.is_dir() and not (place / "records.jsonl").exists() else []
    if len(inner) != 1:
        return None
    about = parsed((inner[0] / "run.json").read_bytes())
    named, known = about.get("golds") or about.get("data"), about.get("golds_sha256") or about.get("sha256")
    try:
        trust.place(str(named or ""), "--golds")
    except UsageError:
        problems.add("runs whose questions are not below this folder; name them as golds", str(named or place))
        return None
    if manifest.fingerprint(named) != known:
        problems.add("runs whose questions have changed since; their answers are not taken, name golds", str(named))
        return None
    return str(named)


def _answered(records: Sequence[Record], golds: str | Path | None, problems: Problems) -> list[Record]:
    if not golds:
        return list(records)
    examples = questions.load(golds).examples
    by_id = {example.id: example for example in examples}
    by_words = {questions.folded(example.question): example for example in reversed(examples)}
    joined = []
    for record in records:
        known = by_id.get(record.id, by_words.get(questions.folded(record.question)))
        truths = tuple(dict.fromkeys(answer for answer in known.answers if answer.strip())) if known else ()
        answerable = record.answerable and (known is None or known.answerable)
        if answerable and not record.truths and not truths:
            problems.add("records that the file of gold answers has no answer for", record.id or record.question)
        ids = record.reference_ids or tuple(sorted(known.gold) if known else ())
        joined.append(replace(record, truths=record.truths or truths, answerable=answerable, reference_ids=ids))
    return joined


def _identified(records: Sequence[Record], problems: Problems) -> list[Record]:
    ids = [record.id.strip() or str(number) for number, record in enumerate(records, start=1)]
    names = questions.distinct(ids)
    for record, id, name in zip(records, ids, names, strict=True):
        if not record.id.strip():
            problems.add("records without an id; numbered by their place", id)
        elif name != id:
            problems.add("records whose id was there before; numbered", id)
    return [replace(record, id=name) for record, name in zip(records, names, strict=True)]


def _grouped(records: Sequence[Record], problems: Problems) -> list[Record]:
    """Records that ask the same, as several systems' answers to one question do, are not independent of each other."""
    pairs = [(questions.folded(record.question), record) for record in records]
    first = {words: record.id for words, record in reversed(pairs)}
    times = Counter(words for words, record in pairs if words and not record.group)
    grouped = []
    for words, record in pairs:
        if several := not record.group and times[words] > 1:
            problems.add("records that ask what another asks; grouped with it", record.id)
        grouped.append(replace(record, group=first[words]) if several else record)
    return grouped
