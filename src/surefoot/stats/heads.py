"""Small linear heads: a handful of numbers in, a probability out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
