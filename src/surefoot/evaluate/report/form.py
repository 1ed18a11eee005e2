"""The form of a report: how long its parts may be, checked the same for rules and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from surefoot.text.words import STOP_WORDS, sentences

MOST_ITEMS = 4
PRIORITIES = ("critical", "high", "medium")
_PARTS = ("problem_detection", "root_cause_analysis", "evidence_trace", "recommended_protocol")
TEXTS = ("title", *(f"{part}{ending}" for part in _PARTS for ending in ("", "_gist")))
"""The texts of an item."""
TOPS = ("executive_summary", "executive_summary_gist", "strategic_conclusion")
"""The texts about the whole."""
GISTS = {"problem_detection_gist": (15, 30), "root_cause_analysis_gist": (15, 35), "evidence_trace_gist": (25, 40)}
"""One sentence each, of so many words."""
_LENGTHS: dict[str, dict[str, tuple[int, int]]] = {
    "executive_summary": {"sentences": (3, 5)},
    "executive_summary_gist": {"sentences": (2, 2), "words": (40, 50)},
    "recommended_protocol_gist": {"bullets": (2, 4)},
    **{name: {"sentences": (1, 1), "words": words} for name, words in GISTS.items()},
}
"""The fewest and the most of each unit, by text."""

_QUOTATION = re.compile(r"“[^”]*”|\"[^\"\n]*\"|`[^`\n]*`")
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_NO_VERB = re.compile(r"\w+(?:ing|tion|sion|ment|ness|ity|ly|ance|ence)\Z")
_VERBS = frozenset("implement complement supplement document bring apply reference position condition rely".split())
"""Verbs that look like nouns or adverbs."""


def violations(report: Mapping[str, Any], cases: int = 2) -> tuple[str, ...]:
    """Each breach of the rules in a sentence; empty: there is none. `cases`: the fewest that an item quotes."""
    return tuple(_violations(report, cases))


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


def _violations(report: Mapping[str, Any], cases: int) -> Iterator[str]:
    yield from _texts(report, TOPS)
    items = report.get("insights")
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        yield "insights must be a list of objects"
        return
    if len(items) > MOST_ITEMS:
        yield f"insights has {len(items)} items and may have at most {MOST_ITEMS}"
    for number, item in enumerate(items):
        yield from (f"insights[{number}].{what}" for what in _item_violations(item, cases))


def _texts(values: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not _text(value := values.get(name)):
            yield f"{name} must be a text"
            continue
        for unit, (least, most) in _LENGTHS.get(name, {}).items():
            yield from _within(name, unit, _COUNTS[unit](value), least, most)


def _item_violations(item: Mapping[str, Any], cases: int) -> Iterator[str]:
    if item.get("priority") not in PRIORITIES:
        yield f"priority must be one of {', '.join(PRIORITIES)}"
    yield from _texts(item, TEXTS)
    if _text(evidence := item.get("evidence_trace")):
        yield from _evidence(evidence, cases)
    if _text(protocol := item.get("recommended_protocol_gist")):
        idle = (step for step in bullets(protocol) if not _acts(step))
        yield from (f"recommended_protocol_gist: “{step[:40]}” must start with a verb" for step in idle)


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


def _acts(bullet: str) -> bool:
    """True if a bullet seems to start with a verb: told by what starts no command, since any noun may be a verb."""
    first = re.match(r"[^\w`]*([A-Za-z]+)", bullet)
    word = first[1].lower() if first else ""
    return word in _VERBS or (bool(word) and word not in STOP_WORDS and not _NO_VERB.match(word))


def _text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())
