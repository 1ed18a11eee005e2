"""Files that are one value for all records, as rows: tables with a header line, and lists or columns of JSON."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from typing import Any

from surefoot.documents.loaders._rows import MAX_LINE
from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records.passages import transposed
from surefoot.evaluate.records.rows import field_of
from surefoot.types.errors import UsageError

DELIMITERS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV", "|": "a table with bars"}
_UNDER = ("data", "rows", "records", "samples", "examples", "results", "spans", "test_cases", "train", "test", "dev")
"""Names under which whole files keep the list of what they hold."""
_LEADING = ("question", "answer")
"""Fields that are texts, so that a list of them is a column."""


def rows(text: str, name: str, problems: Problems) -> tuple[str, list[tuple[str, dict[str, str | None]]]]:
    """The kind of table, by what parts its columns, and each row by column, with its place. Raises UsageError, naming
    the line, for a row with more cells than the header; cells that a row lacks are None, and counted."""
    csv.field_size_limit(MAX_LINE)  # the module's own limit is 128 KiB, less than ten long contexts
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(reader)]
        if twice := sorted(column for column, count in Counter(header).items() if count > 1):
            raise UsageError(f"{name} has two columns called '{twice[0]}'; rename one of them")
        return DELIMITERS[delimiter], [
            _celled(header, cells, f"{name}, line {reader.line_num}", problems) for cells in reader if any(cells)
        ]
    except csv.Error as error:
        raise UsageError(f"{name}, line {reader.line_num} is not CSV ({error}); mend the row and read again") from error


def listed(value: Any) -> tuple[str, list[Any]] | None:
    """The layout of JSON in words, and each record: of a list, bare or under a name, or of columns, as pandas writes
    them; None: the value is itself one record. Raises UsageError for several lists, which are as many files."""
    if isinstance(value, list):
        return "a JSON list", value
    if not isinstance(value, dict):
        return None
    names, cells = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(cells, list) and all(isinstance(row, list) for row in cells):
        return "JSON columns", [dict(zip(map(str, names), row, strict=False)) for row in cells]
    columns = {name: _cells(cells) for name, cells in value.items()}
    leading = [cells for name, cells in columns.items() if name == "context.trace_id" or field_of(name) in _LEADING]
    if not leading:
        return _under(value)
    if any(cells is None for cells in leading):
        return None
    return "JSON columns", transposed({name: cells for name, cells in columns.items() if cells is not None})


def _celled(header: list[str], cells: list[str], place: str, problems: Problems) -> tuple[str, dict[str, str | None]]:
    if len(cells) > len(header):
        raise UsageError(
            f"{place}: the row that ends there has {len(cells)} cells and the header {len(header)}; put cells that "
            "hold separators in quotes"
        )
    if len(cells) < len(header):
        problems.add("rows with fewer cells than the header; what is not there counts as not kept", place)
    return place, dict(zip(header, [*cells, *[None] * (len(header) - len(cells))], strict=True))


def _under(value: dict[str, Any]) -> tuple[str, list[Any]] | None:
    lists = {name: cells for name in _UNDER if isinstance(cells := value.get(name), list) and cells}
    if len(lists) > 1:
        raise UsageError(f"the file holds several lists: {', '.join(lists)}; write one of them to a file of its own")
    # The rows of Hugging Face's data set server are each wrapped once more.
    rows = [item.get("row", item) if isinstance(item, dict) else item for cells in lists.values() for item in cells]
    return ("a JSON list", rows) if lists else None


def _cells(value: Any) -> list[Any] | None:
    """The cells of a column: a list, or a dictionary by index, as pandas writes it."""
    if isinstance(value, dict) and value and all(str(key).isdigit() for key in value):
        return list(value.values())
    return value if isinstance(value, list) else None
