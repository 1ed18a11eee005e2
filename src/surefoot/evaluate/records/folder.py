"""The folder of an evaluation: its description, records and scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from surefoot.judges._diamond import recorded
from surefoot.run.store import described, from_json, rows
from surefoot.types import Metric, Record, Score
from surefoot.types.errors import TraceFault

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A run of `surefoot evaluate`, as far as it has come."""

    about: dict[str, Any]
    """`run.json`."""
    records: tuple[Record, ...]
    scores: tuple[Score, ...]
    """Sorted by record id and metric, whatever order they were made in."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The built-in metrics, and those that the run describes. Raises TraceFault where it does so badly."""
        return recorded(self.about)

    @property
    def groups(self) -> dict[str, str]:
        """The group of each record that has one, by record id."""
        return {record.id: record.group for record in self.records if record.group}


def opened(path: str | Path) -> Evaluated:
    """The evaluation in a folder, which stays as it is; a torn last line is not read, and the last score of a record
    and metric counts. A judgement that a stopped run has not come to is unscored, so that each is counted. Raises
    UsageError where there is none, TraceFault where it is damaged."""
    folder = Path(path)
    about, file = described(folder, "an evaluation"), folder / "scores.jsonl"
    records = records_of(folder / "records.jsonl")
    scores = {(score.record_id, score.metric): score for score in _values(file, Score)}
    for score in scores.values():
        if score.value is not None and not 0 <= score.value <= 1:
            raise TraceFault(f"{file}: {score.value:g} is no value of {score.metric}; one lies between 0 and 1")
    for record, metric in product(records, about.get("judges", ())):
        waiting = Score(record.id, metric, None, unscored_because="not judged yet", passing=True)
        scores.setdefault((record.id, metric), waiting)
    ordered = sorted(scores.values(), key=lambda score: (score.record_id, score.metric, score.judge))
    return Evaluated(about, records, tuple(ordered))


def records_of(path: Path) -> tuple[Record, ...]:
    """The records in a file, bare or under keys; the last of each id, in the place of the first. Raises UsageError
    where the file cannot be read, TraceFault where it is damaged."""
    return tuple({record.id: record for record in _values(path, Record)}.values())


def _values(path: Path, kind: type[T]) -> Iterator[T]:
    """The value of each line, bare or under a key."""
    for where, row in rows(path):
        yield from_json(kind, row.get("value") if "key" in row else row, where)
