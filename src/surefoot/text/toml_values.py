"""TOML that a stranger may have written, read so that all that can be wrong with it is one error."""

from __future__ import annotations

import tomllib
from typing import Any

from surefoot.text.json_values import TOO_DEEP, deep


def parsed(text: str) -> dict[str, Any]:
    """The tables that a TOML text spells. Raises ValueError for any other text; also for a number of thousands of
    digits, and for what is nested more than a hundred deep, which would be a RecursionError here, or later where the
    value is used."""
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    if deep(tables):  # dotted keys nest without recursion
        raise ValueError(TOO_DEEP)
    return tables
