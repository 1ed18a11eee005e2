"""Keeps an index up to date with files that change, by looking at them again and again: that works on every disk, also
one that is mounted from another machine, which tells nobody of changes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from time import perf_counter

from surefoot.documents.discover import ALL, Patterns, find
from surefoot.documents.loaders import MAX_BYTES
from surefoot.types.errors import IndexFault, SurefootError

PAUSE = 2.0
"""Seconds between two looks, at least; many files, of which each is looked at, have more."""


def watch(
    paths: Sequence[str | Path],
    update: Callable[[], None],
    tell: Callable[[SurefootError], None],
    stop: Event,
    *,
    max_bytes: int = MAX_BYTES,
    patterns: Patterns = ALL,
) -> None:
    """Call `update` at once, and again whenever a file at or below these paths came, changed or went, until `stop`.

    An error of it is told once and ends nothing: it is called again until it succeeds.
    """
    seen: object = None
    last = ""
    while not stop.is_set():
        started = perf_counter()
        now = [_state(Path(path), max_bytes, patterns) for path in paths]  # before the update: changes during it count
        if now != seen:
            try:
                update()
                seen, last = now, ""
            except SurefootError as error:
                if str(error) != last and not stop.is_set():
                    last = str(error)
                    tell(error)
        stop.wait(max(PAUSE, 10 * (perf_counter() - started)))


def _state(path: Path, max_bytes: int, patterns: Patterns) -> object:
    """A value that differs as soon as a file differs."""
    try:
        found = find(path, max_bytes, patterns)
    except IndexFault as error:  # it may come back
        return str(error)
    return [(file.path, file.stamp) for file in found.files], found.skipped
