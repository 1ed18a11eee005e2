"""Values from the JSON of strangers, and JSON schemas, both from the annotations of our dataclasses.

`store.from_json` reads what Surefoot wrote itself; here every fault has a sentence for whoever sent it.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import math
import sys
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from surefoot.components import misnamed
from surefoot.server.problems import invalid

T = TypeVar("T")

_NAMED = "#/components/schemas/"
"""Where an OpenAPI document keeps its schemas."""
_PLAIN: dict[Any, tuple[str, str]] = {
    str: ("string", "a text"),
    bool: ("boolean", "true or false"),
    int: ("integer", "a whole number"),
    float: ("number", "a number"),
}


def valued(kind: type[T], data: Any, *, others: bool = False) -> T:
    """The value that a body says. Raises Problem naming the field; `others`: fields that we do not know are left out.

    A field without a default has to be there.
    """
    return typing.cast(T, _value(kind, data, "", others))


def _value(kind: Any, data: Any, at: str, others: bool) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return data
    if origin in (types.UnionType, typing.Union):
        return _one_of(arguments, data, at, others)
    if origin is typing.Literal:
        return data if data in arguments else _refuse(at, f"one of {', '.join(map(repr, arguments))}", data)
    if origin is tuple:
        items = data if isinstance(data, list) else _refuse(at, "a list", data)
        return tuple(_value(arguments[0], item, f"{at}[{n}]", others) for n, item in enumerate(items))
    if dataclasses.is_dataclass(kind):
        return _object(kind, data, at, others)
    if kind in _PLAIN:
        return _plain(kind, data, at)
    return data if isinstance(data, dict) else _refuse(at, "an object", data)


def _one_of(kinds: tuple[Any, ...], data: Any, at: str, others: bool) -> Any:
    """None, a text, or whatever else is allowed, in this order."""
    if data is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    if str in rest and (isinstance(data, str) or len(rest) == 1):
        return _plain(str, data, at)
    return _value(next(kind for kind in rest if kind is not str or len(rest) == 1), data, at, others)


def _object(kind: Any, data: Any, at: str, others: bool) -> Any:
    if not isinstance(data, dict):
        _refuse(at, "an object", data)
    hints, prefix = _hints(kind), f"{at}." if at else ""
    if not others and (unknown := sorted(set(data) - set(hints))):
        raise invalid(misnamed(f"{at or 'the body'} has no field", unknown[0][:60], [*hints]))
    for field in dataclasses.fields(kind):
        if field.name not in data and _required(field):
            raise invalid(f"`{prefix}{field.name}` is missing")
    given = {name: value for name, value in data.items() if name in hints}
    return kind(**{name: _value(hints[name], value, f"{prefix}{name}", others) for name, value in given.items()})


def _plain(kind: Any, data: Any, at: str) -> Any:
    wanted = (int, float) if kind is float else kind
    fits = isinstance(data, wanted) and isinstance(data, bool) == (kind is bool)
    if not fits or (isinstance(data, float) and not math.isfinite(data)):
        _refuse(at, _PLAIN[kind][1], data)
    if isinstance(data, str) and any("\ud800" <= sign <= "\udfff" for sign in data):
        raise invalid(f"`{at}` holds half of a character; send it as UTF-8")
    return data


def _refuse(at: str, wanted: str, data: Any) -> typing.NoReturn:
    shown = "null" if data is None else "a list" if isinstance(data, list) else repr(data)[:40]
    shown = "an object" if isinstance(data, dict) else shown
    raise invalid(f"{f'`{at}`' if at else 'the body'} must be {wanted}, not {shown}")


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def closed(kind: type) -> dict[str, Any]:
    """The JSON schema of a dataclass as a document of its own: what it refers to stands in `$defs`."""
    named: dict[str, Any] = {}
    schema(kind, named)
    text = json.dumps({**named.pop(kind.__name__), **({"$defs": named} if named else {})})
    found: dict[str, Any] = json.loads(text.replace(_NAMED, "#/$defs/"))
    return found


def schema(kind: Any, named: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a type; each dataclass goes into `named` once, and is referred to."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [schema(one, named) for one in arguments]}
    if origin is typing.Literal:
        return {"enum": [*arguments]}
    if origin is tuple:
        fixed = {} if arguments[-1] is ... else {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "items": schema(arguments[0], named), **fixed}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema(arguments[1], named)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        return _referred(kind, named)
    if kind is type(None):
        return {"type": "null"}
    plain = [name for known, (name, _) in _PLAIN.items() if known is kind]
    return {"type": plain[0] if plain else "object"}


def _referred(kind: Any, named: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in named:
        named[name] = {}  # a value may hold its own kind
        required = [field.name for field in dataclasses.fields(kind) if _required(field)]
        told = {key: {"description": words} for key, words in _told(kind.__module__).get(name, {}).items()}
        named[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").partition("\n")[0],
            "properties": {key: schema(hint, named) | told.get(key, {}) for key, hint in _hints(kind).items()},
            **({"required": required} if required else {}),
        }
    return {"$ref": f"{_NAMED}{name}"}


@cache
def _told(module: str) -> dict[str, dict[str, str]]:
    """By class of a module, the words below each of its fields."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {one.name: dict(_worded(one)) for one in body if isinstance(one, ast.ClassDef)}


def _worded(one: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(one.body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            yield field.target.id, " ".join(str(ast.literal_eval(below.value)).split())
