"""From scores to probabilities that mean what they say."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from surefoot.stats.calibration import Calibration
from surefoot_lab.figures import expected_calibration_error
from surefoot_lab.isotonic import fit

numbers = st.floats(-1e3, 1e3)
pairs = st.lists(st.tuples(numbers, st.integers(0, 1), st.floats(0.1, 10)), min_size=1, max_size=300)


@given(pairs, st.lists(numbers, min_size=2, max_size=20))
def test_a_higher_score_is_never_less_likely(given_pairs: list[tuple[float, int, float]], queries: list[float]) -> None:
    """And every probability lies in [0, 1], for any scores, labels and weights."""
    fitted = fit(*zip(*given_pairs, strict=True))
    chances = [fitted.probability(score) for score in sorted(queries)]
    assert all(0 <= chance <= 1 for chance in chances)
    assert all(a <= b + 1e-12 for a, b in pairwise(chances))


def test_probabilities_are_calibrated() -> None:
    """On pairs that it was not fitted on, of which we know the truth."""
    random = np.random.default_rng(0)
    scores = random.normal(size=8000)
    labels = (random.random(8000) < 1 / (1 + np.exp(-3 * scores))).astype(int)
    fitted = fit(scores[:4000].tolist(), labels[:4000].tolist())
    chances = [fitted.probability(score) for score in scores[4000:]]
    error = expected_calibration_error(chances, labels[4000:]).value
    assert error is not None
    assert error < 0.03
    assert fitted.probability(2) > 0.9 > 0.1 > fitted.probability(-2)


def test_a_step_stands_on_at_least_25_pairs() -> None:
    """One lucky pair at the top is no certainty."""
    scores = list(range(60))
    assert fit(scores, [0] * 59 + [1]).probabilities == pytest.approx((0.5 / 26, 1 / 35))
    assert fit(scores[:49], [0] * 48 + [1]).probabilities == pytest.approx((1 / 49,))


def test_beyond_the_knots_it_stays_as_it_is() -> None:
    """Nothing was seen there."""
    fitted = Calibration((0.0, 1.0), (0.2, 0.8))
    assert [fitted.probability(score) for score in (-9, 0, 0.5, 1, 9)] == pytest.approx([0.2, 0.2, 0.5, 0.8, 0.8])


def test_without_scores_there_is_nothing_to_fit() -> None:
    """Which is said, not passed over."""
    with pytest.raises(ValueError, match="no scores"):
        fit([], [])


@pytest.mark.parametrize(
    ("scores", "chances"),
    [((), ()), ((1.0,), ()), ((1.0, 1.0), (0.1, 0.2)), ((0.0, 1.0), (0.2, 0.1)), ((0.0,), (1.1,)), ((0.0,), (-0.1,))],
)
def test_knots_that_do_not_rise_are_refused(scores: tuple[float, ...], chances: tuple[float, ...]) -> None:
    """A line that falls would turn the order of passages round."""
    with pytest.raises(ValueError, match="ascending"):
        Calibration(scores, chances)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_steps_are_those_of_isotonic_regression(seed: int, weighted: bool) -> None:
    """As scikit-learn gives them, where each distinct score has pairs enough to be a step by itself."""
    theirs = pytest.importorskip("sklearn.isotonic", reason="scikit-learn is not installed")
    random = np.random.default_rng(seed)
    scores = np.repeat(random.permutation(30), 40)
    labels = (random.random(len(scores)) < scores / 40 + 0.1).astype(int)
    weights = random.integers(1, 5, len(scores)).astype(float) if weighted else np.ones(len(scores))
    ours = fit(scores.tolist(), labels.tolist(), weights.tolist())
    line = theirs.IsotonicRegression().fit(scores, labels, sample_weight=weights)
    assert ours.probabilities == pytest.approx(np.unique(line.predict(np.arange(30)).round(9)))
