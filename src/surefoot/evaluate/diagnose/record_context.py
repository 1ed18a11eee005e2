"""A record beside its scores and the configuration: whether it is lost, and what its answer and its sources were."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.evaluate.diagnose import evidence
from surefoot.evaluate.diagnose.evidence import declines, holds, locatable
from surefoot.evaluate.records import traces
from surefoot.evaluate.score.lexical import f1
from surefoot.judges._diamond import metrics as diamond
from surefoot.text.words import words
from surefoot.types import Metric, Passage, Record, Score

WEAK = 0.5
"""A score up to this loses a record: a rating of 2, or of 1."""
GAPS = 0.6
"""The same limit for factuality, where 3 means that the core is there with gaps."""
STRONG = 0.7
"""A score from this up says that a stage did its work: a rating of 4, or of 5."""
_MARKER = re.compile(r"(?<!\s)\s*\[\d[\d\s,]*\]")


@dataclass(frozen=True, slots=True)
class RecordContext:
    """A record with all that its diagnosis goes by."""

    record: Record
    scores: Mapping[str, Score]
    """Those that have a value, by metric."""
    config: Mapping[str, Mapping[str, Any]]
    held: bool | None
    """True if the corpus holds the evidence; None: unknown."""
    metrics: Mapping[str, Metric] = field(default_factory=diamond)
    """The metrics by name, in the order of texts."""

    def value(self, metric: str) -> float | None:
        """The score; None: there is none."""
        return self.scores[metric].value if metric in self.scores else None

    def weak(self, metric: str) -> bool:
        """True if it is scored, and low."""
        value = self.value(metric)
        return value is not None and value <= WEAK

    def bears(self, passage: Passage) -> bool:
        """True if the passage holds a reference answer, and is about what is asked."""
        return evidence.bears(self.record.question, passage, self.record.truths)

    @property
    def answer(self) -> str:
        """The generator's words without its markers, also where they were withheld."""
        made = self.record.trace.answer if self.record.trace else None
        return _MARKER.sub("", (made.withheld or made.text) if made and made.refused else self.record.answer or "")

    @property
    def sources(self) -> tuple[Passage, ...] | None:
        """The texts that the generator was given; None: they were not kept."""
        record = self.record
        return traces.read(record.trace) if record.trace and record.contexts is None else record.contexts

    @property
    def refused(self) -> bool:
        """True if there is no answer, or one that says so."""
        if self.record.trace and self.record.trace.answer:
            return self.record.trace.answer.refused or declines(self.record.trace.answer.body)
        return self.record.answer is not None and declines(self.record.answer)

    @property
    def withheld(self) -> bool:
        """True if the pipeline refused for the model, which had said something."""
        made = self.record.trace.answer if self.record.trace else None
        return bool(made and made.refused and made.withheld)

    @property
    def right(self) -> bool | None:
        """True if the answer is right: by its factuality, or by the words of a reference answer; None: unknown."""
        value, truths, text = self.value("factuality"), self.record.truths, self.answer
        if value is not None:
            return value > GAPS
        if not truths or self.record.answer is None:
            return None
        if self.refused and (self.withheld or not holds(text, truths)):
            return False
        if not locatable(truths):
            return bool({word for truth in truths for word in words(truth)[:1]} & set(words(text)[:1]))
        return holds(text, truths) or f1(text, truths, "standard") > GAPS

    @property
    def lost(self) -> bool:
        """True if the record is one to mend."""
        verdict = self.right
        if verdict is False or (self.record.trace and self.record.trace.error):
            return True
        if verdict is None and self.record.answer is not None and self.refused:
            return True
        looked = [m for m in self.metrics.values() if not verdict or ("answer" in m.sees and "truths" not in m.sees)]
        return any(self.weak(metric.name) for metric in looked)


def quoted(text: str, most: int = 14) -> str:
    """The first `most` words of a text in quotation marks, word for word, up to the first such mark in it."""
    there = re.split("[“”]", text.strip(" \n“”"))[0].split()
    return f"“{' '.join(there[:most])}{'…' if len(there) > most else ''}”"
