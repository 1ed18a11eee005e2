"""The text of a file, and the values of JSON in it, each with its line."""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

from surefoot.documents.loaders import Unreadable
from surefoot.documents.loaders.text import encoding_of
from surefoot.evaluate.problems import Problems
from surefoot.text.json_values import TOO_DEEP, deep
from surefoot.types.errors import UsageError

_SPACE = re.compile(r"\s*")

ARROW_HINT = "write it as JSON lines first: datasets.load_from_disk('FOLDER').to_json('records.jsonl')"
_BINARY = {
    b"PAR1": "is a Parquet file; write it as JSON lines first: pandas.read_parquet('FILE').to_json('records.jsonl', "
    "orient='records', lines=True)",
    b"ARROW1": f"is an Arrow file; {ARROW_HINT}",
    b"\xff\xff\xff\xff": f"is an Arrow file; {ARROW_HINT}",
    b"\x1f\x8b": "is packed; unpack it first: gunzip FILE",
    b"PK\x03\x04": "is a spreadsheet or a ZIP archive; save its table as CSV, or unpack it first",
    b"SQLite format 3": "is a database; write its table as CSV first",
}
"""The first bytes of files that are not read here, and what to do with such a file."""

_DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""pandas writes NaN where there is nothing."""


def text(path: Path, problems: Problems) -> str:
    """The text of a file in whatever encoding it is; one that is not UTF-8 is counted. Raises UsageError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    for start, what in _BINARY.items():
        if data.startswith(start):
            raise UsageError(f"{path} {what}")
    try:
        encoding, doubt = encoding_of(BytesIO(data))
    except Unreadable as error:
        raise UsageError(f"{path} {error}") from error
    if doubt:
        problems.add(f"the file {doubt.reason}", path.name)
    return data.decode(encoding, "replace")


def values(text: str, name: str) -> list[tuple[int, Any]]:
    """The number of its first line, from 1, with each value: of JSON lines, of one value over many lines, or of several
    such. Raises UsageError, naming the line."""
    lines = text.split("\n")  # not splitlines: the line separators of Unicode may stand in a string of JSON
    try:
        _DECODER.decode(next((line for line in lines if line.strip()), ""))
    except (ValueError, RecursionError):
        return _stream(text, name)
    return [(number, _one(line, number, name)) for number, line in enumerate(lines, start=1) if line.strip()]


def _one(line: str, number: int, name: str) -> Any:
    try:
        return _followed(_DECODER.decode(line))
    except (ValueError, RecursionError) as error:
        raise _damaged(name, number, error) from error


def _stream(text: str, name: str) -> list[tuple[int, Any]]:
    found, line, counted = [], 1, 0
    place = _after_space(text, 0)
    while place < len(text):
        try:
            value, end = _DECODER.raw_decode(text, place)
            _followed(value)
        except (ValueError, RecursionError) as error:
            spot = error.pos if isinstance(error, json.JSONDecodeError) else place
            raise _damaged(name, text.count("\n", 0, spot) + 1, error) from error
        line, counted = line + text.count("\n", counted, place), place
        found.append((line, value))
        place = _after_space(text, end)
    return found


def _after_space(text: str, place: int) -> int:
    return _SPACE.match(text, place).end()  # type: ignore[union-attr]  # it matches none, too


def _followed(value: Any) -> Any:
    """The value, if it can be followed by recursion. Raises ValueError."""
    if deep(value):
        raise ValueError(TOO_DEEP)
    return value


def _damaged(name: str, line: int, error: Exception) -> UsageError:
    why = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return UsageError(f"{name}, line {line} is not JSON ({why}); mend the line, or take it out, and read again")
