"""Small linear heads: a handful of numbers in, a probability out. heads.json, which `recipes/judge_heads.py` made,
holds their weights."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from surefoot.types import Grade, Thresholds


@dataclass(frozen=True, slots=True)
class Head:
    """Logistic regression over named inputs."""

    inputs: tuple[str, ...]
    weights: tuple[float, ...]
    bias: float

    def probability(self, values: Sequence[float]) -> float:
        """The probability, in (0, 1), for the inputs' values in their order."""
        logit = self.bias + sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


@cache
def head(name: str) -> Head:
    """One of the package's own: "support" or "equivalence"."""
    told = json.loads(files("surefoot.judges").joinpath("heads.json").read_text(encoding="utf-8"))[name]
    return Head(tuple(told["inputs"]), tuple(told["weights"]), told["bias"])


def chance(grade: Grade, own: Thresholds) -> float | None:
    """The evaluator's probability; where it has none, how far the score lies from the lower to the upper of its own
    thresholds. None: it could not grade."""
    if grade.score is None or not math.isfinite(grade.score):
        return None
    if grade.probability is not None:
        return grade.probability
    width = own.upper - own.lower
    return min(1.0, max(0.0, (grade.score - own.lower) / width)) if width else float(grade.score >= own.upper)
