"""Numbers and quotations of a narrative, looked up in the object that the model was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

BANDS = (0.5, 0.9, 95.0)
"""Numbers that every text may use: the ends of the bands, and the confidence of intervals."""
SMALL = 5
"""Whole numbers up to this may be a way of speaking, as in "two of 3 stages"."""

_NUMBER = re.compile(r"(?<![\w.])(?<!\w-)\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|\.\d)(\s?%)?")
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"\n]+)\"")
_SIGNS = re.compile(r"\\n|[\\\"“”]")
_MARK = re.compile(r"^\s*\d{1,2}[.)]\s", re.MULTILINE)


def unsupported(text: str, shown: Mapping[str, Any]) -> tuple[str, ...]:
    """The numbers and quotations of the text that do not stand in `shown`, each once.

    A number agrees with one that rounds to it at the digits written; a percentage with a hundredth of itself, too. A
    quotation agrees but for case and white space, and for what an ellipsis leaves out.
    """
    source = _folded(json.dumps(shown, ensure_ascii=False, default=str))
    numbers = [*BANDS, *(_value(match) for match in _NUMBER.finditer(source))]
    plain = _MARK.sub("", text)
    wrong = [f"“{quote}”" for match in _QUOTED.finditer(plain) if not _stands(quote := match[1] or match[2], source)]
    return tuple(dict.fromkeys((*wrong, *_numbers(_QUOTED.sub(" ", plain), numbers))))


def _numbers(text: str, known: list[float]) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        number, half = _value(match), 0.5 * 10.0 ** -len(match[0].partition(".")[2].rstrip(" %")) + 1e-9
        if number.is_integer() and number <= SMALL and not match[1]:
            continue
        if not any(abs(one - number) <= half or (match[1] and abs(100 * one - number) <= half) for one in known):
            yield match[0]


def _value(match: re.Match[str]) -> float:
    return float(match[0].rstrip(" %").replace(",", ""))


def _stands(quote: str, source: str) -> bool:
    parts = [part.strip(" .,;:!?") for part in re.split(r"…|\.\.\.", _folded(quote))]
    return all(part in source for part in parts)


def _folded(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text.casefold().replace("’", "'")).split())
