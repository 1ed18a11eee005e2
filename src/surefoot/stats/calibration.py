"""Scores as probabilities: calibration of an evaluator, and small linear heads over a handful of numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Head:
    """Logistic regression over named inputs."""

    inputs: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Head:
        """The head that a JSON object with these fields describes."""
        return cls(tuple(described["inputs"]), tuple(described["weights"]), described["bias"])

    def probability(self, values: Sequence[float]) -> float:
        """The probability, in (0, 1), for the inputs' values in their order."""
        logit = self.bias + sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0
