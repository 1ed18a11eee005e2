"""The traces of answered questions: a file each, `<runs>/<collection>/<day>/<id>.json`, until their days are over.

A trace is written whole or not at all, and `surefoot trace`, `replay` and `explain` read these files as they are.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from surefoot.run.store import read_trace, write_trace
from surefoot.types import Trace
from surefoot.types.errors import TraceFault

DAY_NS = 86_400 * 10**9
"""Nanoseconds of a day."""
_ID = re.compile(r"[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A trace in a list."""

    id: str
    question: str
    created: str
    action: str | None
    """None: the question failed."""
    refused: bool
    collection: str


class Traces:
    """The kept traces of all collections; each call is about one of them and sees no other."""

    def __init__(self, folder: Path, keep_days: int) -> None:
        self.folder, self.keep_days = folder, keep_days

    def add(self, collection: str, trace: Trace) -> None:
        """Write a trace."""
        write_trace(trace, self.folder / collection / _today().isoformat() / f"{trace.id}.json")

    def find(self, collection: str, id: str) -> Trace | None:
        """The trace with this id; None: there is none in this collection, or what is there cannot be read."""
        paths = (day / f"{id}.json" for day in self._days(collection)) if _ID.fullmatch(id) else ()
        return next((_read(path) for path in paths if path.is_file()), None)

    def latest(self, collection: str, limit: int, before: str = "") -> tuple[TraceLine, ...]:
        """The last so many traces, the latest first; `before`: those older than the trace with this id."""
        lines: list[TraceLine] = []
        passed = not before
        for place in self._places(collection):
            if passed and (trace := _read(place)):
                lines.append(_line(trace, collection))
                if len(lines) == limit:
                    break
            passed = passed or place.stem == before
        return tuple(lines)

    def forget(self) -> None:
        """Delete the traces whose days are over."""
        last = (_today() - timedelta(days=self.keep_days)).isoformat()
        for collection in self.folder.glob("*/"):
            for day in self._days(collection.name):
                if day.name < last:
                    shutil.rmtree(day, ignore_errors=True)

    def _places(self, collection: str) -> Iterator[Path]:
        for day in self._days(collection):
            yield from sorted(day.glob("*.json"), key=lambda place: (-changed(place), place.name))

    def _days(self, collection: str) -> list[Path]:
        """The folders of the days, the latest first."""
        days = (day for day in (self.folder / collection).glob("*-*-*/") if re.fullmatch(r"\d{4}-\d\d-\d\d", day.name))
        return sorted(days, reverse=True)


def changed(place: Path) -> int:
    """When a file last changed, in nanoseconds since 1970; 0: it was just deleted."""
    try:
        return place.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _read(place: Path) -> Trace | None:
    try:
        return read_trace(place)
    except TraceFault:
        return None


def _line(trace: Trace, collection: str) -> TraceLine:
    action = trace.decision.action.value if trace.decision else None
    refused = trace.answer is None or trace.answer.refused
    return TraceLine(trace.id, trace.question, trace.created, action, refused, collection)


def _today() -> date:
    return datetime.now(UTC).date()
