"""Linear heads, and how a fit finds their weights."""

import numpy as np
import pytest

from surefoot.stats.calibration import Head
from surefoot_lab.heads import Labelled, fit

RANDOM = np.random.default_rng(0)


def made(bias: float, records: int = 400) -> Labelled:
    """Right by the first input; the second is noise, and "figures" speaks against it."""
    inputs = RANDOM.normal(size=(records, 3))
    chances = 1 / (1 + np.exp(-(2 * inputs[:, 0] - inputs[:, 2] + bias)))
    return Labelled(inputs, (RANDOM.random(records) < chances).astype(float), ("",) * records)


def test_a_fit_finds_what_the_labels_hang_on() -> None:
    """Each weight near the one that made them, whatever the sets' shares of right answers."""
    head = fit(("a", "b", "figures"), [made(-2.0), made(2.0)], {"figures"})
    assert head.weights[0] == pytest.approx(2, abs=0.4)
    assert abs(head.weights[1]) < 0.2
    assert head.weights[2] == pytest.approx(-1, abs=0.4)
    assert head.bias == pytest.approx(0, abs=0.5)


def test_no_weight_has_the_wrong_sign() -> None:
    """Where the labels say so, it is 0: more of what speaks for a verdict never lowers it."""
    turned = [Labelled(-one.inputs, one.labels, one.groups) for one in (made(0.0), made(0.0))]
    head = fit(("a", "b", "figures"), turned, {"figures"})
    assert (head.weights[0], head.weights[2]) == (0.0, 0.0)


def test_shrunk_biases_leave_more_to_the_inputs() -> None:
    """Two sets that differ in the first input and in how often they are right: it explains the more of that."""
    low, high = made(-2.0), made(2.0)
    sets = [Labelled(low.inputs - 1, low.labels, low.groups), Labelled(high.inputs + 1, high.labels, high.groups)]
    free, bound = (fit(("a", "b", "c"), sets, {"c"}, shrink=shrink).weights[0] for shrink in (0.0, 1000.0))
    assert bound > free + 0.2


def test_a_head_is_a_logistic_regression() -> None:
    """Half a chance at 0, and never outside (0, 1)."""
    even = Head(("a", "b"), (2.0, -1.0), 0.5)
    assert even.probability((0.0, 0.5)) == 0.5
    assert even.probability((1.0, 0.0)) == pytest.approx(0.924, abs=0.001)
    assert Head(("a",), (-1e9,), 0.0).probability((1.0,)) == 0.0
