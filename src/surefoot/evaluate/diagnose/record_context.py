"""A record beside its scores and the configuration: whether it is lost, and what its answer and its sources were."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.evaluate.diagnose.evidence import declines, holds, locatable, seen_by
from surefoot.judges._diamond import metrics as diamond
from surefoot.stats.figures import token_f1
from surefoot.text.words import words
from surefoot.types import Metric, Passage, Record, Score

WEAK = 0.5
"""A score up to this loses a record: a rating of 2, or of 1."""
GAPS = 0.6
"""The same limit for factuality, where 3 means that the core is there with gaps."""
STRONG = 0.7
"""A score from this up says that a stage did its work: a rating of 4, or of 5."""
_MARKER = re.compile(r"(?<!\s)\s*\[\d[\d\s,]*\]")
_QUOTE_WORDS = 14

Valued = Mapping[str, Score]
"""A record's scores that have a value, by metric."""


@dataclass(frozen=True, slots=True)
class RecordContext:
    """A record with all that its diagnosis goes by."""

    record: Record
    scores: Valued
    config: Mapping[str, Mapping[str, Any]]
    held: bool | None
    """True if the corpus holds the evidence; None: unknown."""
    metrics: Mapping[str, Metric] = field(default_factory=diamond)
    """The metrics by name, in the order of texts."""

    def value(self, metric: str) -> float | None:
        """The score; None: there is none."""
        score = self.scores.get(metric)
        return score.value if score else None

    def weak(self, metric: str) -> bool:
        """True if it is scored, and low."""
        value = self.value(metric)
        return value is not None and value <= WEAK

    def strong(self, metric: str) -> bool:
        """True if it is scored, and high."""
        value = self.value(metric)
        return value is not None and value >= STRONG


def by_record(scores: Iterable[Score]) -> dict[str, dict[str, Score]]:
    """The scores that have a value, by record and metric; of several judges of a metric, the last one's."""
    found: dict[str, dict[str, Score]] = {}
    for score in scores:
        if score.value is not None:
            found.setdefault(score.record_id, {})[score.metric] = score
    return found


def right(case: RecordContext) -> bool | None:
    """True if the answer is right: by its factuality, or by the words of a reference answer; None: unknown."""
    value = case.value("factuality")
    if value is not None:
        return value > GAPS
    if not case.record.truths or case.record.answer is None:
        return None
    text = answer(case.record)
    if refused(case.record) and (withheld(case.record) or not holds(text, case.record.truths)):
        return False
    if not locatable(case.record.truths):
        return bool({word for truth in case.record.truths for word in words(truth)[:1]} & set(words(text)[:1]))
    return holds(text, case.record.truths) or token_f1(text, case.record.truths) > GAPS


def lost(case: RecordContext) -> bool:
    """True if the record is one to mend."""
    verdict = right(case)
    if verdict is False or (case.record.trace and case.record.trace.error):
        return True
    if verdict is None and case.record.answer is not None and refused(case.record):
        return True
    looked = [m for m in case.metrics.values() if not verdict or ("answer" in m.sees and "truths" not in m.sees)]
    return any(case.weak(metric.name) for metric in looked)


def refused(record: Record) -> bool:
    """True if there is no answer, or one that says so."""
    if record.trace and record.trace.answer:
        return record.trace.answer.refused or declines(record.trace.answer.text)
    return record.answer is not None and declines(record.answer)


def answer(record: Record) -> str:
    """The generator's words without its markers, also where they were withheld."""
    made = record.trace.answer if record.trace else None
    text = (made.withheld or made.text) if made and made.refused else record.answer or ""
    return _MARKER.sub("", text)


def read(record: Record) -> tuple[Passage, ...] | None:
    """The texts that the generator was given; None: they were not kept."""
    if record.trace is None or record.contexts is not None:
        return record.contexts
    origin = {passage.id: passage for passage in seen_by(record)}
    strips = [strip for strip in record.trace.strips if strip.kept]
    return tuple(
        replace(origin[strip.passage_id], text=strip.text)
        if strip.passage_id in origin
        else Passage(strip.passage_id, strip.text)
        for strip in strips
    )


def quoted(text: str, most: int = _QUOTE_WORDS) -> str:
    """The beginning of a text in quotation marks, word for word, up to the first such mark in it."""
    there = re.split("[“”]", text.strip(" \n“”"))[0].split()
    return f"“{' '.join(there[:most])}{'…' if len(there) > most else ''}”"


def withheld(record: Record) -> bool:
    """True if the pipeline refused for the model, which had said something."""
    made = record.trace.answer if record.trace else None
    return bool(made and made.refused and made.withheld)
