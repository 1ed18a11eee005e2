"""One case in a process that can be killed: what it raised, what it exceeded, what it touched that it must not."""

from __future__ import annotations

import errno
import faulthandler
import io
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
import traceback
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

MOST_MEMORY = 1_400_000_000
"""Bytes that the process, or one that it started, may have resident; a worker starts with up to 400 MB."""
MOST_SECONDS = 180.0
"""Of the clock for a case, on a busy machine; one more for each 40 kB that it has. Well above what `documents.limits`
gives a file, after which its reading is ended and named."""
MOST_WRITTEN = 50_000_000
"""Bytes in all files of a case together, beyond five times what it began with: an index holds its texts, their words
and their vectors."""
CASES = 200
"""After so many a worker makes place for a fresh one."""

_PACKAGE = os.path.dirname(surefoot.__file__)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_PATHS = {"os.rename": 2, "os.link": 2, "os.symlink": 2}
_PATHS |= dict.fromkeys(("os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod"), 1)
"""Events that change files, and how many paths each has."""
_CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto")
_RUNS = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen")
_WATCHED = frozenset(("open", "sqlite3.connect", *_PATHS, *_CONNECTS, *_RUNS))
_PROGRAMS = (sys.executable, "git", "uname")
"""Programs that the product itself starts: itself, and what names its revision and processor."""
_HOMES = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "SUREFOOT_MODELS")
_KEYS = ("SERPER_API_KEY", "TAVILY_API_KEY", "OPENAI_API_KEY")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one case."""

    fault: str = ""
    """In one line; empty: there was none."""
    key: str = ""
    """The same for faults of one cause: the kind, and the innermost line of ours."""
    traceback: str = ""
    seconds: float = 0.0


class Forbidden(BaseException):
    """The case was about to do what no input may make it do; nothing of ours catches it."""


class Workers:
    """Runs cases one after the other, each in a process that is not this one."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: Any = None
        self._line: Connection | None = None
        self._done = 0

    def run(self, target: str, files: Files, number: int | None = None) -> Outcome:
        """The outcome of the case; after a fault the next one gets a fresh process."""
        if self._process is None or self._done >= CASES:
            self.close()
            self._start()
        self._done += 1
        assert self._line
        started = time.monotonic()
        with suppress(OSError):
            self._line.send((target, files, number))
        outcome = self._awaited(started + MOST_SECONDS + sum(map(len, files.values())) / 40_000)
        if outcome.fault:
            self.close()
        return replace(outcome, seconds=time.monotonic() - started)

    def close(self) -> None:
        """End the process, with what it started."""
        if self._process is None:
            return
        for pid in [*_below(self._process.pid), self._process.pid]:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._process.join()
        assert self._line
        self._line.close()
        self._process = self._line = None

    def _start(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)
        self._root.mkdir(parents=True)
        ours, theirs = get_context("fork").Pipe()
        self._process = get_context("fork").Process(target=_serve, args=(theirs, self._root), daemon=False)
        self._process.start()
        theirs.close()
        ours.recv()  # it is ready: its start counts for no case
        self._line, self._done = ours, 0

    def _awaited(self, ends: float) -> Outcome:
        assert self._line
        while True:
            with suppress(EOFError, OSError):
                if self._line.poll(0.03):
                    outcome: Outcome = self._line.recv()
                    return outcome
            if not self._process.is_alive():
                self._process.join()
                how = _signal(self._process.exitcode)
                return Outcome(f"the worker died with {how}", f"died: {how}", self._stack())
            memory = max(map(_resident, [self._process.pid, *_below(self._process.pid)]))
            if memory > MOST_MEMORY:
                return self._stopped(f"{memory / 1e6:,.0f} MB resident", "memory")
            if time.monotonic() > ends:
                return self._stopped("it did not end in time", "seconds")

    def _stopped(self, why: str, kind: str) -> Outcome:
        """Have the worker write its stack before it is killed."""
        with suppress(OSError):
            os.kill(self._process.pid, signal.SIGUSR1)
        time.sleep(1)
        return Outcome(why, kind, self._stack())

    def _stack(self) -> str:
        with suppress(OSError):
            return (self._root / "stack").read_text("utf-8", "replace")[-6000:]
        return ""


