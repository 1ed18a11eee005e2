"""Calibration of an evaluator's raw scores to probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising line through knots: a higher score never has a lower probability. Raises ValueError for other knots."""

    scores: tuple[float, ...]
    """Ascending."""
    probabilities: tuple[float, ...]
    """The probability of each score; ascending, in [0, 1]."""

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in pairwise(self.scores))
        bounded = [0.0, *self.probabilities, 1.0]
        if not self.scores or len(self.scores) != len(self.probabilities) or not rising or bounded != sorted(bounded):
            raise ValueError("a calibration needs ascending scores, each with a probability, and those never falling")

    def probability(self, score: float) -> float:
        """The chance that a passage with this score holds the answer; beyond the knots, that of the last one."""
        return float(np.interp(score, self.scores, self.probabilities))
