"""Conversations: which questions followed each other. A file each, a line a question."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from time import time_ns

from surefoot.run.store import from_json, mend, rows, to_json
from surefoot.server.traces import DAY_NS, changed
from surefoot.types.errors import SurefootError

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
        first = next((n for n, place in enumerate(places, start=1) if place.stem == before), 0)
        return tuple(line for place in places[first : first + limit] for line in self._line(place, collection))

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
