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
NAMES = {"en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese"}
NAMES |= {"nl": "Dutch", "pl": "Polish", "tr": "Turkish", "cjk": "Chinese or Japanese", OTHER: "another language"}


def hedged(question: str, answer: Answer, grades: Sequence[Grade], evaluator: Evaluator) -> Answer:
    """The answer, hedged where a reason is found; the generator may have found one of its own. A refusal stays one, and
    is given the reason that the question itself gives."""
    asked = _unread(question, evaluator)
    sure = not answer.hedged and any(grade.label is Action.CORRECT for grade in grades)
    if not asked and not sure and follows(question):
        asked = ALONE
    if answer.refused:
        return replace(answer, because=asked) if asked else answer
    because = asked or answer.because or ("" if answer.hedged or sure else UNSURE)
    return replace(answer, hedged=True, because=because) if because else answer


def _unread(question: str, evaluator: Evaluator) -> str:
    """Why grades say little of this question; empty: the evaluator reads its language, or any."""
    spoken = language(question)
    reads = getattr(evaluator, "reads", None)
    if not reads or not spoken or spoken in reads:
        return ""
    told, known = NAMES.get(spoken, spoken.capitalize()), " and ".join(NAMES.get(each, each) for each in reads)
    return (
        f"the question seems to be in {told}, and the evaluator reads {known}: only names and numbers count; "
        f"ask in {known}, or configure another evaluator"
    )
