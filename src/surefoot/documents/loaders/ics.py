"""Calendars in iCalendar: events, tasks and journal entries."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import blocks, bullets, paragraph
from surefoot.types.metadata import usable

_ENTRIES = ("VEVENT", "VTODO", "VJOURNAL")
_LABELS = {
    "DTSTART": "starts",
    "DTEND": "ends",
    "DUE": "due",
    "RRULE": "repeats",
    "LOCATION": "where",
    "ORGANIZER": "organizer",
    "ATTENDEE": "attends",
    "STATUS": "status",
}
"""Properties that are shown, and how they are called there."""
_ESCAPED = (("\\n", "\n"), ("\\N", "\n"), ("\\,", ","), ("\\;", ";"))


class IcsLoader:
    """Reads calendars, a document an event."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """Each event, task or entry under its summary: when, where and who as a list, then its description. The day on
        which it starts is its field `date`."""
        text, problems = decoded(stream)
        yield from problems
        found = False
        for entry in _entries(text):
            found = True
            yield _document(entry)
        if not found:
            raise Unreadable("holds no event; export the calendar again as .ics")


def _entries(text: str) -> Iterator[list[tuple[str, str, str]]]:
    """(name, parameters, value) of the properties of each entry, without those of its alarms."""
    entry: list[tuple[str, str, str]] = []
    open_parts: list[str] = []
    for line in text.replace("\n ", "").replace("\n\t", "").split("\n"):
        quoted = line[:1000].split('"')  # a colon within quotes is part of a parameter
        head = next((n for n in range(0, len(quoted), 2) if ":" in quoted[n]), 0)
        at = len('"'.join(quoted[:head])) + bool(head) + max(quoted[head].find(":"), 0)
        name, _, parameters = line[:at].partition(";")
        name, value = name.upper().strip(), line[at + 1 :].strip()
        if name == "BEGIN":
            open_parts.append(value.upper())
            entry = [] if value.upper() in _ENTRIES else entry
        elif name == "END" and open_parts:
            if open_parts.pop() in _ENTRIES and entry:
                yield entry
        elif open_parts and open_parts[-1] in _ENTRIES:
            entry.append((name, parameters, value))


def _document(entry: list[tuple[str, str, str]]) -> Document:
    own = {name: _plain(value) for name, _, value in entry}
    rows = [f"{_LABELS[name]}: {_shown(name, about, value)}" for name, about, value in entry if name in _LABELS]
    title = paragraph(own.get("SUMMARY", "")) or "(without a title)"
    found = (*([Block(bullets(rows), "list")] if rows else ()), *blocks(own.get("DESCRIPTION", "")))
    date = _time(own.get("DTSTART") or own.get("DUE") or "")[:10]
    key = blake2b(repr(entry).encode("utf-8", "replace"), digest_size=16).hexdigest()
    meta = usable({"date": date} if date else {})[0]
    return Document(key, title, found or (Block(title, "caption"),), meta=meta)


def _shown(name: str, about: str, value: str) -> str:
    parameters = dict(part.partition("=")[::2] for part in about.split(";"))
    if name in ("ORGANIZER", "ATTENDEE"):
        return paragraph(parameters.get("CN", "").strip('"') or value.lower().removeprefix("mailto:"))
    zone = parameters.get("TZID", "").strip('"')
    return paragraph(" ".join(filter(None, (_time(_plain(value)), zone))))


def _time(value: str) -> str:
    """20260512T143000Z as 2026-05-12 14:30 UTC; anything else as it stands."""
    day, _, clock = value.partition("T")
    if len(day) != 8 or not day.isdecimal():
        return value
    hours = f" {clock[:2]}:{clock[2:4]}" if clock[:4].isdecimal() and len(clock) >= 4 else ""
    return f"{day[:4]}-{day[4:6]}-{day[6:]}{hours}" + " UTC" * clock.endswith("Z")


def _plain(value: str) -> str:
    """The text of a value, whose backslashes are doubled."""
    pieces = value.split("\\\\")
    for written, meant in _ESCAPED:
        pieces = [piece.replace(written, meant) for piece in pieces]
    return "\\".join(pieces)
