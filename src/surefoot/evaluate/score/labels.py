"""People's labels of records: ratings, or yes and no."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot.run.store import rows
from surefoot.types.errors import TraceFault, UsageError

NAMES = "label", "rating", "value"
"""Names of a label's field, by default; the first that is there counts."""


@dataclass(frozen=True, slots=True)
class Label:
    """A person's verdict on a record."""

    record_id: str
    metric: str
    share: float
    """The place on the scale: 0 its lowest, 1 its highest; of yes and no, 1 is yes."""
    binary: bool = False
    group: str = ""
    """The group of the record; empty: not said here."""


def labelled(
    path: str | Path, metric: str = "", label: str = "", scale: tuple[float, float] = (1, 5)
) -> tuple[Label, ...]:
    """The labels of a file: JSON lines, or .csv with a heading.

    A line has `id` and the label: `label`, `rating` or `value`, or the field that `label` names. `true` and `false` say
    yes and no; so do 0 and 1 where they are all that a metric has, 0 among them, and the scale begins higher. Other
    numbers lie on the scale. The line's own metric comes before `metric`; `group` is kept.
    Lines without a label are passed over.

    Raises UsageError, naming the line, for a label that is none.
    """
    names = [label] if label else NAMES
    labels = [(where, row, raw) for where, row in _rows(Path(path)) if (raw := _found(row, names)) is not None]
    if not labels:
        raise UsageError(f"{path} has no label: no line has {' or '.join(names)}; see --label")
    binary = _binary(labels, metric, scale)

    def rated(where: str, row: dict[str, Any], raw: Any) -> Label:
        named, number = _metric(where, row, metric), _number(where, raw)
        low, high = (0.0, 1.0) if named in binary else scale
        if not low <= number <= high:
            raise UsageError(
                f"{where}: {number:g} does not lie between {low:g} and {high:g}; give the scale with --scale"
            )
        share = (number - low) / (high - low)
        group = row.get("group")
        return Label(_id(where, row), named, share, named in binary, "" if group is None else str(group))

    return tuple(rated(*one) for one in labels)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix.lower() != ".csv":
        yield from rows(path)
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for row in (reader := csv.DictReader(file)):
                yield f"{path}, line {reader.line_num}", {name: _cell(text) for name, text in row.items() if text}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise TraceFault(f"{path} is no table of comma-separated values in UTF-8: {error}") from error


def _cell(text: Any) -> Any:
    try:
        return {"true": True, "false": False}[str(text).strip().lower()]
    except KeyError:
        return text


def _found(row: dict[str, Any], names: Sequence[str]) -> Any:
    """The value under the first of the names that is there; None: none of them is."""
    return next((row[name] for name in names if row.get(name) is not None), None)


def _binary(labels: Sequence[tuple[str, dict[str, Any], Any]], metric: str, scale: tuple[float, float]) -> set[str]:
    """The metrics whose labels are yes and no."""
    seen: dict[str, set[float]] = {}
    for where, row, raw in labels:
        seen.setdefault(str(row.get("metric") or metric), set()).add(_number(where, raw))
    truths = {str(row.get("metric") or metric) for _, row, raw in labels if isinstance(raw, bool)}
    return truths | {name for name, values in seen.items() if scale[0] > 0 and values in ({0.0}, {0.0, 1.0})}


def _metric(where: str, row: dict[str, Any], metric: str) -> str:
    if named := str(row.get("metric") or metric):
        return named
    raise UsageError(f"{where} names no metric; give it with --metric")


def _id(where: str, row: dict[str, Any]) -> str:
    raw = row.get("id", row.get("record_id"))
    if isinstance(raw, str | int) and str(raw):
        return str(raw)
    raise UsageError(f"{where} has no id, which names a record")


def _number(where: str, raw: Any) -> float:
    try:
        return float(raw)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{where}: the label {str(raw)[:40]!r} is no number, nor true or false") from error
