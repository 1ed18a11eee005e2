"""A third-party policy: `[policy] use = "two_witnesses"`."""

from collections.abc import Sequence
from dataclasses import replace

from surefoot import Action, Decision, Grade, Threshold, Thresholds


class TwoWitnesses:
    """The paper's trigger, but one good passage alone is only AMBIGUOUS."""

    name = "two-witnesses"

    def __init__(self, thresholds: Thresholds, witnesses: int = 2) -> None:
        self.thresholds = thresholds
        self.witnesses = witnesses

    def decide(self, grades: Sequence[Grade], rewrites: int = 0) -> Decision:
        decision = replace(Threshold(self.thresholds).decide(grades), policy=self.name)
        good = sum(grade.score is not None and grade.score >= self.thresholds.upper for grade in grades)
        if decision.action is Action.CORRECT and good < self.witnesses:
            return replace(decision, action=Action.AMBIGUOUS, because=f"{good} of {self.witnesses} witnesses reach τ+")
        return decision
