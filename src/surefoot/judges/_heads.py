"""The judges' linear heads: heads.json, which `recipes/judge_heads.py` made, holds their weights."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files

from surefoot.stats.heads import Head
from surefoot.types import Grade, Thresholds


@cache
def head(name: str) -> Head:
    """One of the package's own: "support" or "equivalence"."""
    return Head.of(json.loads(files("surefoot.judges").joinpath("heads.json").read_text(encoding="utf-8"))[name])


def chance(grade: Grade, own: Thresholds) -> float | None:
    """The evaluator's probability; where it has none, how far the score lies from the lower to the upper of its own
    thresholds. None: it could not grade."""
    if grade.score is None or not math.isfinite(grade.score):
        return None
    if grade.probability is not None:
        return grade.probability
    width = own.upper - own.lower
    return min(1.0, max(0.0, (grade.score - own.lower) / width)) if width else float(grade.score >= own.upper)
