"""Rows with named columns, of JSON or of a table, as records, by the names that others give the columns."""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from surefoot.documents.loaders import Unreadable
from surefoot.documents.loaders._rows import MAX_LINE
from surefoot.documents.loaders.text import encoding_of
from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records.messages import FOREIGN, Who, as_text, passages, plain_text
from surefoot.text.json_values import logged
from surefoot.types import Record
from surefoot.types.errors import UsageError

_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b", b"PK\x03\x04", b"SQLite format 3")
"""The first bytes of Parquet, Arrow, packed files, spreadsheets and databases."""
CONVERT = "write it as JSON lines or as CSV first: pandas.DataFrame.to_json(orient='records', lines=True)"
DELIMITERS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV"}
_UNDER = ("data", "rows", "records", "samples", "examples", "results", "spans", "test_cases", "train", "test", "dev")
"""Names under which whole files keep the list of what they hold."""


def text(path: Path, problems: Problems) -> str:
    """The text of a file in whatever encoding it is; one that is not UTF-8 is counted. Raises UsageError."""
    try:
        data = path.read_bytes()
        if data.startswith(_BINARY):
            raise Unreadable("is no text")
        encoding, doubt = encoding_of(BytesIO(data))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except Unreadable as error:
        raise UsageError(f"{path} {error}; {CONVERT}") from error
    if doubt:
        problems.add(f"the file {doubt.reason}", path.name)
    return data.decode(encoding, "replace")


def values(text: str, name: str) -> list[tuple[int, Any]]:
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


def listed(value: Any) -> list[Any] | None:
    """The records of a JSON list, bare or under a name; None: it is one record. Raises UsageError for several lists."""
    if isinstance(value, list):
        return value
    under = value if isinstance(value, dict) else {}
    lists = {name: cells for name in _UNDER if isinstance(cells := under.get(name), list) and cells}
    if len(lists) > 1:
        raise UsageError(f"the file holds several lists: {', '.join(lists)}; write one of them to a file of its own")
    return next(iter(lists.values()), None)


def table(text: str, name: str, problems: Problems) -> tuple[str, list[tuple[str, dict[str, str | None]]]]:
    """The kind of table, by what parts its columns, and each row by column, with its place. Raises UsageError, naming
    the line, for a row with more cells than the header; cells that a row lacks are None, and counted."""
    csv.field_size_limit(MAX_LINE)  # the module's own limit is 128 KiB, less than ten long contexts
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(reader)]
        if twice := [column for column, count in Counter(header).items() if count > 1]:
            raise UsageError(f"{name} has two columns called '{twice[0]}'; rename one of them")
        found = [(f"{name}, line {reader.line_num}", cells) for cells in reader if any(cells)]
    except csv.Error as error:
        raise UsageError(f"{name}, line {reader.line_num} is not CSV ({error}); mend the row and read again") from error
    for place, cells in found:
        if len(cells) > len(header):
            count = f"{len(cells)} cells and the header {len(header)}"
            raise UsageError(f"{place}: the row that ends there has {count}; put cells that hold separators in quotes")
        if len(cells) < len(header):
            problems.add("rows with fewer cells than the header; what is not there counts as not kept", place)
    return DELIMITERS[delimiter], [(place, dict(zip_longest(header, cells))) for place, cells in found]


NAMES: dict[str, list[str]] = {field: names for field, names in FOREIGN["columns"].items() if field != "tags"}
"""Names of columns by field, the best first; case and the signs between words do not matter."""
TAGS: list[str] = FOREIGN["columns"]["tags"]
"""Columns that results are told apart by."""
TAKEN_FOR_THE_REFERENCE = (
    "records whose column 'answer' is taken for the reference, since another holds the system's answer; "
    "rename it where that is wrong"
)


def records(rows: Sequence[tuple[str, Any]], name: str, problems: Problems) -> list[Record]:
    """A record for each row, given with its place. Raises UsageError for no row, and where no column is known."""
    flat = [(place, _flat(value, place)) for place, value in rows]
    if not flat:
        raise UsageError(f"{name} holds no records")
    there = Counter(column for _, row in flat for column in row)
    named = assigned(list(there))
    if not {"question", "answer", "contexts"} & set(named):
        raise UsageError(
            f"{name} has no column for a question, contexts or an answer; it has: {_shown(there)}; rename its columns "
            f"(fields: {', '.join(NAMES)})"
        )
    if any(_is_column(row.get(named.get(field, ""))) for _, row in flat[:1] for field in ("question", "answer")):
        raise UsageError(f"{name} holds columns, and not a record a row; {CONVERT}")
    if plain(named.get("truths", "")) == "answer":
        problems.add(TAKEN_FOR_THE_REFERENCE, name, len(flat))
    for column, count in there.items():
        if column not in named.values() and plain(column) not in (*TAGS, "tags"):
            problems.add(f"rows whose column '{column}' is not read", name, count)
    return [
        _record({field: row.get(column) for field, column in named.items()}, row, place, problems)
        for place, row in flat
    ]


