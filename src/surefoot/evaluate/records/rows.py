"""Rows of JSON or of a table as records, by the paths at which a tool's files have each field."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from io import BytesIO, StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any

from surefoot.documents.loaders import Unreadable
from surefoot.documents.loaders._rows import MAX_LINE
from surefoot.documents.loaders.text import encoding_of
from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records.messages import TURNS, as_text, passages, plain_text, question_fields, turns
from surefoot.evaluate.records.paths import (
    COLUMNS,
    FORMATS,
    Paths,
    chosen,
    first,
    known,
    leaves,
    look,
    nest,
    nested,
    plain,
)
from surefoot.text.json_values import logged
from surefoot.types import Passage, Record
from surefoot.types.errors import UsageError

_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b", b"PK\x03\x04", b"SQLite format 3")
"""The first bytes of Parquet, Arrow, packed files, spreadsheets and databases."""
CONVERT = "write it as JSON lines or as CSV first: pandas.DataFrame.to_json(orient='records', lines=True)"
DELIMITERS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV"}


def parsed(path: Path, problems: Problems) -> tuple[str, list[tuple[str, Any]]]:
    """The form of a file, and each value in it with its place. Raises UsageError."""
    text, name = _text_of(path, problems), path.name
    if not text.strip():
        raise UsageError(f"{path} is empty")
    if text.lstrip()[0] not in "{[":
        return _table(text, name, problems)
    values = _values(text, name)
    listed = _listed(values[0][1]) if len(values) == 1 else None
    if listed is None:
        return "JSON lines", [(f"{name}, line {number}", value) for number, value in values]
    return "a JSON list", [(f"{name}, item {number}", value) for number, value in enumerate(listed, start=1)]


def _text_of(path: Path, problems: Problems) -> str:
    """The text of a file in whatever encoding it is; one that is not UTF-8 is counted. Raises UsageError."""
    try:
        data = path.read_bytes()
        if data.startswith(_BINARY):
            raise Unreadable("is no text")
        encoding, doubts = encoding_of(BytesIO(data))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except Unreadable as error:
        raise UsageError(f"{path} {error}; {CONVERT}") from error
    for doubt in doubts:
        problems.add(f"the file {doubt.reason}", path.name)
    return data.decode(encoding, "replace")


def _values(text: str, name: str) -> list[tuple[int, Any]]:
    """Each value of JSON lines with its line, or the one value of a whole file. Raises UsageError, with the line."""
    # Not splitlines: the line separators of Unicode may stand in a string of JSON.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    try:
        logged(lines[0][1])
    except ValueError:
        lines = [(1, text)]
    found = []
    for number, line in lines:
        try:
            found.append((number, logged(line)))
        except json.JSONDecodeError as error:
            wrong = f"{name}, line {number + error.lineno - 1} is not JSON ({error.msg})"
            raise UsageError(f"{wrong}; mend the line, or take it out, and read again") from error
    return found


def _listed(value: Any) -> list[Any] | None:
    """The records of a JSON list, bare, under a name, or in columns; None: it is one record. Raises UsageError for
    several lists."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else None
    lists = {path: cells for path in FORMATS["lists"] if isinstance(cells := look(value, path), list) and cells}
    if len(lists) > 1:
        raise UsageError(f"the file holds several lists: {', '.join(lists)}; write one of them to a file of its own")
    found = next(iter(lists.values()), None)
    if found and all(isinstance(cells, list) for cells in found) and isinstance(names := value.get("columns"), list):
        return [dict(zip(map(str, names), cells, strict=False)) for cells in found]  # pandas' orient="split"
    return found or _transposed(value)


