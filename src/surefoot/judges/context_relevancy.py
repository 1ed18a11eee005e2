"""Context relevancy: the contexts hold what the question asks for, whole."""

import re

from surefoot.judges._diamond import metrics
from surefoot.judges._scores import BaseJudge, Finding, Unscored, chance, standalone
from surefoot.stats.text import percent
from surefoot.types import Quote, Record
from surefoot.types.protocols import Evaluator

SPLIT = 0.75
"""Factor of the value where the best context is cut off inside a sentence: a step of the five-level rubric."""
_BEGINS_INSIDE = r"\W{0,3}[a-z]|[,;:)]|\.{3}|…"
_ENDS = r"[.!?…][\"'”’)\]]*(?:\s*\[\d+\])*\s*$"
_CUT_OFF = r"(?:\.{3}|…)\s*$"
SENTENCE = 8
"""Words from which a text without a full stop is a sentence cut off, and not a heading or an entry."""


class ContextRelevancy(BaseJudge):
    """The chance, by the `evaluator`, that the best of the contexts answers the question; no language model.

    Lowered, with the reason, where its text is cut off inside a sentence.

    One good context among many is enough. An answer spread over several contexts gets less than it deserves. Without
    any context, 0. Cost: a graded pair a context.
    """

    about = metrics()["context_relevancy"]

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def find(self, record: Record) -> Finding:
        """0 without any text among the contexts."""
        texts = [passage for passage in record.contexts or () if passage.text.strip()]
        if not texts:
            return Finding(0.0, "there was no context")
        grades = self.evaluator.grade([(standalone(record), passage) for passage in texts])
        chances = [chance(grade, self.evaluator.thresholds) for grade in grades]
        known = [place for place, sure in enumerate(chances) if sure is not None]
        if not known:
            raise Unscored(f"no context could be graded: {grades[0].reason}")
        best = max(known, key=lambda place: chances[place] or 0.0)
        passage, grade, sure = texts[best], grades[best], chances[best] or 0.0
        cut = split(passage.text)
        reason = f"of {len(texts)} contexts, {passage.id} answers the question best ({percent(sure, 0)})"
        pointed = grade.pointed(passage.text)
        reason += f", with “{pointed}”" if pointed else ""
        reason += f"; it {' and '.join(cut)}, which lowers the value" if cut else ""
        quotes = (Quote(pointed, passage.id, True),) if pointed else ()
        return Finding(sure * (SPLIT if cut else 1.0), reason, quotes)


def split(text: str) -> list[str]:
    """The ends at which the text is cut off inside a sentence, in words; empty: neither."""
    whole = text.strip()
    found = ["begins inside a sentence"] if re.match(_BEGINS_INSIDE, whole) and whole != whole.lower() else []
    last = whole.splitlines()[-1] if whole else ""
    if re.search(_CUT_OFF, whole) or (len(last.split()) >= SENTENCE and not re.search(_ENDS, whole)):
        found.append("ends inside a sentence")
    return found
