"""Traces on disk: the JSON codec, single files, and a run folder that is appended to and resumed."""

from __future__ import annotations

import dataclasses
import math
import os
import types
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from surefoot import manifest
from surefoot.errors import TraceFault, UsageError
from surefoot.text.json_values import parsed, spelled
from surefoot.types import TRACE_SCHEMA, Trace

T = TypeVar("T")

ENVIRONMENTS = "environments"
"""Of `run.json`: in what it ran. It is no part of what was run."""


def to_json(value: Any) -> Any:
    """A value of `surefoot.types` as plain dictionaries, lists, strings and numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    return value.value if isinstance(value, Enum) else value


def from_json(kind: type[T], data: Any) -> T:
    """The value of type `kind` that `to_json` made `data` from. Raises TraceFault for any other data."""
    try:
        return typing.cast(T, _decoded(kind, data))
    except (TypeError, ValueError, OverflowError) as error:
        raise TraceFault(f"this is not a {kind.__name__}: {error}") from error


def dumps(trace: Trace) -> str:
    """One line of JSON. Raises TraceFault for a trace that JSON cannot hold, such as one with a NaN."""
    return _encoded(to_json(trace), f"trace {trace.id}")


def loads(text: str, origin: str = "this text") -> Trace:
    """The trace that `dumps` wrote. Raises TraceFault, naming `origin`."""
    try:
        return _trace(parsed(text), origin)
    except ValueError as error:
        raise TraceFault(f"{origin} is not JSON: {error}") from error


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write the trace to a file, whole or not at all."""
    write_text(Path(path), _encoded(to_json(trace), f"trace {trace.id}", indent=1) + "\n")


