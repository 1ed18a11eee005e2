"""A scored run, as all texts about it read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from surefoot.judges._diamond import metrics as diamond
from surefoot.types import Metric, Record, Score, Summary


@dataclass(frozen=True)
class ScoredRun:
    """Answered questions, their scores with the summaries, and the configuration that answered them."""

    records: Sequence[Record]
    scores: Sequence[Score]
    summaries: Sequence[Summary]
    config: Mapping[str, Any]
    metrics: Mapping[str, Metric] = field(default_factory=diamond)
    """The metrics that texts tell of, by name."""
    samples: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    """Examples of each metric, the lowest first."""

    @cached_property
    def by_id(self) -> dict[str, Record]:
        """The records by their ids."""
        return {record.id: record for record in self.records}

    @property
    def judged(self) -> list[Summary]:
        """The summaries of `metrics` that have a mean."""
        return [summary for summary in self.summaries if summary.metric in self.metrics and summary.mean is not None]

    def mean(self, metric: str) -> float | None:
        """The mean of a metric; None: it has none."""
        return next((summary.mean for summary in self.summaries if summary.metric == metric), None)

    def mean_of(self, metric: str, ids: Collection[str]) -> float | None:
        """The mean of a metric over these records; None: none of them is scored."""
        values = [s.value for s in self.scores if s.metric == metric and s.record_id in ids and s.value is not None]
        return fmean(values) if values else None
