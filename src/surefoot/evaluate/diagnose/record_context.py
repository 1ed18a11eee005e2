"""A record beside its scores and the configuration: whether it is lost, and what its answer and its sources were."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.evaluate.diagnose import evidence
from surefoot.evaluate.diagnose.evidence import declines, holds, locatable
from surefoot.evaluate.records import traces
from surefoot.evaluate.score.calibration import FACTUALITY, Calibration, Cuts, shipped
from surefoot.evaluate.score.lexical import f1
from surefoot.judges._diamond import metrics as diamond
from surefoot.text.words import words
from surefoot.types import Metric, Passage, Record, Score, Verdict

WEAK = 0.5
"""Scores up to this are counted as low in a text."""
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
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    """By metric; of one that has none the shipped cuts hold."""

    def value(self, metric: str) -> float | None:
        """The score; None: there is none."""
        return self.scores[metric].value if metric in self.scores else None

    def weak(self, metric: str) -> bool:
        """True if it is scored, and low."""
        value = self.value(metric)
        return value is not None and (low := self._cuts(metric).low) is not None and value <= low

    def _cuts(self, metric: str) -> Cuts:
        score = self.scores[metric]
        return self.calibrations[metric].of(score) if metric in self.calibrations else shipped(score)

    def _verdict(self, metric: str) -> Verdict | None:
        """The verdict by one metric; None: it is not scored, or no score of it decides anything."""
        value = self.value(metric)
        return None if value is None or self._cuts(metric).silent else self._cuts(metric).verdict(value)

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
        """True if the answer is right: by its factuality, or by the words of a reference answer, and a refusal where
        nothing answers the question; None: unknown."""
        if not self.record.answerable:
            return None if self.record.answer is None else self.refused
        truths, text = self.record.truths, self.answer
        if self.value("factuality") is not None:
            return {"right": True, "lost": False}.get(self._verdict("factuality") or "")
        if not truths or self.record.answer is None:
            return None
        if self.refused and (self.withheld or not holds(text, truths)):
            return False
        if not locatable(truths):
            return bool({word for truth in truths for word in words(truth)[:1]} & set(words(text)[:1]))
        return holds(text, truths) or FACTUALITY.verdict(f1(text, truths, "standard")) == "right"

    @property
    def own(self) -> list[str]:
        """The metrics beside the diamond's that lose a record with a low score."""
        return [name for name, metric in self.metrics.items() if name not in diamond() and metric.decides]

    @property
    def verdict(self) -> Verdict:
        """Lost: one to mend. By the reference answer, where there is one; else by the metrics that can tell, and
        undecided where none does, or where nothing shows that an answer was there to be given."""
        if (self.record.trace and self.record.trace.error) or self.right is False or any(map(self.weak, self.own)):
            return "lost"
        if self.right:
            return "right"
        if self.value("factuality") is not None:
            return "undecided"
        if self.record.answer is not None and self.refused:
            return "lost" if self.held or (self.value("context_relevancy") or 0.0) >= STRONG else "undecided"
        found = {self._verdict(name) for name, one in self.metrics.items() if self._answers(one)} - {None}
        return "lost" if "lost" in found else "right" if found == {"right"} else "undecided"

    def _answers(self, metric: Metric) -> bool:
        """True if it says whether the answer is good; where none was kept, whether its contexts are."""
        return metric.decides and ("answer" in metric.sees) is (self.record.answer is not None)


def quoted(text: str, most: int = 14) -> str:
    """The first `most` words of a text in quotation marks, word for word, up to the first such mark in it."""
    there = re.split("[“”]", text.strip(" \n“”"))[0].split()
    return f"“{' '.join(there[:most])}{'…' if len(there) > most else ''}”"
