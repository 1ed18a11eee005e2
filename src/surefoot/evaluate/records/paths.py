"""The places of a record's fields in files of other tools, as `formats.toml` writes them."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from surefoot.text import toml_values
from surefoot.text.json_values import DEEPEST, deep, logged
from surefoot.types.errors import UsageError

Paths = Mapping[str, Sequence[str]]
"""The paths of fields, the best first."""

FORMATS: dict[str, Any] = toml_values.beside(__file__, "formats.toml")
COLUMNS: dict[str, list[str]] = FORMATS["columns"] | FORMATS["tags"]
"""The paths of each field, and of each tag, in a file of no known tool."""
NUMBER = r"-?[0-9]{1,9}"
ABSENT = object()
"""The value at a path that leads nowhere."""


@lru_cache(maxsize=10_000)
def plain(name: str) -> str:
    """ "Ground Truth", "groundTruth" and "ground-truth" are "ground_truth"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", apart.lower()).strip("_")


def nested(text: Any) -> Any:
    """The object or list that a text spells, in JSON or as a Python literal; None: it is no such text."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")) or not text.rstrip().endswith(("}", "]")):
        return None
    for parse in (logged, ast.literal_eval):
        try:
            value = parse(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value if isinstance(value, dict | list) and not deep(value) else None
    return None


def look(value: Any, path: str) -> Any:
    """The value at a path, which may be None; ABSENT: the path leads nowhere. Behind "*", a list of what each item has
    there."""
    if not path:
        return value
    if isinstance(value, str):
        value = nested(value)
    step, _, rest = path.partition(".")
    if isinstance(value, Mapping):
        if path in value:
            return value[path]
        name = step if step in value else next((key for key in value if plain(str(key)) == step), ABSENT)
        return ABSENT if name is ABSENT else look(value[name], rest)
    name, several, accepted = step.partition("=")
    if not isinstance(value, list) or not (several or step == "*" or re.fullmatch(NUMBER, step)):
        return ABSENT
    if re.fullmatch(NUMBER, step):
        return look(value[int(step)], rest) if -len(value) <= int(step) < len(value) else ABSENT
    items = [item for item in value if not several or look(item, name) in accepted.split("|")]
    there = [inner for item in items if (inner := look(item, rest)) not in (ABSENT, None)]
    return [each for inner in there for each in inner] if re.search(r"\*|=", rest) else there


def first(value: Any, paths: Sequence[str]) -> Any:
    """What stands at the first of the paths that leads to more than None; None: at no path is there more."""
    return next((found for path in paths if (found := look(value, path)) not in (ABSENT, None)), None)


def known(value: Any, lines: Sequence[str]) -> bool:
    """True if the value has all paths of one of the lines."""
    return any(all(look(value, path) is not ABSENT for path in line.split()) for line in lines)


def nest(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with names such as "input.value" taken apart: {"input": {"value": …}}, and a list where numbers follow.
    Names with spaces, and names whose first part is another's name, stay whole."""
    tree: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, cell in row.items():
        head, _, rest = str(name).partition(".")
        if head and rest and head not in row and " " not in rest and rest.count(".") < DEEPEST:
            parts.setdefault(head, {})[rest] = cell
        else:
            tree[str(name)] = cell
    for head, part in parts.items():
        inner = nest(part)
        numbered = all(re.fullmatch(NUMBER, name) for name in inner)
        tree[head] = [inner[number] for number in sorted(inner, key=int)] if numbered else inner
    return tree


def chosen(own: Paths, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The paths of each field that lead anywhere in any of the rows, and that no field before it has: all those of its
    `own`; of the usual ones only the first, or a row without an answer would have its reference for one."""
    heads = {plain(str(key)) for row in rows for key in row}
    found: dict[str, list[str]] = {}
    for field, usual in COLUMNS.items():
        free = (path for path in _written_out(own.get(field, usual), usual) if path not in chain(*found.values()))
        likely = (path for path in free if {plain(path), plain(path.partition(".")[0])} & heads)
        there = (path for path in likely if any(look(row, path) is not ABSENT for row in rows))
        if paths := [*islice(there, None if field in own else 1)]:
            found[field] = paths
    return found


def parsed(mapping: Sequence[str]) -> dict[str, list[str]]:
    """The paths of each field in texts such as "question=input.query". Raises UsageError for any other text."""
    paths: dict[str, list[str]] = {}
    for text in mapping:
        field, _, path = text.partition("=")
        if field not in COLUMNS or not path:
            raise UsageError(f"'{text}' is not FIELD=PATH, such as question=input.query; fields: {', '.join(COLUMNS)}")
        paths.setdefault(field, []).append(path)
    return paths


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """The paths of all that stands in objects of a value; those in lists stand behind "*"."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from leaves(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        yield from leaves(value[0], f"{path}.*")
    else:
        yield path


def _written_out(paths: Sequence[str], usual: Sequence[str]) -> Iterator[str]:
    for path in paths:
        yield from (path[:-1] + name for name in usual if "$" not in name) if path.endswith("$") else (path,)
