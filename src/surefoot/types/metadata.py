"""Fields of a document, such as its product or year, and filters over them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from operator import ge, gt, le, lt
from typing import Any, Literal, TypeVar
from unicodedata import category

from surefoot.types.errors import ConfigError, FieldFault, SearchError

Value = str | int | float | bool

MOST_FIELDS = 32
"""Fields of a document, at most."""
LONGEST_VALUE = 500
"""Characters of a field's text, at most."""
MOST_CONDITIONS = 32
"""Conditions of a filter, at most."""
MOST_LISTED = 1000
"""Values of an "in", at most."""

_KEY = re.compile(r"[^\W\d][\w.-]{0,63}\Z")
_NUMBER = re.compile(r"[+-]?(?:\d{1,18}|\d{1,15}\.\d{1,15})\Z")
_LARGEST = 2**63


class Meta(Mapping[str, Value]):
    """The fields of a document: a small read-only mapping of plain values, in the order of its keys.

    A key is a letter or "_" and up to 63 letters, digits, "_", "." and "-". A value is a text of up to 500 characters
    on one line, a whole number of 64 bits, a finite number, or a truth value; there are at most 32. Raises FieldFault
    for anything else, naming the key and what is allowed.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any] | None = None, /) -> None:
        source = dict(values or {})
        if len(source) > MOST_FIELDS:
            raise FieldFault(f"a document has {len(source)} fields, and at most {MOST_FIELDS} fit; leave some out")
        for key, value in source.items():
            if fault := _key_fault(key) or _value_fault(value):
                raise FieldFault(f"the field {_shown(key)} {fault}")
        self._values: dict[str, Value] = {key: source[key] for key in sorted(source)}

    def __getitem__(self, key: str) -> Value:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Describe it to pydantic as the mapping that it is, for the schemas of the server."""
        mapping = handler(dict[str, Value])
        return {**mapping, "serialization": {"type": "function-plain", "function": dict, "return_schema": mapping}}

    def __hash__(self) -> int:
        return hash(tuple(self._values.items()))

    def __repr__(self) -> str:
        return f"Meta({self._values!r})"

    def __reduce__(self) -> tuple[type[Meta], tuple[dict[str, Value]]]:
        return Meta, (self._values,)


NO_META = Meta()


def day_of(meta: Mapping[str, Value]) -> str:
    """The date that a document's fields give: `date`, else `modified`; empty: neither."""
    return str(meta.get("date") or meta.get("modified") or "")


def usable(source: Mapping[str, Any]) -> tuple[Meta, list[str]]:
    """The fields that can be kept, and why each other one cannot, in words: of a stranger's file, where one bad field
    must not cost the others."""
    found: dict[str, Any] = {}
    faults = []
    for key, value in source.items():
        fault = _key_fault(key) or _value_fault(value)
        if not fault and len(found) == MOST_FIELDS:
            fault = f"is one too many; at most {MOST_FIELDS} are kept"
        if fault:
            faults.append(f"the field {_shown(key)} {fault}")
        else:
            found[key] = value
    return Meta(found), faults


def plain(text: str) -> Value:
    """The value that a text stands for: true and false, a number as it is usually written, or the text, without the
    quotes around it. A quoted number stays a text; so does one that its digits do not give back, such as 007."""
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.match(text):
        number = float(text) if "." in text else int(text)
        return number if isinstance(number, float) or str(number) == text.lstrip("+") else text
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


Operator = Literal["in", "not in", "<", "<=", ">", ">="]
_ORDER: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_OPERATORS = ("=", "!=", *_ORDER, "in", "not in")


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """One condition on one field. Values are alike only if they are of one kind: text, number, or truth value."""

    key: str
    operator: Operator
    values: tuple[Value, ...]
    """One, but for "in" and "not in"."""

    def holds(self, meta: Mapping[str, Value]) -> bool:
        """True where these fields fulfil it. Without the field, "not in" alone holds."""
        found = _typed(meta[self.key]) if self.key in meta else None
        wanted = [_typed(value) for value in self.values]
        if self.operator == "in":
            return found in wanted
        if self.operator == "not in":
            return found not in wanted
        return found is not None and found[0] == wanted[0][0] and _ORDER[self.operator](found[1], wanted[0][1])


@dataclass(frozen=True, slots=True)
class Filter:
    """The documents that may be retrieved, by their fields: those that fulfil every condition. Without any: all."""

    conditions: tuple[FieldCondition, ...] = ()

    @classmethod
    def of(cls, source: Mapping[str, Any] | Filter | None) -> Filter:
        """The filter of a mapping such as `{"product": "x", "year": {">=": 2024}, "lang": {"in": ["en", "de"]}}`.

        A key has a value, which it must equal, or a table of operators: = != < <= > >= compare with one value, "in" and
        "not in" with a list. A document without the field, or with a value of another kind (text, number, truth value),
        fulfils "!=" and "not in" and nothing else. Raises FieldFault, naming the key and what is allowed.
        """
        if isinstance(source, Filter):
            return source
        if not isinstance(source, Mapping | None):
            raise FieldFault(f'a filter is a table of fields, as in {{"year": {{">=": 2024}}}}, not {_shown(source)}')
        conditions = tuple(
            condition for key, wanted in (source or {}).items() for condition in _conditions(key, wanted)
        )
        if len(conditions) > MOST_CONDITIONS:
            raise FieldFault(f"the filter has {len(conditions)} conditions, and at most {MOST_CONDITIONS} are allowed")
        return cls(conditions)

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __and__(self, other: Filter) -> Filter:
        """The filter of the conditions of both. Raises FieldFault where they give a field different values for one
        operator, which `as_json` could not hold."""
        added = tuple(one for one in other.conditions if one not in self.conditions)
        held = {(one.key, one.operator) for one in self.conditions}
        if twice := next((one for one in added if (one.key, one.operator) in held), None):
            raise FieldFault(f"the filter already restricts {_shown(twice.key)}, otherwise; narrow it by another field")
        return Filter(self.conditions + added)

    def matches(self, meta: Mapping[str, Value]) -> bool:
        """True where a document with these fields may be retrieved."""
        return all(condition.holds(meta) for condition in self.conditions)

    def as_json(self) -> dict[str, dict[str, Any]]:
        """The mapping that `of` makes the same filter from, each operator said."""
        table: dict[str, dict[str, Any]] = {}
        for one in self.conditions:
            several = one.operator in ("in", "not in")
            table.setdefault(one.key, {})[one.operator] = [*one.values] if several else one.values[0]
        return table


