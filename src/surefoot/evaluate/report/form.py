"""The form of a report: how long its parts may be, checked the same for rules and models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

from surefoot.text.words import STOP_WORDS, sentences

MOST_ITEMS = 4
PRIORITIES = ("critical", "high", "medium")
_PARTS = ("problem_detection", "root_cause_analysis", "evidence_trace", "recommended_protocol")
TEXTS = ("title", *(f"{part}{ending}" for part in _PARTS for ending in ("", "_gist")))
"""The texts of an item."""
GISTS = {"problem_detection_gist": (15, 30), "root_cause_analysis_gist": (15, 35), "evidence_trace_gist": (25, 40)}
"""One sentence each, of so many words."""

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


def _violations(report: Mapping[str, Any], cases: int) -> Iterator[str]:
    for name in ("executive_summary", "executive_summary_gist", "strategic_conclusion"):
        if not _text(report.get(name)):
            yield f"{name} must be a text"
    if _text(summary := report.get("executive_summary")):
        yield from _within("executive_summary", "sentences", count_sentences(summary), 3, 5)
    if _text(gist := report.get("executive_summary_gist")):
        yield from _within("executive_summary_gist", "sentences", count_sentences(gist), 2, 2)
        yield from _within("executive_summary_gist", "words", count_words(gist), 40, 50)
    items = report.get("insights")
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        yield "insights must be a list of objects"
        return
    if len(items) > MOST_ITEMS:
        yield f"insights has {len(items)} items and may have at most {MOST_ITEMS}"
    for number, item in enumerate(items):
        yield from (f"insights[{number}].{what}" for what in _item_violations(item, cases))


def _item_violations(item: Mapping[str, Any], cases: int) -> Iterator[str]:
    if item.get("priority") not in PRIORITIES:
        yield f"priority must be one of {', '.join(PRIORITIES)}"
    for name in TEXTS:
        if not _text(item.get(name)):
            yield f"{name} must be a text"
    for name, (least, most) in GISTS.items():
        if _text(gist := item.get(name)):
            yield from _within(name, "sentences", count_sentences(gist), 1, 1)
            yield from _within(name, "words", count_words(gist), least, most)
    if _text(evidence := item.get("evidence_trace")):
        yield from _evidence(evidence, cases)
    if _text(protocol := item.get("recommended_protocol_gist")):
        steps = bullets(protocol)
        yield from _within("recommended_protocol_gist", "bullets", len(steps), 2, 4)
        yield from (f"recommended_protocol_gist: “{s[:40]}” must start with a verb" for s in steps if not _acts(s))


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
