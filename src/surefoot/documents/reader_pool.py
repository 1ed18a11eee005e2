"""Reads files and pages in other processes: a file that takes one down costs nothing but itself.

Requests and answers are lines of JSON (`worker` is the other side). A process answers in turn; a few requests wait in
its input and its finds wait in its output, so that neither side holds much. The processes end with this one, since
their input does.
"""

import json
import signal
import subprocess
from base64 import b64decode
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import cycle
from queue import Empty, Queue
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic
from typing import Any, BinaryIO

from surefoot.documents import limits
from surefoot.documents.loaders import DocumentProblem, Unreadable
from surefoot.documents.reading import Article, ProcessDied, Reading, Request
from surefoot.documents.storable import CutDocument
from surefoot.run.manifest import cores
from surefoot.types.errors import UsageError

MOST = 4
"""Processes side by side, at most: one process embeds and writes all that they read."""

_EACH = 250_000
"""Bytes of files that are worth the start of one more process."""
_AHEAD = 4_000
"""Bytes of requests in a process's input; a pipe holds more on every system, so that asking never waits."""
_LINES = 16
"""Lines of answers that are held here, beside those in the pipe."""
_LONGEST_LINE = 250_000_000
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)


class ReaderProcess:
    """A reading process, started on the first request and again when it has ended. For one thread at a time."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: Queue[bytes | None] = Queue()
        self._ready = False
        self._killed = False
        self._pending: deque[Request] = deque()

    @property
    def busy(self) -> bool:
        """Whether a request is not answered yet."""
        return bool(self._pending)

    def has_room(self, request: Request) -> bool:
        """Whether the request can be made without waiting."""
        return not self._pending or sum(len(each.encoded()) for each in (*self._pending, request)) <= _AHEAD

    def start(self) -> None:
        """Start the process, which takes a while, without waiting for it."""
        if self._process and not self._pending and self._process.poll() is not None:
            self.end()  # it had ended for lack of requests
        if self._process:
            return
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:  # in a session of its own, since Ctrl-C is for us
            self._process = subprocess.Popen(
                self._command, stdin=pipe, stdout=pipe, stderr=nothing, start_new_session=True
            )
        except OSError as error:
            raise self._unstarted() from error
        self._ready, self._lines = False, Queue(_LINES)
        Thread(target=_collect, args=(self._process.stdout, self._lines), name="reader", daemon=True).start()
        for request in self._pending:
            self._send(request)

    def ask(self, request: Request) -> Reading:
        """Request a file or page; answers come in the order of the requests."""
        self.start()
        self._pending.append(request)
        self._send(request)
        return Reading(partial(self._answer, request), request.size)

    def _send(self, request: Request) -> None:
        with suppress(OSError):  # a process that has ended is noticed where its answer is waited for
            if self._process and self._process.stdin:
                self._process.stdin.write(request.encoded())
                self._process.stdin.flush()

    def _answer(self, request: Request, seconds: float) -> Iterator[list[Any]]:
        """The items about the request. Raises ProcessDied; UsageError where no process starts."""
        ends = monotonic() + seconds
        for is_last in (False, True):  # the process may have ended for another reason
            self.start()
            answered = False
            for item in self._items(request.size, ends):
                answered = True
                if item[0] == "end":
                    self._pending.popleft()
                    yield item
                    return
                yield item
            status = self._buried()
            if not self._ready:
                raise self._unstarted()
            if answered or is_last or status == _OUT_OF_TIME or self._killed:
                self._pending.popleft()
                raise _died(status, request.size)

    def _items(self, size: int, ends: float) -> Iterator[list[Any]]:
        """The items that the process writes until it ends."""
        silent = limits.silent_seconds(size)
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, min(silent, ends - monotonic())))
            except Empty:
                self._pending.popleft()
                self.end()
                late = monotonic() >= ends
                raise ProcessDied("was not read in time" if late else f"gave no answer for {silent} s", True) from None
            if line is None:
                return
            for item in json.loads(line):
                if item == ["ready"]:
                    self._ready = True
                else:
                    yield item

    def end(self) -> None:
        """End the process, whatever it is doing."""
        if self._process:
            self._process.kill()
            while self._lines.get() is not None:
                pass
            self._buried()

    def _buried(self) -> int:
        """The exit status of the process, which has closed its output."""
        process, self._process = self._process, None
        if process is None:
            return 0
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
        with suppress(OSError), process:  # what could not be sent to it cannot be flushed
            pass
        return process.wait()

    def _unstarted(self) -> UsageError:
        return UsageError(f"the process that reads files does not start; to see why: {' '.join(self._command)}")

    def kill(self) -> None:
        """End the process from another thread; the thread that waits for it sees it end."""
        self._killed = True
        if process := self._process:
            process.kill()
            process.wait()


class Readers:
    """Reading processes, which are started by `command`: a program that calls `worker.serve`."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._lock = Lock()
        self._idle: list[ReaderProcess] = []
        self._lent: set[ReaderProcess] = set()
        self._turns = BoundedSemaphore(MOST)

    def files(self, requests: Sequence[Request]) -> Generator[Reading, None, None]:
        """A reading for each file, in order; iterate each to its end before the next. Reads some of them ahead."""
        readers = [self._lend() for _ in range(_useful(requests))]
        todo = deque(zip(cycle(readers), requests, strict=False))
        ahead: deque[Reading] = deque()
        try:
            while todo or ahead:
                while todo and todo[0][0].has_room(todo[0][1]):
                    reader, request = todo.popleft()
                    ahead.append(reader.ask(request))
                yield ahead.popleft()
        finally:
            for reader in readers:
                self._take_back(reader)

    def page(self, request: Request, seconds: float) -> CutDocument:
        """The page, read within so many seconds. Raises Unreadable with the reason if it is not."""
        with self._requested(request, seconds) as (reading, left):
            found = [item for _, item in reading.items(left)]
        if document := next((item for item in found if isinstance(item, CutDocument)), None):
            return document
        raise Unreadable("; ".join(item.reason for item in found if isinstance(item, DocumentProblem)))

    def article(self, request: Request, seconds: float) -> Article:
        """The page as an article, read within so many seconds. Raises Unreadable with the reason if it is not."""
        with self._requested(request, seconds) as (reading, left):
            extract, ambiguous, links = reading.value(left)
        return Article(extract, ambiguous, tuple((address, line) for address, line in links))

    def picture(self, request: Request, seconds: float) -> bytes:
        """The drawn page, in PNG. Raises Unreadable with the reason if it is not drawn within so many seconds."""
        with self._requested(request, seconds) as (reading, left):
            return b64decode(reading.value(left))

    @contextmanager
    def _requested(self, request: Request, seconds: float) -> Iterator[tuple[Reading, float]]:
        """The reading of a page, and the seconds that are left for it when its turn has come."""
        ends = monotonic() + seconds
        if seconds <= 0 or not self._turns.acquire(timeout=seconds):
            raise Unreadable("was not read in time")
        reader = self._lend()
        try:
            yield reader.ask(request), ends - monotonic()
        finally:
            self._take_back(reader)
            self._turns.release()

    def warm(self, count: int) -> None:
        """Start so many processes before they are needed."""
        readers = [self._lend() for _ in range(min(count, cores(), MOST))]
        for reader in readers:
            reader.start()
            self._take_back(reader)

    def end(self) -> None:
        """End all of them."""
        with self._lock:
            while self._idle:
                self._idle.pop().end()
            for reader in self._lent:
                reader.kill()

    def _lend(self) -> ReaderProcess:
        with self._lock:
            reader = self._idle.pop() if self._idle else ReaderProcess(self._command)
            self._lent.add(reader)
        return reader

    def _take_back(self, reader: ReaderProcess) -> None:
        with self._lock:
            self._lent.remove(reader)
            is_reusable = not reader.busy and len(self._idle) < MOST
            if is_reusable:
                self._idle.append(reader)
        if not is_reusable:  # its answers to a caller who has gone away would be taken for others
            reader.end()


def _useful(requests: Sequence[Request]) -> int:
    """The number of processes that are worth starting."""
    by_size = 1 + sum(request.size for request in requests) // _EACH
    return min(len(requests), by_size, cores(), MOST)


def _collect(out: BinaryIO, lines: Queue[bytes | None]) -> None:
    """Take whole lines from a process until it ends; the last is torn if it was killed."""
    while (line := out.readline(_LONGEST_LINE)).endswith(b"\n"):
        lines.put(line)
    lines.put(None)


def _died(status: int, size: int) -> ProcessDied:
    if status == _OUT_OF_TIME:
        return ProcessDied(
            f"takes more than {limits.processor_seconds(size)} s of processor time to be read; split it", False
        )
    how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
    return ProcessDied(f"crashed the process that read it ({how})", -status == getattr(signal, "SIGKILL", None))
