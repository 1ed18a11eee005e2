"""What a forked process cannot share with its parent: threads, which are not there, locks, which nobody will release,
and connections, whose other end would hear both."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakValueDictionary


class Renewable(Protocol):
    """Holds something that a forked process cannot share."""

    def renew(self) -> None:
        """Make it anew, in a process that has just been forked; only one thread runs there."""


_held: WeakValueDictionary[int, Renewable] = WeakValueDictionary()
_abandoned: list[object] = []


def renewing(owner: Renewable) -> None:
    """Have `owner.renew()` called at the start of each process that is forked from now on; in the order of these calls,
    for as long as the owner lives."""
    _held[id(owner)] = owner


def abandon(thing: object) -> None:
    """Neither use nor close it in this process: its end would be heard by the parent, which goes on using it."""
    _abandoned.append(thing)


def _renew() -> None:
    for owner in [*_held.values()]:
        owner.renew()


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_renew)
