"""A record beside its scores and the configuration: whether it is lost, and what its answer and its sources were."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from surefoot.evaluate.diagnose import evidence
from surefoot.evaluate.diagnose.evidence import declines, holds, locatable
from surefoot.evaluate.records import traces
from surefoot.evaluate.score.lexical import f1
from surefoot.judges._diamond import metrics as diamond
from surefoot.text.words import words
from surefoot.types import Metric, Passage, Record, Score

BAD, GOOD = 0.4, 0.6
"""A metric of the answer up to the first says that it is bad (a rating of 2, or of 1), and above the second that it is
good; what lies between decides nothing. Of 154 answers of two models that people had rated (MT-RAG), 21 had a context
adherence of this machine's judge up to 0.4, and 17 of these were bad; so were 20 of the 25 bad ones up to 0.6."""
WEAK = 0.5
"""A score up to this is low: it points at a stage, and a metric of one's own loses a record with it."""
VERY_LOW = 0.2
"""The same for a judge that goes by wording: context relevancy is as low for 5 to 27 % of the passages that answer, and
for 12 to 90 % of those that do not (SQuAD 2, NQ, TechQA, WixQA, MTRAG-UN)."""
GAPS = 0.6
"""Factuality up to this is wrong: 3 means that the core is there with gaps."""
STRONG = 0.7
"""A score from this up says that a stage did its work: a rating of 4, or of 5."""
UNDECIDING = ("answer_relevancy", "context_relevancy", "grading_note")
"""Metrics whose judges on this machine go by wording and form: no cut of theirs tells good answers from bad ones."""
Verdict = Literal["right", "lost", "undecided"]

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
        return value is not None and value <= (WEAK if self._tells(metric) else VERY_LOW)

    def _tells(self, metric: str) -> bool:
        """False for a score that a judge of this machine gave by wording and form."""
        score = self.scores[metric]
        return metric not in UNDECIDING or score.rating is not None or bool(score.repeats)

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
        values = [value for metric in self.metrics.values() if (value := self._telling(metric)) is not None]
        if self.record.answer is not None and self.refused:
            return "lost" if self.held or (self.value("context_relevancy") or 0.0) >= STRONG else "undecided"
        if any(value <= BAD for value in values):
            return "lost"
        return "right" if values and min(values) > GOOD else "undecided"

    def _telling(self, metric: Metric) -> float | None:
        """The score by a metric that can tell if the answer is good; where none was kept, if its contexts were."""
        score = self.scores.get(metric.name)
        if score is None or not metric.decides or ("answer" in metric.sees) is (self.record.answer is None):
            return None
        return score.value if self._tells(metric.name) else None


def quoted(text: str, most: int = 14) -> str:
    """The first `most` words of a text in quotation marks, word for word, up to the first such mark in it."""
    there = re.split("[“”]", text.strip(" \n“”"))[0].split()
    return f"“{' '.join(there[:most])}{'…' if len(there) > most else ''}”"
