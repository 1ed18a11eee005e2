"""Choices for an answer that may be wrong, with one that no source carries, and where there is no source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

from surefoot.evidence.citations import Check
from surefoot.types import Answer
from surefoot.types.errors import ConfigError

Fallback = Literal["refuse", "memory"]
"""Where nothing that was found is of use: a refusal, or what the model remembers, shown as that."""
REMEMBERED = "nothing that was found is of use: the model answers from its memory, which no source backs"


@dataclass(frozen=True, slots=True)
class AnswerPolicy:
    """The user's choices, as `[answer]` names them."""

    check: Check = "refuse"
    fallback: Fallback = "refuse"
    risk: float = 0.25
    """The accepted share of wrong answers among those that are given plainly; the passages come before all others."""

    def __post_init__(self) -> None:
        if not 0 <= self.risk <= 1:
            raise ConfigError(f"[answer] risk must be a share from 0 to 1, not {self.risk!r}")
        for key, value, known in (("check", self.check, Check), ("fallback", self.fallback, Fallback)):
            if value not in get_args(known):
                raise ConfigError(f"[answer] {key} must be one of {', '.join(get_args(known))}, not {value!r}")


def remembered(answer: Answer) -> Answer:
    """The answer of a model that had no source, hedged as that; a refusal stays one."""
    return answer if answer.refused else replace(answer, hedged=True, because=REMEMBERED)
