"""Tests of several hypotheses at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """The p-values after Holm's step-down correction (1979), in their order; at most 1."""
    adjusted, worst = [0.0] * len(p), 0.0
    for step, n in enumerate(sorted(range(len(p)), key=lambda n: p[n])):
        worst = max(worst, min(1.0, (len(p) - step) * p[n]))
        adjusted[n] = worst
    return adjusted
