"""Values on disk: the JSON codec, single files, and run folders that are appended to and resumed."""

import dataclasses
import math
import os
import shutil
import types
import typing
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from functools import cache
from io import BytesIO
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeVar

from filelock import FileLock, Timeout

from surefoot.run import manifest
from surefoot.text.json_values import parsed, spelled
from surefoot.types import TRACE_SCHEMA, Trace
from surefoot.types.errors import FieldFault, TraceFault, UsageError
from surefoot.types.metadata import Meta

T = TypeVar("T")

ENVIRONMENTS = "environments"
"""The key of `run.json` that lists where it ran, which is no part of what was run."""
_CHUNK = 1 << 20


def to_json(value: Any) -> Any:
    """A value of `surefoot.types` as plain dictionaries, lists, strings and numbers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return value.value if isinstance(value, Enum) else value


def from_json(kind: type[T], data: Any, origin: str = "") -> T:
    """The value of type `kind` that `to_json` made `data` from.

    Raises TraceFault for any other data, naming `origin` where that is given.
    """
    place = f"{origin}: " if origin else ""
    try:
        return typing.cast(T, _decoded(kind, data))
    except TraceFault as error:
        raise TraceFault(f"{place}{error}") from error
    except (TypeError, ValueError, OverflowError, FieldFault) as error:
        raise TraceFault(f"{place}this is not a {kind.__name__}: {error}") from error


def require_schema(trace: Any, origin: str = "") -> dict[str, Any]:
    """The JSON of a trace, if it has this version's schema. Raises TraceFault for all else."""
    place = f"{origin}: " if origin else ""
    if not isinstance(trace, dict) or "schema" not in trace:
        raise TraceFault(f"{place}this is no Surefoot trace: it has no schema version")
    if (schema := trace["schema"]) != TRACE_SCHEMA or isinstance(schema, bool):
        raise TraceFault(
            f"{place}it has trace schema {schema!r}, and this Surefoot reads {TRACE_SCHEMA}; ask the question again, "
            "or use the version of Surefoot that wrote it"
        )
    return trace


def dumps(trace: Trace) -> str:
    """One line of JSON. Raises TraceFault for a trace that JSON cannot hold, such as one with a NaN."""
    return _encoded(to_json(trace), f"trace {trace.id}")


def loads(text: str, origin: str = "this text") -> Trace:
    """The trace that `dumps` wrote. Raises TraceFault, naming `origin`."""
    try:
        return from_json(Trace, parsed(text), origin)
    except ValueError as error:
        raise TraceFault(f"{origin} is not JSON: {error}") from error


def write_trace(trace: Trace, path: str | Path) -> None:
    """Write the trace to a file, whole or not at all."""
    write_value(Path(path), trace, f"trace {trace.id}")


def write_value(path: Path, value: Any, what: str = "this") -> None:
    """Write a value as a file of JSON, whole or not at all. Raises TraceFault, naming `what`, for what JSON lacks."""
    write_text(path, _encoded(to_json(value), what, indent=1) + "\n")


def read_value(path: Path, kind: type[T]) -> T:
    """The value that `write_value` wrote. Raises UsageError where the file cannot be read, TraceFault where it is
    damaged."""
    try:
        return from_json(kind, parsed(path.read_bytes()))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TraceFault) as error:
        raise TraceFault(f"{path} is damaged: {error}") from error


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


def write_bytes(path: Path, data: bytes | IO[bytes], mode: int = 0o666, durable: bool = True) -> None:
    """Write a file, whole or not at all, as `replacing` does."""
    with replacing(path, mode, durable) as file:
        shutil.copyfileobj(BytesIO(data) if isinstance(data, bytes) else data, file, _CHUNK)


@contextmanager
def replacing(path: Path, mode: int = 0o666, durable: bool = True) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of the one at `path` once all is written; where that fails, the old one
    stays. `mode` less the umask. `durable`: also when the machine stops in the middle, at some 4 ms a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not tempfile, whose files nobody else may read: a model in a shared folder is for all whom the umask lets.
    temporary = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(file: str | Path, busy: UsageError, patience: float = 0.0) -> Iterator[None]:
    """Hold a lock between processes, which a kill releases. Raises `busy` where another one still holds it after
    `patience` seconds."""
    try:
        with FileLock(file, timeout=patience):
            yield
    except Timeout:
        raise busy from None


