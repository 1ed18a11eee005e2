"""Grading and correcting passages of one's own, without an index, a search or a model that writes.

import surefoot
grades = surefoot.grade("Who built the bridge?", ["Tomas Aldwin built it in 1911.", "It is closed."])
trace = surefoot.correct("Who built the bridge?", passages)
print(trace.decision.action, [strip.text for strip in trace.kept_strips])
"""

from collections.abc import Sequence
from functools import cache
from threading import Lock

from surefoot.config.builder import load
from surefoot.evidence.passages import Text
from surefoot.pipeline import Pipeline
from surefoot.retrievers._given import Given
from surefoot.types import Grade, Trace


def grade(question: str, texts: Sequence[Text]) -> tuple[Grade, ...]:
    """The grade of each text, in order, with its label: the shipped evaluator at its own thresholds.

    A text is a str, a `Passage`, or a mapping of its fields. Orders to the machine and repetitions of the question
    count for nothing. The first call loads the model, about a second; later ones, by any thread, share it. Reads
    no configuration; for another evaluator: `surefoot.load(…).grade`. Raises QuestionError, UsageError, and ModelError
    where the model does not load.
    """
    return _shared().grade(question, texts)


def correct(question: str, passages: Sequence[Text]) -> Trace:
    """The trace of grading these passages, deciding, and refining; all else as in `grade`.

    `decision` says what to do: answer from `kept_strips`, those that help (CORRECT), search beside them (AMBIGUOUS), or
    search instead (INCORRECT). Of passages with one id the first counts, and a step says so.
    """
    return _shared().correct(question, passages)


def _shared() -> Pipeline:
    """One pipeline of the defaults, built when it is first wanted."""
    with _LOCK:
        return _built()


@cache
def _built() -> Pipeline:
    return load({}, parts={"retriever": Given()})


_LOCK = Lock()
