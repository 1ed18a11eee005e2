"""One case in a process that can be killed: what it raised, what it exceeded, what it touched that it must not."""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import io
import os
import re
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import surefoot
from fuzz.mutation import Files
from fuzz.targets import TARGETS, Broken
from surefoot.run import manifest
from surefoot.types.errors import SurefootError

MOST_MEMORY = 1_000_000_000
"""Bytes that the process, or one that it started, may have resident."""
USUAL_MEMORY = 400_000_000
"""A worker has fewer when it starts; where it has more, it has them from whom it was forked off, such as a long run of
tests, and they are not counted."""
MOST_SECONDS = 45.0
"""Of the processor, for each process of a case; one more for each 150 kB that it was given. Well above what
`corpus.limits` gives a file, after which its reading is ended and named, which takes a second or two more."""
MOST_WAIT = 300.0
"""Seconds of the clock for a case, which a busy machine makes long; four more for each one that its size adds above."""
MOST_WRITTEN = 50_000_000
"""Bytes in all files of a case together, and on both of its streams, beyond five times what it was given: an index
holds its texts, their words and their vectors."""
CASES = 200
"""After so many a worker makes place for a fresh one."""

_PACKAGE = os.path.dirname(surefoot.__file__)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = {
    "os.rename": 2,
    "os.remove": 1,
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.chmod": 1,
}
"""Events that change files, and how many paths each has."""
_CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto")
_RUNS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
_PROGRAMS = (sys.executable, "git", "uname")
"""That the product itself starts: itself, and what says of which revision it is and on which processor."""
_DEAD = "the worker died"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    fault: str = ""
    """What was wrong, in one line; empty: nothing."""
    key: str = ""
    """What faults of one cause have in common: the kind, and the innermost line of ours."""
    told: str = ""
    """The traceback."""
    seconds: float = 0.0
    memory: int = 0
    """Bytes that were resident at most."""


class Forbidden(BaseException):
    """The case was about to do what no input may make it do; nothing of ours catches it."""


