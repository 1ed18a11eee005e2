"""Users' opinions of answers and passages, stored as labelled data.

The folder of a collection's feedback is a run's: `traces.jsonl` holds the answers that were judged, so that `surefoot
evaluate` can score them; `ratings.jsonl` has the thumbs, as `surefoot agree` reads them; `pairs.jsonl` has the passages
that answer or do not, as `surefoot lab` reads them to measure, tune and train an evaluator. `marks.jsonl` is what was
clicked, and the others follow from it.
"""

import json
from collections.abc import Sequence, Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from surefoot.run.store import Run, from_json, keyed, rows, write_text
from surefoot.types import Trace


@dataclass(frozen=True, slots=True)
class Mark:
    """A user's word on an answer, or on one of its passages."""

    trace: str
    useful: bool | None = None
    """Thumb up or down for the answer; None: taken back, or the mark is about a passage."""
    passage: str | None = None
    """None: the mark is about the answer."""
    answers: bool | None = None
    """True: that passage answers the question; None: taken back, or the mark is about the answer."""
    reason: str = ""
    at: str = ""
    """UTC, ISO 8601."""


class Feedback:
    """The feedback of all collections, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = Lock()

    def add(self, collection: str, trace: Trace, mark: Mark) -> None:
        """Store a mark; one made later about the same thing takes its place."""
        place = self.place(collection)
        with self._lock:
            about = {"command": "serve", "collection": collection}
            if trace.id not in {key for _, key, _ in _marks(place)}:
                Run(place, about).append(trace.id, trace)
            Run(place, about, "marks.jsonl").add(trace.id, mark)
            own = self.marks(collection, {trace.id})
            _replace(place / "pairs.jsonl", trace.id, _pairs(trace, own))
            rated = next((mark for mark in own if mark.useful is not None), None)
            rating = {"id": trace.id, "label": rated.useful, "reason": rated.reason} if rated else None
            _replace(place / "ratings.jsonl", trace.id, rating)

    def marks(self, collection: str, traces: AbstractSet[str]) -> list[Mark]:
        """The last mark of each of these answers and passages, without those that were taken back."""
        last: dict[tuple[str, str | None], Mark] = {}
        for where, key, value in _marks(self.place(collection)):
            if key in traces:
                mark = from_json(Mark, value, where)
                last[mark.trace, mark.passage] = mark
        return [mark for mark in last.values() if mark.useful is not None or mark.answers is not None]

    def place(self, collection: str) -> Path:
        """The folder of a collection's feedback."""
        return self.folder / collection / "feedback"


def _marks(place: Path) -> list[tuple[str, str, Any]]:
    path = place / "marks.jsonl"
    return [*keyed(path)] if path.exists() else []


def _replace(path: Path, id: str, row: dict[str, Any] | None) -> None:
    """Put a row into a file of JSON lines, in place of the one with this id."""
    others = [other for _, other in rows(path) if other["id"] != id] if path.exists() else []
    lines = [*others, row] if row else others
    write_text(path, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))


def _pairs(trace: Trace, marks: Sequence[Mark]) -> dict[str, Any] | None:
    """The labelled passages of a question. A thumb up says that the passages which the answer quotes do answer; a thumb
    down says of no single passage that it does not."""
    labels: dict[str, int] = {}
    if trace.answer and any(mark.useful for mark in marks):
        labels |= {one.strip.passage_id: 1 for one in trace.answer.citations if one.quoted and one.strip}
    labels |= {mark.passage: int(mark.answers) for mark in marks if mark.passage and mark.answers is not None}
    every = {passage.id: passage for passage in (*trace.passages, *trace.external)}
    passages = [
        {"id": id, "title": every[id].title, "text": every[id].text, "label": label}
        for id, label in labels.items()
        if id in every
    ]
    return {"id": trace.id, "question": trace.standalone_question, "passages": passages} if passages else None
