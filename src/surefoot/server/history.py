"""Answered questions on disk: their traces, and the conversations in which they followed each other.

A trace is a file, `<runs>/<collection>/<day>/<id>.json`, written whole or not at all, which `surefoot trace`, `replay`
and `explain` read as it is. A conversation is a file too, a line a question. Both are deleted when their days are over.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import dropwhile, islice
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import TypeVar

from surefoot.run.store import from_json, mend, read_trace, rows, to_json, write_trace
from surefoot.types import Trace
from surefoot.types.errors import SurefootError, TraceFault

T = TypeVar("T")

DAY_NS = 86_400 * 10**9
"""Nanoseconds of a day."""
_TRACE = re.compile(r"[0-9a-f]{12}")


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
        paths = (day / f"{id}.json" for day in self._days(collection)) if _TRACE.fullmatch(id) else ()
        return next((_read(path) for path in paths if path.is_file()), None)

    def latest(self, collection: str, limit: int, before: str = "") -> tuple[TraceLine, ...]:
        """The last so many traces, the latest first; `before`: those older than the trace with this id."""
        places = behind(self._places(collection), before, lambda place: place.stem)
        traces = (trace for place in places if (trace := _read(place)))
        return tuple(_line(trace, collection) for trace in islice(traces, limit))

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
        return sorted((self.folder / collection).glob("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/"), reverse=True)


def behind(every: Iterable[T], before: str, id: Callable[[T], str]) -> Iterator[T]:
    """Those of a list that come behind the one with the id `before`; "": all."""
    return islice(dropwhile(lambda one: id(one) != before, every), 1, None) if before else iter(every)


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


ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
"""The client chooses it, at random."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation, and its answer."""

    question: str
    answer: str = ""
    trace: str = ""
    """Empty: none is kept."""


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """A conversation in a list."""

    id: str
    title: str
    """Its first question."""
    collection: str
    updated: str
    """UTC, ISO 8601."""
    turns: int


class Conversations:
    """The kept conversations of all collections; each call is about one of them and sees no other."""

    def __init__(self, folder: Path, keep_days: int) -> None:
        self.folder, self.keep_days = folder, keep_days
        self._lock = Lock()

    def add(self, collection: str, id: str, turn: Turn) -> None:
        """Write a question down."""
        place = self._place(collection, id)
        place.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            mend(place)
            with place.open("a", encoding="utf-8") as file:
                file.write(json.dumps(to_json(turn)) + "\n")

    def turns(self, collection: str, id: str) -> tuple[Turn, ...]:
        """The questions of a conversation, in order; none: there is no such conversation in this collection."""
        place = self._place(collection, id)
        if not ID.fullmatch(id) or not place.is_file():
            return ()
        return tuple(from_json(Turn, row, where) for where, row in rows(place))

    def latest(self, collection: str, limit: int, before: str = "") -> tuple[ConversationLine, ...]:
        """The conversations that were gone on with last, the latest first; `before`: those older than this one."""
        places = sorted(self._places(collection), key=changed, reverse=True)
        older = behind(places, before, lambda place: place.stem)
        return tuple(islice((line for place in older for line in self._line(place, collection)), limit))

    def remove(self, collection: str, id: str) -> bool:
        """Forget a conversation; False: there is none. Its traces are kept for their days."""
        if not ID.fullmatch(id) or not (place := self._place(collection, id)).is_file():
            return False
        place.unlink()
        return True

    def forget(self) -> None:
        """Delete the conversations whose days are over."""
        for collection in self.folder.glob("*/"):
            for place in self._places(collection.name):
                if changed(place) < time_ns() - self.keep_days * DAY_NS:
                    place.unlink(missing_ok=True)

    def _line(self, place: Path, collection: str) -> Iterator[ConversationLine]:
        updated = datetime.fromtimestamp(changed(place) // 10**9, UTC).isoformat()
        try:
            turns = self.turns(collection, place.stem)
        except SurefootError:  # damaged; the others are still worth a list
            return
        if turns:
            yield ConversationLine(place.stem, turns[0].question, collection, updated, len(turns))

    def _places(self, collection: str) -> Iterator[Path]:
        return (self.folder / collection / "conversations").glob("*.jsonl")

    def _place(self, collection: str, id: str) -> Path:
        return self.folder / collection / "conversations" / f"{id}.jsonl"
