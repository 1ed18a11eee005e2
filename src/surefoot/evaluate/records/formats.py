"""Files of answered questions as records: one module a format. What a file is, is told by what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.datasets.problems import Problems
from surefoot.errors import UsageError
from surefoot.evaluate.records import columnar, rows, source, spans, tables, traces
from surefoot.evaluate.records.folder import records_of
from surefoot.store import runs
from surefoot.types import Record

Found = tuple[str, list[Record]]
"""The kind of file in words, and its records in order; ids are empty where the file has none."""


def found(path: Path, columns: Mapping[str, str], problems: Problems) -> Found:
    """The records of a file or of a run's folder. Raises UsageError."""
    if path.is_dir():
        return _folder(path, columns, problems)
    text = source.text(path, problems)
    if not text.strip():
        raise UsageError(f"{path} is empty")
    if text.lstrip()[0] not in "{[":
        name, given = tables.rows(text, path.name, problems)
        return name, rows.records(given, path.name, columns, problems)
    return _json(source.values(text, path.name), path.name, columns, problems)


def _folder(folder: Path, columns: Mapping[str, str], problems: Problems) -> Found:
    if (folder / "scores.jsonl").exists() and (folder / "records.jsonl").exists():
        return "records of Surefoot", list(records_of(folder / "records.jsonl"))
    if (folder / "records.jsonl").exists():
        return found(folder / "records.jsonl", columns, problems)
    inner = runs(folder)
    if len(inner) == 1 and (inner[0] / "traces.jsonl").exists():
        return "a run of Surefoot", traces.run(inner[0], problems)
    if len(inner) > 1:
        raise UsageError(f"{folder} holds several runs; give one of them: {', '.join(map(str, inner))}")
    if (folder / "dataset_info.json").exists() or (folder / "dataset_dict.json").exists():
        raise UsageError(f"{folder} is a data set that `datasets` saved; {source.ARROW_HINT}")
    raise UsageError(f"{folder} holds no records: neither records.jsonl nor run.json with traces.jsonl")


def _json(values: list[tuple[int, Any]], name: str, columns: Mapping[str, str], problems: Problems) -> Found:
    _, first = values[0]
    if traces.kept(first):
        return "records of Surefoot", traces.records(values, name)
    if traces.is_trace(first):
        return "traces of Surefoot", traces.of_values(values, name)
    listed = columnar.listed(first) if len(values) == 1 else None
    each = [(f"{name}, line {number}", value) for number, value in values]
    if listed:
        each = [(f"{name}, item {number}", value) for number, value in enumerate(listed[1], start=1)]
    if each and spans.recognised(each[0][1]):
        return "OpenTelemetry spans", spans.records(each, problems)
    form = listed[0] if listed else "JSON lines"
    return form, rows.records(each, name, columns, problems)
