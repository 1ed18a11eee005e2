"""Traces on disk: the JSON codec, single files, and a run folder that is appended to and resumed."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
import types
import typing
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from surefoot.errors import TraceFault, UsageError
from surefoot.types import TRACE_SCHEMA, Trace

T = TypeVar("T")


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
        return _trace(json.loads(text), origin)
    except (ValueError, RecursionError) as error:
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
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class Run:
    """A folder of one benchmark: `run.json` says what was run, `traces.jsonl` holds a line a question.

    Lines are only appended. A process that is killed leaves at most one torn last line, which is cut off when the
    folder is opened again; `done` then says which questions need not be asked again.
    """

    def __init__(self, folder: str | Path, about: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "traces.jsonl"
        self._claim(about)
        self._mend()

    def append(self, key: str, trace: Trace) -> None:
        """Add the trace of the question with this key."""
        line = _encoded({"key": key, "trace": to_json(trace)}, f"trace {trace.id}") + "\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)

    def done(self) -> dict[str, Trace]:
        """What is there, by key. Raises TraceFault, naming the line, for one that is damaged."""
        return dict(_traces(self.path.read_bytes(), self.path)) if self.path.exists() else {}

    def _claim(self, about: dict[str, Any]) -> None:
        path = self.folder / "run.json"
        text = _encoded(about, "the description of the run", indent=1) + "\n"
        if not path.exists():
            write_text(path, text)
        try:
            known = json.loads(path.read_bytes())
        except ValueError as error:
            raise TraceFault(f"{path} is damaged: {error}; give a new folder") from error
        if known != json.loads(text):
            raise TraceFault(f"{self.folder} holds another run; give a new folder, or the same settings to resume it")

    def _mend(self) -> None:
        if self.path.exists() and not (data := self.path.read_bytes()).endswith(b"\n"):
            with self.path.open("r+b") as file:
                file.truncate(data.rfind(b"\n") + 1)


def recorded(folder: Path) -> tuple[dict[str, Any], dict[str, Trace]]:
    """What a run folder says was run, and the trace of each question by its key; nothing is written there, and a torn
    last line is not read.

    Raises UsageError where there is no run, TraceFault where it is damaged.
    """
    try:
        about = json.loads((folder / "run.json").read_bytes())
        lines = (folder / "traces.jsonl").read_bytes()
    except OSError as error:
        raise UsageError(f"{folder} is no folder of a run: {error.filename} cannot be read") from error
    except ValueError as error:
        raise TraceFault(f"{folder / 'run.json'} is damaged: {error}") from error
    if not isinstance(about, dict):
        raise TraceFault(f"{folder / 'run.json'} is damaged: it is no description of a run")
    return about, dict(_traces(lines[: lines.rfind(b"\n") + 1], folder / "traces.jsonl"))


def _traces(lines: bytes, path: Path) -> Iterator[tuple[str, Trace]]:
    for number, line in enumerate(lines.splitlines(), start=1):
        origin = f"{path}, line {number}"
        try:
            row = json.loads(line)
            key, data = row["key"], row["trace"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise TraceFault(f"{origin} is damaged: {error}; take the line out to go on") from error
        yield key, _trace(data, origin)


def _encoded(data: Any, what: str, indent: int | None = None) -> str:
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    except (TypeError, ValueError) as error:
        raise TraceFault(f"{what} cannot be written as JSON: {error}") from error
    # Half a surrogate pair, as a broken file name or argument brings it, is no UTF-8; escaped it comes back as it was.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", text)


def _trace(data: Any, origin: str) -> Trace:
    if not isinstance(data, dict) or "schema" not in data:
        raise TraceFault(f"{origin} is not a Surefoot trace: it has no schema version")
    if data["schema"] != TRACE_SCHEMA:
        raise TraceFault(
            f"{origin} has trace schema {data['schema']!r}, this Surefoot reads {TRACE_SCHEMA}; update Surefoot"
        )
    return from_json(Trace, data)


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
        return _expected(dict, data)
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
