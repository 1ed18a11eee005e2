"""Bounded work: so many questions at a time, so many waiting, and no more; uploads one collection after the other."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock, RLock
from typing import Any, Generic, Literal, TypeVar
from uuid import uuid4

from surefoot.run.cancel import heeding
from surefoot.server.problems import FULL, LOG, Problem, is_disk_full
from surefoot.types.errors import Cancelled

T = TypeVar("T")

PAUSE = "5"
"""Seconds after which a client for whom there is no place may come again."""


@dataclass(frozen=True, slots=True)
class Ticket(Generic[T]):
    """A piece of work that runs or waits."""

    future: Future[T]
    stop: Event
    """Set once nobody waits for the result."""
    seconds: float

    async def result(self) -> T:
        """Wait for it. Raises Problem where it takes too long; if this call is cancelled, so is the work."""
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(self.future)
        except TimeoutError:
            message = f"no answer came within {self.seconds:g} s; ask something shorter, or try again later"
            raise Problem(504, "too_slow", message) from None
        except asyncio.CancelledError:
            if self.stop.is_set():  # not by whoever waits, but with the whole server
                raise stopping() from None
            raise
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Drop it where it waits; where it runs, stop it at its next step."""
        self.stop.set()
        self.future.cancel()


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Work that has a place."""

    owner: str
    run: Callable[[], Any]
    ticket: Ticket[Any]


def share(places: int, owner: str) -> int:
    """The places of these that one owner may take, so that another finds one; all where nobody needs a key."""
    return max(1, places * 3 // 4) if owner else places


class Workers:
    """Threads that work for clients. A place is free again when its thread is, and not before. A thread that is free
    takes the work of the owner for whom the fewest run."""

    def __init__(self, count: int, waiting: int, seconds: float) -> None:
        self.count, self.waiting, self.seconds = count, waiting, seconds
        self.refused = 0
        """Clients that were told to come again."""
        self._pool = ThreadPoolExecutor(count, "question")
        self._lock = Lock()
        self._tasks: list[_Task] = []
        """What has a place, the first comer first."""
        self._closed = False

    @property
    def taken(self) -> int:
        """Places of work that runs or waits."""
        return len(self._tasks)

    def start(self, work: Callable[[Event], T], owner: str = "") -> Ticket[T]:
        """Take a place for `work`, which gets the event of its ticket. Raises Problem, 429, where all are taken, or all
        that this owner may take."""
        ticket: Ticket[T] = Ticket(Future(), Event(), self.seconds)
        places = self.count + self.waiting

        def cancellable() -> T:
            with heeding(ticket.stop):
                return work(ticket.stop)

        task = _Task(owner, partial(copy_context().run, cancellable), ticket)
        with self._lock:
            if self._closed:
                raise stopping()
            own = sum(one.owner == owner for one in self._tasks)
            if self.taken >= places or own >= share(places, owner):
                self.refused += 1
                raise busy()
            self._tasks.append(task)
            self._pool.submit(self._next)
        ticket.future.add_done_callback(lambda _: self._leave(task))
        return ticket

    def _next(self) -> None:
        with self._lock:
            running = Counter(one.owner for one in self._tasks if one.ticket.future.running())
            waiting = (one for one in self._tasks if not (one.ticket.future.running() or one.ticket.future.done()))
            task = min(waiting, key=lambda one: running[one.owner], default=None)
            if task is None or not task.ticket.future.set_running_or_notify_cancel():
                return  # it was dropped
        try:
            result = task.run()
        except Cancelled:
            task.ticket.future.set_exception(stopping())
        except BaseException as error:  # noqa: BLE001 - it is whoever waits that has to know
            task.ticket.future.set_exception(error)
        else:
            task.ticket.future.set_result(result)

    def _leave(self, task: _Task) -> None:
        with self._lock:
            self._tasks.remove(task)

    def close(self) -> None:
        """Stop: what runs ends at its next step, what waits is not begun."""
        with self._lock:
            self._closed = True
            tasks = [*self._tasks]
        for task in tasks:
            task.ticket.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)


def busy() -> Problem:
    """The problem of a client for whom there is no place."""
    return Problem(429, "busy", f"all places are taken; come again in {PAUSE} s", {"Retry-After": PAUSE})


def stopping() -> Problem:
    """The problem of a client who comes while the server stops."""
    return Problem(503, "stopping", "the server is about to stop; come again in a moment", {"Retry-After": PAUSE})


REMEMBERED = 1000
"""Jobs that ended and can still be asked about, the latest ones."""

Progress = Callable[[str, int], None]
"""Gets the name of the file that is being read ("": none) and the passages added so far; raises where the server
stops."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or a row of one, that was not read."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Job:
    """Files on their way into a collection, or out of it."""

    id: str
    collection: str
    files: tuple[str, ...]
    state: Literal["waiting", "reading", "done", "failed"] = "waiting"
    done: int = 0
    """Files that are read, or cannot be."""
    of: int = 0
    """Files in all."""
    file: str = ""
    """The one that is being read; empty: none."""
    passages: int = 0
    """Passages added so far, by all jobs of the collection that are done together."""
    unread: tuple[Unread, ...] = ()
    message: str = ""
    """The reason why it failed; empty: it did not."""