NO_FILTER = Filter()


def written(texts: Sequence[str]) -> Filter:
    """The filter of conditions as a command takes them, such as "product=x" and "year>=2024". Raises FieldFault."""
    return Filter(tuple(_written(text) for text in texts))


def _written(text: str) -> FieldCondition:
    if not (term := re.match(r"\s*([^\s=!<>]+)\s*(!=|<=|>=|=|<|>)\s*(.*)\Z", text, re.DOTALL)):
        raise FieldFault(f"{_shown(text)} is no condition; write KEY=VALUE, or != < <= > >= in place of =")
    return next(_conditions(term[1], {term[2]: plain(term[3])}))


Found = TypeVar("Found")
Find = Callable[[str, int], Found]
"""A retriever's `retrieve`, or a searcher's `search`."""


def can_filter(find: Callable[..., Any]) -> bool:
    """True where this `retrieve` or `search` takes a filter: a parameter of that name. One that takes any keyword
    does not: it might pass over the filter without a word."""
    return "filter" in signature(find).parameters


def filtered(find: Callable[..., Found], filter: Filter, who: str) -> Find[Found]:
    """The same verb with the filter. Raises ConfigError where it cannot filter: nothing is ever found without it."""
    if not filter:
        return find
    if not can_filter(find):
        raise ConfigError(f"{who} cannot filter; use one whose verb takes a filter, or ask without")
    return lambda query, k: find(query, k, filter=filter)


def searched(search: Callable[..., Found], filter: Filter, who: str) -> Find[Found]:
    """`filtered` for a search outside; where that cannot filter, it fails, so that nothing comes from there unfiltered,
    and the question goes on without it."""

    def refused(query: str, k: int) -> Found:
        raise SearchError(f"{who} cannot filter, so it was not asked")

    return filtered(search, filter, who) if not filter or can_filter(search) else refused


def _conditions(key: Any, wanted: Any) -> Iterator[FieldCondition]:
    if fault := _key_fault(key):
        raise FieldFault(f"the filter's key {_shown(key)} {fault}")
    table = wanted if isinstance(wanted, Mapping) else {"=": wanted}
    if not table:
        raise FieldFault(f"the filter's {_shown(key)} has no condition; give a value, or one of {' '.join(_OPERATORS)}")
    for name, value in table.items():
        yield _condition(key, name, value)


def _condition(key: str, name: Any, value: Any) -> FieldCondition:
    if name not in _OPERATORS:
        raise FieldFault(
            f"the filter's {_shown(key)} has no operator {_shown(name)}; there are: {' '.join(_OPERATORS)}"
        )
    listed = isinstance(value, list | tuple)
    if (several := name in ("in", "not in")) != listed:
        form = "a list of values" if several else "one value; for several, write in or not in"
        raise FieldFault(f"the filter's {_shown(key)} {name} takes {form}, not {_shown(value)}")
    values = tuple(value) if several else (value,)
    if len(values) > MOST_LISTED:
        raise FieldFault(f"the filter's {_shown(key)} {name} lists {len(values)} values, and at most {MOST_LISTED} fit")
    for one in values:
        if fault := _value_fault(one):
            raise FieldFault(f"the filter's {_shown(key)} {fault}")
    if name in _ORDER and isinstance(value, bool):
        raise FieldFault(
            f"the filter's {_shown(key)} is held by {name} against {value}; numbers and texts have an order"
        )
    return FieldCondition(key, {"=": "in", "!=": "not in"}.get(name, name), values)


def _key_fault(key: object) -> str:
    if isinstance(key, str) and _KEY.match(key):
        return ""
    return "is no name: a letter or _, then up to 63 letters, digits, _ . and -"


def _value_fault(value: object) -> str:
    if isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return "" if -_LARGEST <= value < _LARGEST else "is a whole number of more than 64 bits"
    if isinstance(value, float):
        return "" if math.isfinite(value) else "is no finite number"
    if not isinstance(value, str):
        return f"is {_kind(value)}; it may be a text, a number, true or false"
    if len(value) > LONGEST_VALUE:
        return f"has {len(value):,} characters, and at most {LONGEST_VALUE} fit"
    odd = not value.isprintable() and any(category(letter) in ("Cc", "Cs") for letter in value)
    return "holds a control character or half of one" if odd else ""


def _kind(value: object) -> str:
    names: dict[type, str] = {list: "a list", tuple: "a list", dict: "a table", type(None): "nothing"}
    return names.get(type(value), f"of the kind {type(value).__name__}")


def _typed(value: Value) -> tuple[str, Value]:
    """The value with its kind: true is no 1, and "1" neither; 1 and 1.0 are one number."""
    return ("truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"), value


def _shown(value: object) -> str:
    return repr(value[:60] if isinstance(value, str) else value)[:80]