class Run:
    """A run's folder: `run.json` describes the run, and `file` gets a line for each question or value.

    Lines are only appended. A killed process leaves at most one torn last line, which the next opening cuts off; `done`
    then tells which questions are answered. A resumed run must have the same description, but may run elsewhere:
    `environments` of `run.json` lists each `manifest.environment`.
    """

    def __init__(self, folder: str | Path, about: dict[str, Any], file: str = "traces.jsonl") -> None:
        self.folder = Path(folder)
        self.path = self.folder / file
        self._claim(about)
        with suppress(UsageError), self.held():  # else what looks torn is a line that another process is just writing
            mend(self.path)

    def held(self) -> AbstractContextManager[None]:
        """Hold the folder against other processes. Raises UsageError where another one, not killed, holds it."""
        busy = UsageError(f"{self.folder} is being run by another process; wait for it, or stop it")
        return locked(self.folder / ".lock", busy)

    def append(self, key: str, trace: Trace) -> None:
        """Add the trace of the question with this key."""
        self._add({"key": key, "trace": to_json(trace)}, f"trace {trace.id}")

    def add(self, key: str, value: Any) -> None:
        """Add a value that is no trace, as `to_json` writes it."""
        self._add({"key": key, "value": to_json(value)}, f"what was found on {key}")

    def done(self) -> dict[str, Trace]:
        """The traces that are there, by key. Raises TraceFault, naming the line, for one that is damaged."""
        return values(self.path, Trace, "trace")

    def values(self, kind: type[T]) -> dict[str, T]:
        """The values that `add` left there, by key. Raises TraceFault."""
        return values(self.path, kind)

    def _add(self, row: dict[str, Any], what: str) -> None:
        line = _encoded(row, what) + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)

    def _claim(self, about: dict[str, Any]) -> None:
        path = self.folder / "run.json"
        wanted = parsed(_encoded(about, "the description of the run"))
        known = described(self.folder) if path.exists() else {**wanted, ENVIRONMENTS: []}
        if not isinstance(ran := known.pop(ENVIRONMENTS, []), list):
            raise TraceFault(f"{path} is damaged: its environments are no list; give a new folder")
        if _resumable(known) != _resumable(wanted):
            raise TraceFault(f"{self.folder} holds another run; give a new folder, or the same settings to resume it")
        if (here := manifest.environment()) not in ran:
            whole = {**known, ENVIRONMENTS: [*ran, here]}
            write_value(path, whole, "the description of the run")


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and object of each line of a file of JSON objects. All such files of run folders are read here.

    Blank lines are skipped, and so is a last line that was cut short, which another process may just be writing.
    Raises UsageError where the file cannot be read, TraceFault, naming the line, where one is damaged.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            row = parsed(line) if line.strip() else None
        except ValueError as error:
            if number == len(lines):
                return
            raise _damaged(where, error) from error
        if isinstance(row, dict):
            yield where, row
        elif line.strip():
            raise _damaged(where, "it is no JSON object")


def keyed(path: Path, name: str = "value") -> Iterator[tuple[str, str, Any]]:
    """Yield place, key and the JSON under `name` for each line that a `Run` appended. Raises as `rows` does."""
    for where, row in rows(path):
        if not isinstance(key := row.get("key"), str):
            raise _damaged(where, "it has no key that is a text")
        if name not in row:
            raise _damaged(where, f"it has no {name}")
        yield where, key, row[name]


def values(path: Path, kind: type[T], name: str = "value") -> dict[str, T]:
    """The values that a `Run` left in a file, by key, the last of each; none without a file. Raises TraceFault."""
    lines = keyed(path, name) if path.exists() else ()
    return {key: from_json(kind, value, where) for where, key, value in lines}


def mend(path: Path) -> None:
    """Make a file of JSON lines ready to be appended to: cut off a torn last line, end one that only lacks its end."""
    data = path.read_bytes() if path.exists() else b""
    if not (last := data[data.rfind(b"\n") + 1 :]):
        return
    with path.open("r+b") as file:
        try:
            parsed(last)
        except ValueError:
            file.truncate(len(data) - len(last))
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")


def runs(folder: Path) -> list[Path]:
    """The folder itself, if it is a run's; else the run folders in it, in alphabetical order."""
    inner = sorted(path.parent for path in folder.glob("*/run.json"))
    return [folder] if (folder / "run.json").exists() or not inner else inner


def described(folder: Path, what: str = "a run") -> dict[str, Any]:
    """The folder's `run.json`. Raises UsageError where it is no folder of `what`, TraceFault where it is damaged."""
    try:
        return read_value(folder / "run.json", dict)
    except TraceFault as error:
        raise TraceFault(f"{error}; give another folder") from error
    except UsageError as error:
        raise UsageError(f"{folder} is no folder of {what}: {error}") from error


def recorded(folder: Path) -> tuple[dict[str, Any], dict[str, Trace]]:
    """Read a run folder: its description, and the trace of each question by key. Nothing is written there.

    Raises UsageError where there is no run, TraceFault where it is damaged.
    """
    about, path = described(folder), folder / "traces.jsonl"
    if not path.exists():
        raise UsageError(f"{folder} is no folder of a run: {path} cannot be read")
    return about, values(path, Trace, "trace")


def _damaged(where: str, why: object) -> TraceFault:
    return TraceFault(f"{where} is damaged: {why}; take the line out to go on")


def _resumable(about: dict[str, Any]) -> dict[str, Any]:
    """The part of a description that must match to resume. `[judge]` of the configuration need not: each score names
    its judge. Nor need `[telemetry]`, which changes no answer, or an empty section."""
    apart = ("judge", "telemetry")
    return {
        name: {key: value for key, value in table.items() if value != {} and not (name == "config" and key in apart)}
        if isinstance(table, dict)
        else table
        for name, table in about.items()
    }


def _encoded(data: Any, what: str, indent: int | None = None) -> str:
    try:
        return spelled(data, indent)
    except (TypeError, ValueError) as error:
        raise TraceFault(f"{what} cannot be written as JSON: {error}") from error


def _decoded(kind: Any, data: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if data is None and type(None) in arguments:
            return None
        return _decoded(next(option for option in arguments if option is not type(None)), data)
    if origin is tuple:
        items = _expected(list, data)
        kinds = [arguments[0]] * len(items) if arguments[-1] is ... else arguments
        return tuple(_decoded(each, item) for each, item in zip(kinds, items, strict=True))
    if kind is Any:
        return data
    if origin is dict:
        return {name: _decoded(arguments[1], value) for name, value in _expected(dict, data).items()}
    if kind is Meta:
        return Meta(_expected(dict, data))
    if origin is typing.Literal:
        if data not in arguments:
            raise ValueError(f"{data!r} is none of {arguments}")
        return data
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        data = require_schema(data) if kind is Trace else data
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