class Jobs:
    """Runs `update`, which brings a collection's index up to date with its files, for one job after the other.

    Jobs of one collection that wait together are done together. They are known to this process alone: after a restart
    every collection with uploads is brought up to date, and its documents say themselves what was not read of them.
    """

    def __init__(self, update: Callable[[str, Progress], tuple[Unread, ...]], waiting: int) -> None:
        self._update, self._most = update, waiting
        self._jobs: dict[str, Job] = {}
        self._lock = RLock()
        self._arriving: Counter[str] = Counter()
        self._closed = False
        self._pool = ThreadPoolExecutor(1, "index")

    @property
    def waiting(self) -> int:
        """Jobs that wait."""
        with self._lock:
            return sum(job.state == "waiting" for job in self._jobs.values())

    @contextmanager
    def arriving(self, owner: str = "", collections: Collection[str] = ()) -> Iterator[None]:
        """Hold a place for a job whose files arrive. Raises Problem, 429, where all are taken, or all that the owner of
        these collections may take."""
        with self._lock:
            if self._closed:
                raise stopping()
            own = sum(job.state == "waiting" and job.collection in collections for job in self._jobs.values())
            full = self.waiting + self._arriving.total() >= self._most
            if full or own + self._arriving[owner] >= share(self._most, owner):
                raise busy()
            self._arriving[owner] += 1
        try:
            yield
        finally:
            with self._lock:
                self._arriving[owner] -= 1

    def add(self, collection: str, files: tuple[str, ...], unread: tuple[Unread, ...] = ()) -> Job:
        """Have a collection brought up to date; `unread` are files that were refused before."""
        job = Job(uuid4().hex[:12], collection, files, done=len(unread), of=len(files) + len(unread), unread=unread)
        with self._lock:
            if self._closed:
                raise stopping()
            over = [one.id for one in self._jobs.values() if one.state in ("done", "failed")]
            for id in over[:-REMEMBERED]:
                del self._jobs[id]
            self._jobs[job.id] = job
            self._pool.submit(self._run, collection)
        return job

    def get(self, id: str) -> Job | None:
        """The job with this id; None: there is none, or it was long ago."""
        return self._jobs.get(id)

    def _run(self, collection: str) -> None:
        """Do all jobs of the collection that wait; none do where an earlier run did them together with its own."""
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.state == "waiting" and job.collection == collection]
        seen: dict[str, None] = {}

        def progress(file: str, passages: int) -> None:
            if self._closed:
                raise stopping()
            seen[file] = None
            for job in jobs:
                read = sum(one in seen and one != file for one in job.files)
                own = file if file in job.files else ""
                self._set(job.id, state="reading", done=len(job.unread) + read, file=own, passages=passages)

        try:
            progress("", 0)
            unread = self._update(collection, progress) if jobs else ()
        except Exception as error:  # noqa: BLE001 - the other tenants' files must still be read
            if not self._closed:
                LOG.error("files could not be indexed", exc_info=error)
            message = FULL if is_disk_full(error) else "the files are kept, and could not be read in at present"
            for job in jobs:
                self._set(job.id, state="failed", message=message)
            return
        for job in jobs:
            own = tuple(one for one in unread if one.file in job.files)
            self._set(job.id, state="done", done=job.of, file="", unread=job.unread + own)

    def _set(self, id: str, **fields: Any) -> None:
        with self._lock:
            self._jobs[id] = replace(self._jobs[id], **fields)

    def close(self) -> None:
        """Stop after the passages at hand, and wait for that."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
