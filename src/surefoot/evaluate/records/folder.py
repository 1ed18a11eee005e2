"""The folder of an evaluation: its description, records and scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from surefoot.evaluate.score.calibration import Calibration, calibrations
from surefoot.evaluate.score.correction import corrected_summaries
from surefoot.evaluate.score.labels import Label
from surefoot.evaluate.score.slices import Slice, slices
from surefoot.judges._diamond import recorded
from surefoot.run.store import described, from_json, read_value, rows
from surefoot.types import Metric, Record, Score, Summary
from surefoot.types.errors import TraceFault

T = TypeVar("T")


LABELS = "labels.json"


@dataclass(frozen=True)
class Evaluated:
    """A run of `surefoot evaluate`, as far as it has come."""

    about: dict[str, Any]
    """`run.json`."""
    records: tuple[Record, ...]
    scores: tuple[Score, ...]
    """Sorted by record id and metric, whatever order they were made in."""
    labels: tuple[Label, ...] = ()
    """People's, by which `surefoot evaluate --calibrate` corrects the run; empty: it is not corrected."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The built-in metrics, and those that the run describes. Raises TraceFault where it does so badly."""
        return recorded(self.about)

    @property
    def groups(self) -> dict[str, str]:
        """The group of each record that has one, by record id."""
        return {record.id: record.group for record in self.records if record.group}

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """A summary a metric; where people labelled some records, with the mean that people would give."""
        return corrected_summaries(self.scores, self.labels, self.groups)

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """A slice for each tag and metric, the worst first."""
        return slices(self.records, self.scores, self.groups, self.metrics)

    @cached_property
    def calibrations(self) -> tuple[Calibration, ...]:
        """The cuts of each metric that has labels."""
        return calibrations(self.scores, self.labels, self.groups)

    def _repr_html_(self) -> str:
        return str(import_module("surefoot.cli._html_view").evaluation(self))  # by name: it is above this layer


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
    labels = read_value(folder / LABELS, tuple[Label, ...]) if (folder / LABELS).exists() else ()
    return Evaluated(about, records, tuple(ordered), labels)


def records_of(path: Path) -> tuple[Record, ...]:
    """The records in a file, bare or under keys; the last of each id, in the place of the first. Raises UsageError
    where the file cannot be read, TraceFault where it is damaged."""
    return tuple({record.id: record for record in _values(path, Record)}.values())


def _values(path: Path, kind: type[T]) -> Iterator[T]:
    """The value of each line, bare or under a key."""
    for where, row in rows(path):
        yield from_json(kind, row.get("value") if "key" in row else row, where)
