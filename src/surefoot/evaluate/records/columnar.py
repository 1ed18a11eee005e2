"""JSON that is one value for all records: a list, bare or under a name, or columns, as pandas writes them."""

from __future__ import annotations

from typing import Any

from surefoot.errors import UsageError
from surefoot.evaluate.records.fields import field_of

_UNDER = ("data", "rows", "records", "samples", "examples", "results", "spans", "test_cases", "train", "test", "dev")
"""Names under which whole files keep the list of what they hold."""
_LEADING = ("question", "answer")
"""Fields that are texts, so that a list of them is a column."""


def listed(value: Any) -> tuple[str, list[Any]] | None:
    """The layout in words, and each record; None: the value is itself one record.

    Raises UsageError for several lists, which are as many files.
    """
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
    length = max(len(cells) for cells in columns.values() if cells is not None)
    return "JSON columns", [_row(columns, number) for number in range(length)]


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


def _row(columns: dict[str, list[Any] | None], number: int) -> dict[str, Any]:
    return {name: cells[number] for name, cells in columns.items() if cells is not None and number < len(cells)}
