"""Choices for an answer that may be wrong, with one that no source carries, and where there is no source."""

from dataclasses import dataclass, replace
from typing import Literal

from surefoot.evidence.citations import Check
from surefoot.evidence.confidence import LIKELY_RISK
from surefoot.types import Answer
from surefoot.types.ranges import Share

Fallback = Literal["refuse", "memory"]
"""Where nothing that was found is of use: a refusal, or what the model remembers, shown as that."""
REMEMBERED = "nothing that was found is of use: the model answers from its memory, which no source backs"


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """The user's choices, as `[answer]` names them."""

    check: Check = "refuse"
    fallback: Fallback = "refuse"
    risk: Share = LIKELY_RISK
    """The accepted share of wrong answers among those that are given plainly; the passages come before all others."""


def remembered(answer: Answer) -> Answer:
    """The answer of a model that had no source, hedged as that; a refusal stays one."""
    return answer if answer.refused else replace(answer, hedged=True, because=REMEMBERED)
