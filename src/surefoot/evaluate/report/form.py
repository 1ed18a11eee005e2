"""The checks of a report, the same for rules and models: the length of its parts, and its numbers and quotations."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from surefoot.text import toml_values
from surefoot.text.words import sentences

MOST_ITEMS = 4
PRIORITIES = ("critical", "high", "medium")
_ITEM = "insights[]."
FORM: dict[str, dict[str, Any]] = toml_values.beside(__file__, "form.toml")
"""The parts of a report, in their order."""
_WRITTEN = [name for name, part in FORM.items() if part.get("text", True)]
TEXTS = tuple(name.removeprefix(_ITEM) for name in _WRITTEN if name.startswith(_ITEM))
"""The texts of an item."""
TOPS = tuple(name for name in _WRITTEN if not name.startswith(_ITEM))
"""The texts about the whole."""
_PARTS = {name.removeprefix(_ITEM): part for name, part in FORM.items()}

_QUOTATION = re.compile(r"“[^”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)


def violations(report: Mapping[str, Any], cases: int = 2) -> tuple[str, ...]:
    """Each breach of the rules in a sentence; empty: there is none. `cases`: the fewest that an item quotes."""
    broken, items = [*_texts(report, TOPS)], report.get("insights")
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        return (*broken, "insights must be a list of objects")
    if len(items) > MOST_ITEMS:
        broken.append(f"insights has {len(items)} items and may have at most {MOST_ITEMS}")
    for number, item in enumerate(items):
        broken += [f"insights[{number}].{what}" for what in _item_violations(item, cases)]
    return tuple(broken)


def count_words(text: str) -> int:
    """Words as people count them: what stands between spaces, dashes apart."""
    return sum(any(map(str.isalnum, word)) for word in text.split())


def count_sentences(text: str) -> int:
    """Sentences, those within quotations not counted."""
    return len(sentences(_QUOTATION.sub("“x”", text)))


def bullets(text: str) -> list[str]:
    """The items of a Markdown list, without their marks; what stands before the first is none."""
    starts = [*_BULLET.finditer(text)]
    ends = [*(match.start() for match in starts), len(text)][1:]
    return [text[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)]


_COUNTS: dict[str, Callable[[str], int]] = {
    "sentences": count_sentences,
    "words": count_words,
    "bullets": lambda text: len(bullets(text)),
}


def _texts(values: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not _text(value := values.get(name)):
            yield f"{name} must be a text"
            continue
        for unit, count in _COUNTS.items():
            if unit in _PARTS[name]:
                yield from _within(name, unit, count(value), *_PARTS[name][unit])


def _item_violations(item: Mapping[str, Any], cases: int) -> Iterator[str]:
    if item.get("priority") not in PRIORITIES:
        yield f"priority must be one of {', '.join(PRIORITIES)}"
    yield from _texts(item, TEXTS)
    if _text(evidence := item.get("evidence_trace")):
        yield from _evidence(evidence, cases)


def _evidence(text: str, cases: int) -> Iterator[str]:
    first = _BULLET.search(text)
    pattern, listed = text[: first.start()] if first else text, bullets(text)
    yield from _within("evidence_trace: the metric pattern", "sentences", count_sentences(pattern), 1, 3)
    yield from _within("evidence_trace", "cases", len(listed), cases, 4)
    for case in listed:
        yield from _within(f"evidence_trace: “{case[:40]}”", "sentences", count_sentences(case), 1, 2)
        if not _QUOTATION.search(case):
            yield f"evidence_trace: “{case[:40]}” must quote its question"


def _within(name: str, unit: str, count: int, least: int, most: int) -> Iterator[str]:
    if not least <= count <= most:
        wanted = f"exactly {least}" if least == most else f"{least} to {most}"
        yield f"{name} has {count} {unit} and must have {wanted}"


def _text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


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
    plain, wrong = _MARK.sub("", text), []
    for match in _QUOTED.finditer(plain):
        parts = re.split(r"…|\.\.\.", _folded(match[1] or match[2]))
        if not all(part.strip(" .,;:!?") in source for part in parts):
            wrong.append(f"“{match[1] or match[2]}”")
    for match in _NUMBER.finditer(_QUOTED.sub(" ", plain)):
        number, half = _value(match), 0.5 * 10.0 ** -len(match[0].partition(".")[2].rstrip(" %")) + 1e-9
        near = (abs(one - number) <= half or (match[1] and abs(100 * one - number) <= half) for one in numbers)
        if not (number.is_integer() and number <= SMALL and not match[1]) and not any(near):
            wrong.append(match[0])
    return tuple(dict.fromkeys(wrong))


def _value(match: re.Match[str]) -> float:
    return float(match[0].rstrip(" %").replace(",", ""))


def _folded(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text.casefold().replace("’", "'")).split())
