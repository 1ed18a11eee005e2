"""The linear heads of the judges, and what an evaluator's grade is worth as a chance."""

from __future__ import annotations

import pytest

from judge_heads import AGAINST
from surefoot.judges import _equivalence as equivalence, _support as support
from surefoot.judges._heads import chance, head
from surefoot.types import Grade, Thresholds

OWN = Thresholds(0.8, 0.4, 0.5, "some")


@pytest.mark.parametrize(("name", "inputs"), [("equivalence", equivalence.NAMES), ("support", support.NAMES)])
def test_a_shipped_head_weighs_what_its_judge_gives_it(name: str, inputs: tuple[str, ...]) -> None:
    """The same inputs in the same order, none with the wrong sign."""
    shipped = head(name)
    assert shipped.inputs == inputs
    assert all(weight * (-1 if key in AGAINST else 1) >= 0 for key, weight in zip(inputs, shipped.weights, strict=True))


def test_a_grade_without_a_probability_is_placed_between_its_thresholds() -> None:
    """And one that could not be given is None, whatever else it says."""
    assert chance(Grade("p", -3.0, 0.7), OWN) == 0.7
    assert chance(Grade("p", 0.6), OWN) == pytest.approx(0.5)
    assert [chance(Grade("p", score), OWN) for score in (0.0, 1.0)] == [0.0, 1.0]
    assert chance(Grade("p", 0.5), Thresholds(0.5, 0.5, 0.5, "a step")) == 1.0
    assert chance(Grade("p", None), OWN) is None
    assert chance(Grade("p", float("nan"), 0.5), OWN) is None