def read_trace(path: str | Path) -> Trace:
    """The trace in a file. Raises TraceFault."""
    try:
        return loads(Path(path).read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise TraceFault(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TraceFault(f"{path} is not a Surefoot trace: it is not UTF-8 text") from error


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all, also when the machine stops in the middle."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all, also when the machine stops in the middle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile, whose files nobody else may read: a model in a shared folder is for all whom the umask lets.
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class Run:
    """A folder of one benchmark: `run.json` says what was run, `traces.jsonl` holds a line a question; where the lines
    are no traces, `file` is its name.

    Lines are only appended. A process that is killed leaves at most one torn last line, which is cut off when the
    folder is opened again; `done` then says which questions need not be asked again. What was run has to be the same
    then; where it runs may change: `environments` of `run.json` has each `manifest.environment` that it ran in.
    """

    def __init__(self, folder: str | Path, about: dict[str, Any], file: str = "traces.jsonl") -> None:
        self.folder = Path(folder)
        self.path = self.folder / file
        self._lock = FileLock(self.folder / ".lock")
        self._claim(about)
        try:
            with self._lock.acquire(timeout=0):
                self._mend()
        except Timeout:
            pass  # what looks torn is a line that another process is just writing

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, no other process holds the folder. Raises UsageError where one does; one that was killed does not."""
        try:
            with self._lock.acquire(timeout=0):
                yield
        except Timeout as error:
            raise UsageError(f"{self.folder} is being run by another process; wait for it, or stop it") from error

    def append(self, key: str, trace: Trace) -> None:
        """Add the trace of the question with this key."""
        self._add({"key": key, "trace": to_json(trace)}, f"trace {trace.id}")

    def add(self, key: str, value: Any) -> None:
        """Add a value that is no trace, as `to_json` writes it."""
        self._add({"key": key, "value": to_json(value)}, f"what was found on {key}")

    def done(self) -> dict[str, Trace]:
        """What is there, by key. Raises TraceFault, naming the line, for one that is damaged."""
        return dict(_traces(self.path.read_bytes(), self.path)) if self.path.exists() else {}

    def values(self, kind: type[T]) -> dict[str, T]:
        """What `add` left there, by key, as values of this type. Raises TraceFault."""
        return values(self.path, kind)

    def _add(self, row: dict[str, Any], what: str) -> None:
        line = _encoded(row, what) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)

    def _claim(self, about: dict[str, Any]) -> None:
        path = self.folder / "run.json"
        wanted = parsed(_encoded(about, "the description of the run"))
        known = _described(path) if path.exists() else {**wanted, ENVIRONMENTS: []}
        ran = known.pop(ENVIRONMENTS, [])
        if _asked(known) != _asked(wanted):
            raise TraceFault(f"{self.folder} holds another run; give a new folder, or the same settings to resume it")
        if (here := manifest.environment()) not in ran:
            whole = {**known, ENVIRONMENTS: [*ran, here]}
            write_text(path, _encoded(whole, "the description of the run", indent=1) + "\n")

    def _mend(self) -> None:
        if self.path.exists() and not (data := self.path.read_bytes()).endswith(b"\n"):
            with self.path.open("r+b") as file:
                file.truncate(data.rfind(b"\n") + 1)


def values(path: Path, kind: type[T]) -> dict[str, T]:
    """What `Run.add` left in a file, by key, the last of each; nothing is written, and a torn last line is not read.

    Raises TraceFault, naming the line, for one that is damaged.
    """
    data = path.read_bytes() if path.exists() else b""
    found: dict[str, T] = {}
    for key, value, origin in _rows(data[: data.rfind(b"\n") + 1], path, "value"):
        try:
            found[key] = from_json(kind, value)
        except TraceFault as error:
            raise TraceFault(f"{origin} is damaged: {error}; take the line out to go on") from error
    return found


def runs(folder: Path) -> list[Path]:
    """The folder, where it is that of a run; else those in it that are, in alphabetical order."""
    inner = sorted(path.parent for path in folder.glob("*/run.json"))
    return [folder] if (folder / "run.json").exists() or not inner else inner


def recorded(folder: Path) -> tuple[dict[str, Any], dict[str, Trace]]:
    """What a run folder says was run, and the trace of each question by its key; nothing is written there, and a torn
    last line is not read.

    Raises UsageError where there is no run, TraceFault where it is damaged.
    """
    try:
        about = parsed((folder / "run.json").read_bytes())
        lines = (folder / "traces.jsonl").read_bytes()
    except OSError as error:
        raise UsageError(f"{folder} is no folder of a run: {error.filename} cannot be read") from error
    except ValueError as error:
        raise TraceFault(f"{folder / 'run.json'} is damaged: {error}") from error
    if not isinstance(about, dict):
        raise TraceFault(f"{folder / 'run.json'} is damaged: it is no description of a run")
    return about, dict(_traces(lines[: lines.rfind(b"\n") + 1], folder / "traces.jsonl"))


def _asked(about: dict[str, Any]) -> dict[str, Any]:
    """What a run is told from others by. How its answers are judged, `[judge]` of the configuration, is no part of it:
    what is judged says so itself, and a folder of before there was such a section can be gone on with."""
    config = about.get("config")
    if not isinstance(config, dict):
        return about
    return {**about, "config": {section: of for section, of in config.items() if section != "judge"}}


def _described(path: Path) -> dict[str, Any]:
    try:
        known = parsed(path.read_bytes())
    except ValueError as error:
        raise TraceFault(f"{path} is damaged: {error}; give a new folder") from error
    return known if isinstance(known, dict) else {}


def _traces(lines: bytes, path: Path) -> Iterator[tuple[str, Trace]]:
    return ((key, _trace(data, origin)) for key, data, origin in _rows(lines, path, "trace"))


def _rows(lines: bytes, path: Path, name: str) -> Iterator[tuple[str, Any, str]]:
    """Of each line the key, what it holds under this name, and where it is."""
    for number, line in enumerate(lines.splitlines(), start=1):
        origin = f"{path}, line {number}"
        try:
            row = parsed(line)
            key, held = row["key"], row[name]
            if not isinstance(key, str):
                raise TypeError("its key is no text")
        except (ValueError, TypeError, KeyError) as error:
            raise TraceFault(f"{origin} is damaged: {error}; take the line out to go on") from error
        yield key, held, origin


def _encoded(data: Any, what: str, indent: int | None = None) -> str:
    try:
        return spelled(data, indent)
    except (TypeError, ValueError) as error:
        raise TraceFault(f"{what} cannot be written as JSON: {error}") from error


def _trace(data: Any, origin: str) -> Trace:
    if not isinstance(data, dict) or "schema" not in data:
        raise TraceFault(f"{origin} is not a Surefoot trace: it has no schema version")
    if data["schema"] != TRACE_SCHEMA:
        raise TraceFault(
            f"{origin} has trace schema {data['schema']!r}, this Surefoot reads {TRACE_SCHEMA}; update Surefoot"
        )
    try:
        return from_json(Trace, data)
    except TraceFault as error:
        raise TraceFault(f"{origin}: {error}") from error


def _decoded(kind: Any, data: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in arguments:
            return None
        return _decoded(next(option for option in arguments if option is not type(None)), data)
    if origin is tuple:
        return tuple(_decoded(arguments[0], item) for item in _expected(list, data))
    if kind is Any:
        return data
    if origin is dict:
        return {name: _decoded(arguments[1], value) for name, value in _expected(dict, data).items()}
    if origin is typing.Literal:
        if data not in arguments:
            raise ValueError(f"{data!r} is none of {arguments}")
        return data
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        if unknown := sorted(set(_expected(dict, data)) - set(hints)):
            raise ValueError(f"{kind} has no field '{unknown[0]}'")
        return kind(**{name: _decoded(hints[name], value) for name, value in data.items()})
    if issubclass(kind, Enum):
        return kind(data)
    return _finite(data) if kind is float else _expected(kind, data)


def _expected(kind: Any, data: Any) -> Any:
    if not isinstance(data, kind) or (isinstance(data, bool) and kind is not bool):
        raise TypeError(f"{data!r} is not {kind}")
    return data


def _finite(data: Any) -> float:
    number = float(_expected(int | float, data))
    if not math.isfinite(number):
        raise ValueError(f"{number} is no score")
    return number


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
