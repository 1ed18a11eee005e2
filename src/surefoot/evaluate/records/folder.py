"""What an evaluation left in its folder: what was run, the records, and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from surefoot.errors import TraceFault, UsageError
from surefoot.judges._diamond import recorded
from surefoot.store import from_json
from surefoot.text.json_values import parsed
from surefoot.types import Metric, Record, Score

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A run of `surefoot evaluate`, as far as it has come."""

    about: dict[str, Any]
    """`run.json`."""
    records: tuple[Record, ...]
    """In the order of the file."""
    scores: tuple[Score, ...]
    """By record id and metric, so that their order does not tell in which they were made."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The built-in metrics, and those that the run describes. Raises TraceFault where it does so badly."""
        return recorded(self.about)

    @property
    def groups(self) -> dict[str, str]:
        """The group of each record that has one, by record id."""
        return {record.id: record.group for record in self.records if record.group}


def opened(path: str | Path) -> Evaluated:
    """The evaluation in a folder; nothing is written there, and a last line that was cut short is not read.

    Raises UsageError where there is none, TraceFault where it is damaged.
    """
    folder = Path(path)
    try:
        about = parsed((folder / "run.json").read_bytes())
    except OSError as error:
        raise UsageError(f"{folder} is no folder of an evaluation: {error.filename} cannot be read") from error
    except ValueError as error:
        raise TraceFault(f"{folder / 'run.json'} is damaged: {error}") from error
    if not isinstance(about, dict):
        raise TraceFault(f"{folder / 'run.json'} is damaged: it is no description of a run")
    records = {record.id: record for _, record in _values(folder / "records.jsonl", Record)}
    return Evaluated(about, tuple(records.values()), scores_of(folder / "scores.jsonl"))


def scores_of(path: str | Path) -> tuple[Score, ...]:
    """The scores in a file: a line each, as `scores.jsonl` has them or bare; of several under one key the last.

    Raises UsageError where the file cannot be read, TraceFault where it is damaged.
    """
    scores = {}
    for key, score in _values(Path(path), Score):
        if score.value is not None and not 0 <= score.value <= 1:
            raise TraceFault(f"{path}: {score.value:g} is no value of {score.metric}; one lies between 0 and 1")
        scores[key or f"{score.record_id}\t{score.metric}\t{score.judge}"] = score
    return tuple(sorted(scores.values(), key=lambda score: (score.record_id, score.metric, score.judge)))


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each line of a file of JSON objects is, and the object. Raises UsageError, TraceFault."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    lines = data.splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            row = parsed(line) if line.strip() else None
        except ValueError as error:
            if number == len(lines) and not data.endswith(b"\n"):
                return  # it is just being written, or was when the machine stopped
            raise TraceFault(f"{path}, line {number} is no JSON: {error}") from error
        if row is not None and not isinstance(row, dict):
            raise TraceFault(f"{path}, line {number} is no object; a line is one value of JSON in braces")
        if row is not None:
            yield f"{path}, line {number}", row


def _values(path: Path, kind: type[T]) -> Iterator[tuple[str, T]]:
    """The key of each line, empty where it is bare, and the value in it."""
    for where, row in rows(path):
        try:
            yield str(row.get("key", "")), from_json(kind, row.get("value") if "key" in row else row)
        except TraceFault as error:
            raise TraceFault(f"{where}: {error}") from error
