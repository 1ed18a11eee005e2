"""The text of a file, and what lies in it: values of JSON, each with its line, or the rows of a table."""

from __future__ import annotations

import csv
import json
from collections import Counter
from io import BytesIO, StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

from surefoot.documents.loaders import Unreadable
from surefoot.documents.loaders._rows import MAX_LINE
from surefoot.documents.loaders.text import encoding_of
from surefoot.evaluate.problems import Problems
from surefoot.text.json_values import TOO_DEEP, deep
from surefoot.types.errors import UsageError

_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b", b"PK\x03\x04", b"SQLite format 3")
"""The first bytes of Parquet, Arrow, packed files, spreadsheets and databases."""
CONVERT = "write it as JSON lines or as CSV first: pandas.DataFrame.to_json(orient='records', lines=True)"
DELIMITERS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV"}
_UNDER = ("data", "rows", "records", "samples", "examples", "results", "spans", "test_cases", "train", "test", "dev")
"""Names under which whole files keep the list of what they hold."""
_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""pandas writes NaN where there is nothing."""


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
        _DECODER.decode(lines[0][1])
    except (ValueError, RecursionError):
        lines = [(1, text)]
    found = []
    for number, line in lines:
        try:
            found.append((number, value := _DECODER.decode(line)))
            if deep(value):
                raise RecursionError
        except (ValueError, RecursionError) as error:
            at, why = number, TOO_DEEP
            if isinstance(error, json.JSONDecodeError):
                at, why = number + error.lineno - 1, error.msg
            raise UsageError(
                f"{name}, line {at} is not JSON ({why}); mend the line, or take it out, and read again"
            ) from error
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
