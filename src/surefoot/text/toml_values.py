"""TOML: read so that whatever is wrong with a stranger's text is one error, and its values written in one way."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.text.json_values import TOO_DEEP, deep


def parsed(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError for any other text, for a number of thousands of digits, and for
    nesting more than a hundred deep, which would be a RecursionError here or later."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if deep(tables):  # dotted keys nest without recursion
        raise ValueError(TOO_DEEP)
    return tables


def beside(module: str, name: str) -> dict[str, Any]:
    """The tables of a file of ours, which stands beside the module with this `__file__`."""
    return tomllib.loads(Path(module).with_name(name).read_text(encoding="utf-8"))


def spelled(value: Any) -> str:
    """The value as TOML, on one line; half a surrogate pair, which TOML cannot hold, becomes a question mark."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key(name)} = {spelled(inner)}' for name, inner in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spelled, value))}]"
    if isinstance(value, str):  # JSON's text is TOML's but for DEL
        return json.dumps(value.encode(errors="replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value) if isinstance(value, float) else json.dumps(value)


def key(name: str) -> str:
    """The name of a setting, in quotation marks where it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else spelled(name)
