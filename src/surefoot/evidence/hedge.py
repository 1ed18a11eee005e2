"""Reasons to show the passages before an answer, since it may not answer what was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from surefoot.protocols import Evaluator
from surefoot.text.follow_up import follows
from surefoot.text.languages import OTHER, language
from surefoot.types import Action, Answer, Grade

ALONE = "it goes on from an earlier question; ask it whole, or ask both in `surefoot chat`"
UNSURE = "no passage is graded CORRECT"
NAMES = {"de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch"}
NAMES |= {"pl": "Polish", "tr": "Turkish", "cjk": "Chinese or Japanese", OTHER: "another language"}


def hedged(question: str, answer: Answer, grades: Sequence[Grade], evaluator: Evaluator) -> Answer:
    """The answer, hedged where a reason is found; the generator may have found one of its own. A refusal is none."""
    if answer.refused or answer.hedged:
        return answer
    because = _because(question, grades, evaluator)
    return replace(answer, hedged=True, because=because) if because else answer


def _because(question: str, grades: Sequence[Grade], evaluator: Evaluator) -> str:
    spoken = language(question)
    reads = getattr(evaluator, "reads", None)
    if reads and spoken and spoken not in reads:
        told = NAMES.get(spoken, spoken.capitalize())
        return (
            f"the question seems to be in {told}, and the evaluator reads {', '.join(reads)}; names and numbers count"
        )
    if any(grade.label is Action.CORRECT for grade in grades):
        return ""
    return ALONE if follows(question) else UNSURE