def assigned(columns: Collection[str]) -> dict[str, str]:
    """The column of each field of a record that has one, the same for the whole file.

    Where nothing else can be the reference and there are two answers, "answer" is the reference, as in files of
    predictions beside gold answers.
    """
    known = {plain(column): column for column in reversed(list(columns))}
    chosen = {field: next((known[name] for name in names if name in known), "") for field, names in NAMES.items()}
    second = known.get("answer", "")
    if not chosen["truths"] and second and chosen["answer"] != second:
        chosen["truths"] = second
    return {field: column for field, column in chosen.items() if column}


def _is_column(value: Any) -> bool:
    """True for the cells of several rows: texts in a list, or by index, as pandas writes them."""
    if isinstance(value, dict):
        return bool(value) and all(str(key).isdigit() for key in value)
    return isinstance(value, list) and bool(value) and all(isinstance(cell, str) for cell in value)


def plain(column: str) -> str:
    """ "Ground Truth", "groundTruth" and "ground-truth" are "ground_truth"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def _shown(columns: Iterable[str]) -> str:
    """The names of columns, so that they fit a line: a text that is no table has a very long one."""
    plainly = (" ".join(column.split()) for column in islice(columns, 12))
    first = [column if len(column) <= 30 else f"{column[:30]}…" for column in plainly]
    return ", ".join(first)


def _flat(value: Any, place: str) -> dict[str, Any]:
    """The row; what FlashRAG keeps under "output" stands beside the rest."""
    if not isinstance(value, dict):
        raise UsageError(f'{place} is no record; a record is an object of JSON, such as {{"question": …}}; take it out')
    if not isinstance(inner := value.get("output"), dict):
        return value
    return {**{column: cell for column, cell in value.items() if column != "output"}, **inner}


def _record(fields: dict[str, Any], row: Mapping[str, Any], place: str, problems: Problems) -> Record:
    found = fields.get("contexts")
    if isinstance(found, str):  # a cell of a table, which may hold a list
        found = _list(found) if found.strip() else None
    contexts = None if found is None else passages(found)
    if contexts and (blank := sum(not passage.text.strip() for passage in contexts)):
        problems.add("contexts without any text; left out", place, blank)
        contexts = tuple(passage for passage in contexts if passage.text.strip())
    truths = [text for each in _several(fields.get("truths")) if (text := _text(each)) is not None]
    if blank := sum(not truth.strip() for truth in truths):
        problems.add("blank reference answers; left out", place, blank)
    own = row.get("tags")
    tags = {str(name): str(value) for name, value in own.items()} if isinstance(own, dict) else {}
    return Record(
        id=_text(fields.get("id")) or "",
        question=_spoken(fields.get("question"), "user") or "",
        contexts=contexts,
        answer=_spoken(fields.get("answer"), "assistant"),
        truths=tuple(dict.fromkeys(truth for truth in truths if truth.strip())),
        note=_text(fields.get("note")) or "",
        group=_text(fields.get("group")) or "",
        tags=tags | {plain(column): str(value) for column, value in row.items() if _is_tag(column, value)},
    )


def _spoken(value: Any, who: Who) -> str | None:
    """A text stands as it is, also where it is one of JSON; of messages, what this one said last."""
    return plain_text(value, who) if isinstance(value, list | dict) else _text(value)


def _text(value: Any) -> str | None:
    return None if value is None else as_text(value)


def _several(value: Any) -> list[Any]:
    """Reference answers: one, a list, or what SQuAD ({"text": […]}) and TriviaQA ({"value", "aliases"}) have."""
    if isinstance(value, dict):
        return [*_several(value.get("value")), *_several(value.get("text")), *_several(value.get("aliases"))]
    if isinstance(value, str):
        return _list(value)
    return value if isinstance(value, list) else [] if value is None else [value]


def _list(text: str) -> list[Any]:
    """The list that a text writes out, in JSON or in Python; else the text alone."""
    if text.lstrip().startswith("[") and text.rstrip().endswith("]"):
        for parse in (logged, ast.literal_eval):
            try:
                value = parse(text.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(value, list) and all(isinstance(item, str | dict) for item in value):
                return value
    return [text]


def _is_tag(column: str, value: Any) -> bool:
    return plain(column) in TAGS and isinstance(value, str | int) and value != ""