class Workers:
    """Runs cases one after the other, each in a process that is not this one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: Any = None
        self._line: Connection | None = None
        self._done = 0
        self._inherited = 0
        with suppress(OSError):  # orphans become ours, so that a process that was left behind is seen
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)

    def run(self, target: str, files: Files, number: int | None = None) -> Outcome:
        """What becomes of the case; after a fault the next one gets a fresh process."""
        if self._process is None or self._done >= CASES:
            left = self.close()
            self._start()
            if left:
                return left
        self._done += 1
        assert self._line
        started = time.monotonic()
        with suppress(OSError):
            self._line.send((target, files, number))
        outcome = self._awaited(started, sum(map(len, files.values())) / 150_000)
        if outcome.fault:
            self._end()
        return replace(outcome, seconds=time.monotonic() - started)

    def close(self) -> Outcome | None:
        """End the process; a fault where something that it started is still there."""
        if self._process is None:
            return None
        with suppress(OSError):
            assert self._line
            self._line.send(None)
        self._process.join(5)
        self._end(orphans=False)
        time.sleep(0.05)
        ends = (
            time.monotonic() + 20
        )  # on a busy machine one that reads a file takes a while to see that its input ended
        while (left := self._orphans()) and time.monotonic() < ends:
            time.sleep(0.1)
        if not left:
            return None
        names = ", ".join(sorted({_named(pid) for pid in left}))
        _kill(left)
        return Outcome(f"{len(left)} processes were left behind: {names}", f"left behind: {names}")

    def _start(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir(parents=True)
        ours, theirs = get_context("fork").Pipe()
        self._process = get_context("fork").Process(target=_serve, args=(theirs, self._root), daemon=False)
        self._process.start()
        theirs.close()
        ours.recv()  # it is ready: what its start takes is no case's
        self._line, self._done = ours, 0
        self._inherited = max(0, _resident(self._process.pid) - USUAL_MEMORY)

    def _awaited(self, started: float, more: float) -> Outcome:
        assert self._line
        seconds, wait = MOST_SECONDS + more, MOST_WAIT + 4 * more
        peak, before = 0, {pid: _spent(pid) for pid in self._all()}
        while True:
            with suppress(EOFError, OSError):
                if self._line.poll(0.03):
                    outcome: Outcome = self._line.recv()
                    return replace(outcome, memory=max(peak, outcome.memory - self._inherited))
            if not self._process.is_alive():
                self._process.join()
                code = self._process.exitcode
                return Outcome(f"{_DEAD} with {_signal(code)}", f"died: {_signal(code)}", self._dumped(), memory=peak)
            peak = max(peak, *(_resident(pid) - self._inherited for pid in self._all()))
            if peak > MOST_MEMORY:
                return self._stopped(f"{peak / 1e6:,.0f} MB resident", "memory", peak)
            if max(_spent(pid) - before.get(pid, 0) for pid in self._all()) > seconds:
                return self._stopped(f"not done after {seconds:.0f} s of the processor", "seconds", peak)
            if time.monotonic() - started > wait:
                return self._stopped(f"not done after {wait:.0f} s", "seconds", peak)

    def _all(self) -> list[int]:
        """The worker, and what it started."""
        return [self._process.pid, *_below(self._process.pid)]

    def _stopped(self, why: str, kind: str, peak: int) -> Outcome:
        """Where it was is asked of it before it is killed."""
        with suppress(OSError):
            os.kill(self._process.pid, signal.SIGUSR1)
        told, ends = "", time.monotonic() + 5
        while (not told or told != self._dumped()) and time.monotonic() < ends:  # on a busy machine it writes slowly
            told = self._dumped()
            time.sleep(0.3)
        return Outcome(why, f"{kind}: {_innermost_dumped(told)}", told, memory=peak)

    def _dumped(self) -> str:
        with suppress(OSError):
            return (self._root / "stack").read_text("utf-8", "replace")[-6000:]
        return ""

    def _end(self, orphans: bool = True) -> None:
        if self._process is not None:
            below = _below(self._process.pid)
            if self._process.is_alive():
                self._process.kill()
            self._process.join()
            if self._line:
                self._line.close()
            if orphans:
                _kill([*below, *self._orphans()])
        self._process = self._line = None

    def _orphans(self) -> list[int]:
        while True:  # those that have ended and wait for somebody to look
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG) if self._process is None else (0, 0)
            except ChildProcessError:
                break
            if not pid:
                break
        mine = {self._process.pid} if self._process else set()
        return [pid for pid in _children(os.getpid()) if pid not in mine]


def _serve(line: Connection, root: Path) -> None:
    """The worker: cases in, outcomes out, until there is none."""
    for name in ("case", "home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    tempfile.tempdir = None  # whoever forked this off has looked for it already
    os.environ.update(
        HOME=str(root / "home"),
        TMPDIR=str(root / "tmp"),
        XDG_CACHE_HOME=str(root / "home"),
        XDG_CONFIG_HOME=str(root / "home"),
        XDG_DATA_HOME=str(root / "home"),
        XDG_STATE_HOME=str(root / "home"),
        SUREFOOT_MODELS=str(root / "home" / "models"),
        SUREFOOT_OFFLINE="1",
        SERPER_API_KEY="a-key",
        TAVILY_API_KEY="a-key",
        OPENAI_API_KEY="a-key",
        COLUMNS="100",
    )
    os.environ.pop("CI", None)
    sys.stdin = io.StringIO()
    sys.dont_write_bytecode = True
    with (root / "stack").open("w") as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=True)
        most = _mapped() + 6 * MOST_MEMORY  # stops it before anybody could look
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MOST_WRITTEN, 4 * MOST_WRITTEN))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        here = manifest.environment()
        manifest.environment = lambda: here  # each time it starts git, which takes longer than most cases
        watch = _Watch(root)
        sys.addaudithook(watch)
        line.send(None)
        while (asked := line.recv()) is not None:
            line.send(_case(*asked, root, watch))
    os._exit(0)  # what a case left running must not hold the worker


def _case(name: str, files: Files, number: int | None, root: Path, watch: _Watch) -> Outcome:
    target = TARGETS[name]
    folder = root / "case"
    watch.active = False
    os.chdir(root)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    os.chdir(folder)
    _forget_peak()
    streams = sys.stdout, sys.stderr
    said = (
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace"),
        io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace"),
    )
    sys.stdout, sys.stderr = said
    watch.begin(target.own)
    try:
        target.run(*((folder, number) if target.several else (folder,)))
        outcome = Outcome()
    except SurefootError:
        outcome = Outcome()
    except Broken as error:
        outcome = Outcome(f"{error}", f"broken: {error.what}", traceback.format_exc()[-6000:])
    except BaseException as error:  # noqa: BLE001 - what it may be is the question
        outcome = _failed(error)
    finally:
        watch.active = False
        sys.stdout, sys.stderr = streams
    if watch.seen and not outcome.fault:
        outcome = Outcome(watch.seen, f"forbidden: {watch.seen}", "")
    written = (
        sum(len(stream.buffer.getvalue()) for stream in said if _flushed(stream))
        + _size(root)
        - 5 * sum(map(len, files.values()))
    )
    if written > MOST_WRITTEN and not outcome.fault:
        outcome = Outcome(f"{written / 1e6:,.0f} MB written", "output")
    return replace(outcome, memory=_peak())


def _flushed(stream: io.TextIOWrapper) -> bool:
    with suppress(ValueError):
        stream.flush()
        return True
    return False


def _failed(error: BaseException) -> Outcome:
    frames = traceback.extract_tb(error.__traceback__, limit=-60)
    ours = [frame for frame in frames if frame.filename.startswith(_PACKAGE)]
    where = f"{Path(ours[-1].filename).relative_to(_PACKAGE)}:{ours[-1].name}" if ours else "outside"
    said = str(error).encode("utf-8", "backslashreplace").decode()[:200]
    told = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-12))
    fault = f"{type(error).__name__} at {where}{f', line {ours[-1].lineno}' if ours else ''}: {said}"
    return Outcome(fault, f"{type(error).__name__}: {where}", told.encode("utf-8", "backslashreplace").decode()[-6000:])


class _Watch:
    """An audit hook: what is written outside of the case's folders, connected to, or run."""

    def __init__(self, root: Path) -> None:
        self._inside = tuple(os.path.realpath(root / name) for name in ("case", "home", "tmp"))
        self.active = False
        self.seen = ""
        self._own = False

    def begin(self, own: bool) -> None:
        """From now on until `active` is taken back; `own` as the target has it."""
        self.active, self.seen, self._own = True, "", own

    def __call__(self, event: str, values: tuple[Any, ...]) -> None:
        if not self.active or event not in _WATCHED:
            return
        if event == "open":
            path, _, flags = values
            if isinstance(flags, int) and flags & _WRITES:
                self._writes((path,))
        elif event == "sqlite3.connect":
            if values and str(values[0]) not in (":memory:", "") and "mode=ro" not in str(values[0]):
                self._writes((str(values[0]).removeprefix("file:").partition("?")[0],))
        elif event in _PATHS:
            self._writes(values[: _PATHS[event]])
        elif event in _CONNECTS:
            where = values[-1] if event == "socket.connect" else values[0]
            if event == "socket.connect" and getattr(values[0], "family", None) == socket.AF_UNIX:
                return
            if self._own:
                raise OSError(errno.ENETUNREACH, "there is no network here")
            self._refuse(f"{event} {str(where)[:60]}")
        elif str(values[0]) not in _PROGRAMS:
            self._refuse(f"{event} {str(values[0])[:80]}")

    def _writes(self, paths: tuple[Any, ...]) -> None:
        for path in paths:
            if isinstance(path, int) or path is None:
                continue
            place = os.path.realpath(os.path.dirname(os.fsdecode(path)) or ".")
            whole = os.path.join(place, os.path.basename(os.fsdecode(path)))
            if whole.startswith("/dev/") or any(
                whole == inside or whole.startswith(inside + os.sep) for inside in self._inside
            ):
                continue
            if self._own:
                raise PermissionError(errno.EACCES, "it is not to be written there", whole)
            self._refuse(f"wrote outside of its folder: {whole[:120]}")

    def _refuse(self, what: str) -> None:
        self.seen = what
        raise Forbidden(what)


_WATCHED = frozenset(("open", "sqlite3.connect", *_PATHS, *_CONNECTS, *_RUNS))


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with suppress(OSError, IndexError):
        return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
    return 0


def _mapped() -> int:
    """Bytes of addresses that this process holds, whether or not memory stands behind them."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _spent(pid: int) -> float:
    """Seconds of the processor that it had, without its children's."""
    with suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def _below(pid: int) -> list[int]:
    found = _children(pid)
    for child in list(found):
        found += _below(child)
    return found


def _kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def _named(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()[:80]
    return "?"


def _signal(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _innermost_dumped(told: str) -> str:
    """The first line of ours in what faulthandler wrote: it begins with the innermost; the main thread stands last."""
    return next(_ours(told), "outside")


def _ours(told: str) -> Iterator[str]:
    for part in reversed(re.split("(?:Thread|Current thread) 0x", told)):
        for row in part.splitlines():
            if _PACKAGE in row and " in " in row:
                file = row.split(_PACKAGE)[1].split('"')[0].lstrip("/")
                yield f"{file}:{row.rpartition(' in ')[2].strip()}"
