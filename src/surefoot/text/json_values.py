"""JSON: read so that whatever is wrong with a stranger's text is one error, and written so that a terminal is safe."""

import json
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

DEEPEST = 100
"""Most lists and objects within each other. Python gives up at some hundreds, and often cannot write again what it
could just read; nobody's records nest half as deep."""
TOO_DEEP = f"it is nested more than {DEEPEST} deep"
"""The message of both readers, of JSON and of TOML."""
# Delete and C1; soft hyphens and joiners; marks of direction; separators of lines; tags; halves of characters, which
# are no UTF-8 either. JSON escapes what is below a space by itself.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


def parsed(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises JSONDecodeError for any other text, and UnicodeDecodeError for bytes that are no text, both ValueErrors.
    Other texts are also NaN and infinities, which JSON does not know and `spelled` could not write; numbers of
    thousands of digits; and nesting more than a hundred deep, which would be a RecursionError here or later.
    """
    return _parsed(text, _no_number)


def logged(text: str | bytes) -> Any:
    """`parsed`, with None for NaN, which pandas writes for a missing value."""
    return _parsed(text, lambda _: None)


def _parsed(text: str | bytes, constant: Callable[[str], None]) -> Any:
    try:
        value = json.loads(text, parse_constant=constant, parse_float=_finite)
    except RecursionError:
        raise json.JSONDecodeError(TOO_DEEP, "", 0) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:  # of the two below, or a number of more than 4,300 digits
        raise json.JSONDecodeError(str(error).partition(":")[0], "", 0) from error
    if _brackets(text) > DEEPEST and deep(value):
        raise json.JSONDecodeError(TOO_DEEP, "", 0)
    return value


def spelled(value: Any, indent: int | None = None) -> str:
    """The value as JSON that is safe to show in a terminal: invisible characters and marks of direction are escaped,
    and read back as they were. Raises TypeError or ValueError for what JSON does not know, such as NaN."""
    return _UNSEEN.sub(_escaped, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent))


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is no number: it is too large")
    return number


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def deep(value: Any) -> bool:
    """True if a value, decoded elsewhere, is nested deeper than `parsed` accepts."""
    level: list[Any] = [[value]]
    for _ in range(DEEPEST + 1):
        level = [inner for one in level for inner in _within(one) if isinstance(inner, dict | list)]
    return bool(level)


def _within(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _brackets(text: str | bytes) -> int:
    """The number of opening brackets, strings included; most texts have too few to be deep."""
    return text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")
