"""A store of another engine made to hold the passages of an index, by the hashes of what it holds.

    pushed = push(store, index.rows)

A push that was killed, or that an endpoint failed, is simply begun again: what is there by then is not written twice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from surefoot.network.pace import backoff
from surefoot.run import cancel
from surefoot.types.errors import EndpointError
from surefoot.types.protocols import Store, StoreRow

BATCH = 1_000
"""Rows that are written together; no more are in memory."""
RETRIES = 6
"""Failures of an endpoint in a row after which a push ends; they span some 30 s."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pushed:
    """Counts of the passages of a push."""

    new: int
    changed: int
    unchanged: int
    gone: int

    def __str__(self) -> str:
        return f"{self.new:,} new, {self.changed:,} changed, {self.unchanged:,} unchanged, {self.gone:,} gone"


def push(
    store: Store,
    rows: Callable[[Callable[[str, str], bool]], Iterable[StoreRow]],
    on_progress: Callable[[int], None] = lambda done: None,
) -> Pushed:
    """Make the store hold the passages of an index, whose `rows` are given, and no others; only changes are written.

    New and changed passages are written first and found at once, then those that are gone are taken out. An endpoint
    that fails is tried again after a pause. Holds the id and the hash of each passage in memory: some 0.3 GB for a
    million. Raises EndpointError and IndexFault; what was written by then stays, and the next push goes on from there.
    """
    held = patiently(store.hashes)
    seen, counts = set[str](), Counter[str](new=0, changed=0)

    def differs(id: str, hash: str) -> bool:
        seen.add(id)
        if len(seen) % BATCH == 0:
            on_progress(len(seen))
        if (before := held.get(id)) != hash:
            counts["changed" if before else "new"] += 1
        return before != hash

    for batch in batches(rows(differs)):
        patiently(partial(store.upsert, batch))
    settle(store, gone := held.keys() - seen)
    on_progress(len(seen))
    return Pushed(**counts, unchanged=len(seen) - counts.total(), gone=len(gone))


def settle(store: Store, gone: Iterable[str]) -> None:
    """End a push: take these passages out, and bring the store's indexes up to date."""
    for ids in batches(gone):
        patiently(partial(store.delete, ids))
    patiently(store.finish)


def patiently(verb: Callable[[], T]) -> T:
    """What a store's verb gives, tried again where its endpoint fails. Raises EndpointError for a failure that lasts,
    and what else the verb raises."""
    failures = 0
    while True:
        try:
            return verb()
        except EndpointError as error:
            failures += 1
            if error.lasting or failures > RETRIES:
                raise
            cancel.pause(error.wait or backoff(failures))


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """The items, BATCH at a time; the last may be shorter."""
    rest = iter(items)
    while batch := [*islice(rest, BATCH)]:
        yield batch