def _serve(line: Connection, root: Path) -> None:
    """The worker: cases in, outcomes out, until there is none."""
    for name in ("case", "home", "tmp"):
        (root / name).mkdir(exist_ok=True)
    tempfile.tempdir = None  # whoever forked this off has looked for it already
    os.environ.update(TMPDIR=str(root / "tmp"), SUREFOOT_OFFLINE="1", COLUMNS="100")
    os.environ.update(dict.fromkeys(_HOMES, str(root / "home")) | dict.fromkeys(_KEYS, "a-key"))
    os.environ.pop("CI", None)
    sys.stdin = io.StringIO()
    sys.dont_write_bytecode = True
    with (root / "stack").open("w") as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGUSR1, stack, all_threads=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MOST_WRITTEN, 4 * MOST_WRITTEN))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        here = manifest.environment()
        manifest.environment = lambda: here  # each time it starts git, which takes longer than most cases
        watch = _Watch(root)
        sys.addaudithook(watch)
        line.send(None)
        while True:
            line.send(_case(*line.recv(), root, watch))


def _case(name: str, files: Files, number: int | None, root: Path, watch: _Watch) -> Outcome:
    target, folder = TARGETS[name], root / "case"
    os.chdir(root)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    os.chdir(folder)
    streams, outcome = (sys.stdout, sys.stderr), Outcome()
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace") for _ in streams)
    watch.begin(target.own)
    try:
        target.run(*((folder, number) if target.several else (folder,)))
    except SurefootError:
        pass
    except Broken as error:
        outcome = Outcome(f"{error}", f"broken: {error.promise}", traceback.format_exc()[-6000:])
    except BaseException as error:  # noqa: BLE001 - what it may be is the question
        outcome = _failed(error)
    finally:
        watch.active = False
        sys.stdout, sys.stderr = streams
    if watch.seen and not outcome.fault:
        return Outcome(watch.seen, f"forbidden: {watch.seen}")
    written = _size(root) - 5 * sum(map(len, files.values()))
    if written > MOST_WRITTEN and not outcome.fault:
        return Outcome(f"{written / 1e6:,.0f} MB written", "output")
    return outcome


def _failed(error: BaseException) -> Outcome:
    frames = traceback.extract_tb(error.__traceback__, limit=-60)
    ours = [frame for frame in frames if frame.filename.startswith(_PACKAGE)]
    where = f"{Path(ours[-1].filename).relative_to(_PACKAGE)}:{ours[-1].name}" if ours else "outside"
    message = str(error).encode("utf-8", "backslashreplace").decode()[:200]
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-12))
    fault = f"{type(error).__name__} at {where}{f', line {ours[-1].lineno}' if ours else ''}: {message}"
    return Outcome(
        fault, f"{type(error).__name__}: {where}", stack.encode("utf-8", "backslashreplace").decode()[-6000:]
    )


class _Watch:
    """An audit hook: what is written outside of the case's folders, connected to, or run."""

    def __init__(self, root: Path) -> None:
        self._inside = tuple(os.path.realpath(root / name) for name in ("case", "home", "tmp"))
        self.active = False
        self.seen = ""
        self._own = False

    def begin(self, own: bool) -> None:
        """Watch until `active` is taken back; `own` as the target has it."""
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
            if event == "socket.connect" and getattr(values[0], "family", None) == socket.AF_UNIX:
                return
            if self._own:
                raise OSError(errno.ENETUNREACH, "there is no network here")
            self._refuse(f"{event} {str(values[-1] if event == 'socket.connect' else values[0])[:60]}")
        elif str(values[0]) not in _PROGRAMS:
            self._refuse(f"{event} {str(values[0])[:80]}")

    def _writes(self, paths: tuple[Any, ...]) -> None:
        for path in paths:
            if isinstance(path, int) or path is None:
                continue
            place = os.path.realpath(os.path.dirname(os.fsdecode(path)) or ".")
            whole = os.path.join(place, os.path.basename(os.fsdecode(path)))
            if whole.startswith(("/dev/", *(inside + os.sep for inside in self._inside))) or whole in self._inside:
                continue
            if self._own:
                raise PermissionError(errno.EACCES, "it is not to be written there", whole)
            self._refuse(f"wrote outside of its folder: {whole[:120]}")

    def _refuse(self, what: str) -> None:
        self.seen = what
        raise Forbidden(what)


def _size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _resident(pid: int) -> int:
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _below(pid: int) -> list[int]:
    """All processes that this one started, and those that they did."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found + [inner for child in found for inner in _below(child)]


def _signal(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
