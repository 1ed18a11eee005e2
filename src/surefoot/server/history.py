"""Answered questions on disk: their traces, and the conversations in which they followed each other.

A trace is a file, `<runs>/<collection>/<owner>/<day>/<id>.json`, written whole or not at all, which `surefoot trace`
and `explain` read as it is. A conversation is a file too, a line a question. Its owner is the key that asked, a folder;
without a key there is none. Both are deleted when their days are over, and the oldest where they fill their space.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import dropwhile, islice
from pathlib import Path
from threading import Lock
from time import time_ns
from typing import Any, ClassVar, TypeVar

from surefoot.run.store import from_json, mend, read_trace, rows, to_json, write_trace
from surefoot.types import Trace
from surefoot.types.errors import SurefootError, TraceFault

T = TypeVar("T")

DAY_NS = 86_400 * 10**9
"""Nanoseconds of a day."""
ID = r"[A-Za-z0-9_-]{8,64}"
"""Of a conversation; the client chooses it, at random."""


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


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation, and its answer."""

    question: str
    answer: str = ""
    trace: str = ""
    """Empty: none is kept."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A kept conversation."""

    title: str = ""
    """Its first question, or what it was renamed to."""
    turns: tuple[Turn, ...] = ()
    """In order; none: there is no such conversation."""


@dataclass(frozen=True, slots=True)
class ConversationLine:
    """A conversation in a list."""

    id: str
    title: str
    collection: str
    updated: str
    """UTC, ISO 8601."""
    turns: int


class _Files:
    """Files of all collections, each in a folder of its own, and below it each owner's; each call is about one of them
    and sees no other."""

    below: ClassVar[str] = ""
    pattern: ClassVar[str]
    line: Callable[[Path, str], Any]
    """A file in the list of its collection; None: it is damaged."""

    def __init__(self, folder: Path, keep_days: int, most: int) -> None:
        self.folder, self.keep_days, self.most = folder, keep_days, most

    def home(self, collection: str, owner: str) -> Path:
        """The folder of an owner's files; "": of those of nobody."""
        return self.folder / collection / self.below / owner

    def latest(self, collection: str, owner: str, limit: int, before: str = "") -> tuple[Any, ...]:
        """A line for each of the owner's last so many, the latest first; `before`: those older than the one with this
        id. What is damaged is left out."""
        places = sorted(self.home(collection, owner).glob(self.pattern), key=changed, reverse=True)
        older = behind(places, before, lambda place: place.stem)
        return tuple(islice(filter(None, (self.line(place, collection) for place in older)), limit))

    def forget(self) -> None:
        """Delete those whose days are over, and of each collection the oldest beyond the bytes that it may fill."""
        for collection in self.folder.glob("*/"):
            left = self.most
            every = (collection / self.below).rglob(self.pattern.rpartition("/")[2])
            for place in sorted(every, key=changed, reverse=True):
                left -= size(place)
                if left < 0 or changed(place) < time_ns() - self.keep_days * DAY_NS:
                    place.unlink(missing_ok=True)


class Traces(_Files):
    """The kept traces of all collections."""

    pattern = "*/*.json"

    def add(self, collection: str, owner: str, trace: Trace) -> None:
        """Write a trace."""
        write_trace(trace, self.home(collection, owner) / f"{datetime.now(UTC):%Y-%m-%d}" / f"{trace.id}.json")

    def find(self, collection: str, id: str) -> Trace | None:
        """The trace with this id, whoever owns it: a link to an answer may be passed on; None: there is none in this
        collection, or what is there cannot be read."""
        places = (self.folder / collection).rglob(f"{id}.json") if len(id) == 12 and id.isalnum() else ()
        return next(map(_read, places), None)

    def line(self, place: Path, collection: str) -> TraceLine | None:
        """A trace in a list; None: it is damaged."""
        if (trace := _read(place)) is None:
            return None
        action = trace.decision.action.value if trace.decision else None
        refused = trace.answer is None or trace.answer.refused
        return TraceLine(trace.id, trace.question, trace.created, action, refused, collection)


class Conversations(_Files):
    """The kept conversations of all collections."""

    below, pattern = "conversations", "*.jsonl"

    def __init__(self, folder: Path, keep_days: int, most: int) -> None:
        super().__init__(folder, keep_days, most)
        self._lock = Lock()

    def add(self, collection: str, owner: str, id: str, turn: Turn) -> None:
        """Write a question down."""
        self._append(self._place(collection, owner, id), to_json(turn))

    def rename(self, collection: str, owner: str, id: str, title: str) -> bool:
        """Give a conversation a title in place of its first question; False: the owner has none."""
        if found := bool(self.find(collection, owner, id).turns):
            self._append(self._place(collection, owner, id), {"title": title})
        return found

    def _append(self, place: Path, row: dict[str, Any]) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with self._lock:
            mend(place)
            with place.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def find(self, collection: str, owner: str, id: str) -> Conversation:
        """A conversation; without turns where the owner has no such one in this collection."""
        place = self._place(collection, owner, id)
        return _conversation(place) if re.fullmatch(ID, id) and place.is_file() else Conversation()

    def remove(self, collection: str, owner: str, id: str) -> bool:
        """Forget a conversation; False: the owner has none. Its traces are kept for their days."""
        if not re.fullmatch(ID, id) or not (place := self._place(collection, owner, id)).is_file():
            return False
        place.unlink()
        return True

    def line(self, place: Path, collection: str) -> ConversationLine | None:
        """A conversation in a list; None: it is damaged."""
        updated = datetime.fromtimestamp(changed(place) // 10**9, UTC).isoformat()
        try:
            found = _conversation(place)
        except SurefootError:
            return None
        return ConversationLine(place.stem, found.title, collection, updated, len(found.turns)) if found.turns else None

    def _place(self, collection: str, owner: str, id: str) -> Path:
        return self.home(collection, owner) / f"{id}.jsonl"


def behind(every: Iterable[T], before: str, id: Callable[[T], str]) -> Iterator[T]:
    """Those of a list that come behind the one with the id `before`; "": all."""
    return islice(dropwhile(lambda one: id(one) != before, every), 1, None) if before else iter(every)


def changed(place: Path) -> int:
    """When a file last changed, in nanoseconds since 1970; 0: it was just deleted."""
    try:
        return place.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def size(place: Path) -> int:
    """The bytes of a file; 0: it was just deleted."""
    try:
        return place.stat().st_size
    except FileNotFoundError:
        return 0


def _conversation(place: Path) -> Conversation:
    every = [*rows(place)]
    turns = tuple(from_json(Turn, row, where) for where, row in every if "title" not in row)
    titles = [turn.question for turn in turns[:1]] + [str(row["title"]) for _, row in every if "title" in row]
    return Conversation(titles[-1] if titles else "", turns)


def _read(place: Path) -> Trace | None:
    try:
        return read_trace(place)
    except TraceFault:
        return None