def _transposed(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object of columns: by index, as pandas writes it, or of lists, as Haystack does, with questions or
    answers in one; None: it is no such object. Raises UsageError for columns of different lengths."""
    by_index = [
        name for name, each in columns.items() if isinstance(each, dict) and each and all(map(str.isdecimal, each))
    ]
    cells = {name: [*each.values()] if name in by_index else each for name, each in columns.items()}
    spoken = [each for name, each in cells.items() if plain(name) in (*COLUMNS["question"], *COLUMNS["answer"])]
    of_texts = any(isinstance(each, list) and each and all(isinstance(one, str) for one in each) for each in spoken)
    lengths = {len(each) if isinstance(each, list) else -1 for each in cells.values()}
    if not by_index and (not of_texts or -1 in lengths):
        return None
    if len(lengths) > 1:
        raise UsageError(f"the file holds columns, and not all of them have as many cells; {CONVERT}")
    return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _table(text: str, name: str, problems: Problems) -> tuple[str, list[tuple[str, Any]]]:
    """The kind of table, by what parts its columns, and each row by column, with its place. Raises UsageError, naming
    the line, for a row with more cells than the header; cells that a row lacks are None, and counted."""
    csv.field_size_limit(MAX_LINE)  # the module's own limit is 128 KiB, less than ten long contexts
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=delimiter)
    found: list[tuple[str, Any]] = []
    try:
        header = [column.strip() for column in reader.fieldnames or ()]
        reader.fieldnames = header
        for row in reader:
            place = f"{name}, line {reader.line_num}"
            if more := row.pop(None, None):
                count = f"{len(header) + len(more)} cells and the header {len(header)}"
                wrong = f"{place}: the row that ends there has {count}"
                raise UsageError(f"{wrong}; put cells that hold separators in quotes")
            if None in row.values():
                problems.add("rows with fewer cells than the header; what is not there counts as not kept", place)
            found += [(place, row)] if any(row.values()) else []
    except csv.Error as error:
        raise UsageError(f"{name}, line {reader.line_num} is not CSV ({error}); mend the row and read again") from error
    for column in sorted({column for column in header if header.count(column) > 1}):
        problems.add("columns of one name; the last of them is read", column)
    return DELIMITERS[delimiter], found


def records(rows: Sequence[tuple[str, Any]], name: str, problems: Problems, mapping: Paths) -> tuple[str, list[Record]]:
    """The name of the tool's format, empty where it is unknown, and a record for each row, given with its place. Paths
    of `mapping` come before all others; a name in it that is no field's becomes a tag. Raises UsageError for no row,
    and where no field is found."""
    flat = [(place, _row(value, place)) for place, value in rows]
    if not flat:
        raise UsageError(f"{name} holds no records")
    by = {field: paths for field, paths in mapping.items() if field not in COLUMNS}
    mapping = {field: paths for field, paths in mapping.items() if field in COLUMNS}
    tools: list[dict[str, Any]] = FORMATS["formats"]
    own = next((tool for tool in tools if any(known(row, tool["known"]) for _, row in flat[:5])), {})
    if "turns" in own:
        flat = [turn for place, row in flat for turn in _turns(place, look(row, own["turns"]))]
    every = [row for _, row in flat]
    paths = chosen({**own, **mapping}, every)
    if not {"question", "answer", "contexts"} & {*paths} or not {*mapping} <= {*paths}:
        raise UsageError(_refusal(name, paths, every, mapping))
    if [plain(path) for path in paths.get("truths", ())] == ["answer"]:
        taken = "records whose column 'answer' is taken for the reference, since another holds the system's answer"
        problems.add(f"{taken}; rename it where that is wrong", name, len(flat))
    heads = {plain(head) for path in chain(*paths.values(), *by.values()) for head in (path, path.partition(".")[0])}
    for column in dict.fromkeys(column for row in every for column in row):
        if column and plain(column) not in (*heads, "tags"):
            problems.add("columns that are not read", column)
    found = [({field: first(row, there) for field, there in paths.items()}, row, place) for place, row in flat]
    made = [record(*each, problems, own.get("separator", "")) for each in found]
    made = [replace(one, tags={**one.tags, **_tags(row, by)}) for one, row in zip(made, every, strict=True)]
    lacks = {"contexts": all(one.contexts is None for one in made), "answer": all(one.answer is None for one in made)}
    for field in (field for field, lacking in lacks.items() if lacking and field not in paths):
        problems.add(f"no {field} under a known name; if it stands elsewhere, say --map {field}=PATH", name)
    return own.get("name", ""), made


def _tags(row: Mapping[str, Any], by: Paths) -> dict[str, str]:
    cells = {name: first(row, paths) for name, paths in by.items()}
    return {name: str(cell) for name, cell in cells.items() if isinstance(cell, str | int | float) and cell != ""}


def _turns(place: str, turns: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each turn of a conversation as a row of its own, with the turns before it."""
    several = turns or [{}] if isinstance(turns, list) else [turns]
    for number, turn in enumerate(several, start=1):
        group = (
            {"group": place, "history": several[max(0, number - 1 - TURNS) : number - 1]} if len(several) > 1 else {}
        )
        where = f"{place}, turn {number}" if group else place
        yield where, {**_row(turn, where), **group}


def _refusal(name: str, paths: Paths, rows: Sequence[Mapping[str, Any]], mapping: Paths) -> str:
    """What a file has, which fields were found in it, and how to say where the others stand."""
    lacks = [f"nothing at {', '.join(tried)} ({field})" for field, tried in mapping.items() if field not in paths]
    there = islice(dict.fromkeys(path for row in rows[:5] for path in leaves(row)), 20)
    # A text that is no table has very long names.
    shown = ", ".join(path if len(path) <= 40 else f"{path[:40]}…" for path in map(" ".join, map(str.split, there)))
    found = ", ".join(f"{field} at {where[0]}" for field, where in paths.items()) or "none"
    return (
        f"{name} has {(*lacks, 'no question, contexts or answer under a known name')[0]}; it has: {shown}; fields "
        f"found: {found}; say where the others stand: --map question=PATH (fields: {', '.join(COLUMNS)})"
    )


def _row(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f'{place} is no record; a record is an object of JSON, such as {{"question": …}}; take it out')
    return nest(value)


def record(
    found: Mapping[str, Any], row: Mapping[str, Any], place: str, problems: Problems, separator: str = ""
) -> Record:
    """The record of the fields that were found in a file; of its `row` the tags, and `place` is where it stands."""
    conversation = question_fields(found.get("question"))
    fields = conversation | {field: cell for field, cell in found.items() if cell is not None and field != "question"}
    answer = fields.get("answer")
    if isinstance(answer, list) and len(answer) > 1 and all(isinstance(each, str) for each in answer):
        problems.add("records with several answers; the first is judged", place)
        answer = answer[0]
    if answer is None and fields.get("error"):
        problems.add("requests that failed; their answer counts as empty", place)
        answer = ""
    truths = [_spoken(each) for each in _several(fields.get("truths"))]
    if blank := sum(not truth.strip() for truth in truths):
        problems.add("blank reference answers; left out", place, blank)
    history = (*turns(found.get("history")), *conversation["history"])
    before = history[:-1] if history and history[-1][0] == conversation["question"] else history
    own = row.get("tags")
    tags = {str(name): str(value) for name, value in own.items()} if isinstance(own, dict) else {}
    named = {name: fields[name] for name in FORMATS["tags"] if isinstance(fields.get(name), str | int)}
    return Record(
        id=as_text(fields.get("id")),
        question=conversation["question"],
        contexts=_contexts(fields.get("contexts"), separator, place, problems),
        answer=None if answer is None else _spoken(answer),
        truths=tuple(dict.fromkeys(truth for truth in truths if truth.strip())),
        note=as_text(fields.get("note")),
        context_ids=_ids(fields.get("context_ids")),
        reference_ids=_ids(fields.get("reference_ids")),
        answerable=str(fields.get("answerable")).lower() not in ("false", "no", "0"),
        group=as_text(fields.get("group")),
        tags=tags | {name: str(value) for name, value in named.items() if value != ""},
        history=before[-TURNS:],
    )


def _contexts(value: Any, separator: str, place: str, problems: Problems) -> tuple[Passage, ...] | None:
    """The passages of a cell, which may hold a list; None: it is empty, or has none with a text, as where these were
    not kept. Those without any text are left out."""
    if isinstance(value, str) and separator and separator in value and not nested(value):
        problems.add(f"contexts in one text, parted at '{separator}'", place)
        value = value.split(separator)
    elif isinstance(value, str):
        value = _list(value) if value.strip() else None
    found = None if value is None else passages(value)
    if not found or not (blank := sum(not passage.text.strip() for passage in found)):
        return found
    problems.add("contexts without any text; left out", place, blank)
    return tuple(passage for passage in found if passage.text.strip()) or None


def _ids(value: Any) -> tuple[str, ...]:
    """The ids in a list, or in a text that writes one out; a text alone is one."""
    listed = nested(value) if isinstance(value, str) else value
    several = listed if isinstance(listed, list) else [] if value in (None, "") else [value]
    return tuple(dict.fromkeys(as_text(one) for one in several))


def _spoken(value: Any) -> str:
    """A text stands as it is, also where it is one of JSON; of messages and objects, the words of the answer."""
    return plain_text(value, "assistant") if isinstance(value, list | dict) else as_text(value)


def _several(value: Any) -> list[Any]:
    """Reference answers: one, a list, or what SQuAD ({"text": […]}) and TriviaQA ({"value", "aliases"}) have."""
    if isinstance(value, dict) and (names := {"value", "text", "aliases"} & {*value}):
        return [each for name in ("value", "text", "aliases") if name in names for each in _several(value[name])]
    if isinstance(value, str):
        return _list(value)
    return [each for each in value if each is not None] if isinstance(value, list) else [] if value is None else [value]


def _list(text: str) -> list[Any]:
    """The list of texts or objects that a text writes out, in JSON or in Python; else the text alone."""
    value = nested(text)
    return value if isinstance(value, list) and all(isinstance(item, str | dict) for item in value) else [text]
