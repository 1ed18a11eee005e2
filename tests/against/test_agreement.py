"""Our agreement with people against scipy's and scikit-learn's figures."""

import numpy as np
import pytest

from surefoot.evaluate.score.agreement import nmae, tau_b
from surefoot.evaluate.score.correction import _student
from surefoot.stats.figures import Statistic

stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


def weighted(statistic: Statistic, weights: np.ndarray) -> float:
    return float(statistic.weighted(weights[None, statistic.questions].astype(float))[0])


@pytest.mark.parametrize("levels", [2, 5, 1000], ids="levels={}".format)
@pytest.mark.parametrize("seed", range(3))
def test_rank_correlations_agree(levels: int, seed: int) -> None:
    """With many ties, with some, with few; in a resample as in a sample with every draw written out."""
    random = np.random.default_rng(seed)
    people = random.integers(5, size=80)
    judge = ((people + random.normal(0, 2, 80)) * levels / 9).round()
    weights = random.integers(3, size=80)
    drawn = np.repeat(np.arange(80), weights)
    for one, two in ((judge, people), (people, judge)):
        found = tau_b(one, two)
        assert found.value == pytest.approx(stats.kendalltau(one, two).statistic)
        assert weighted(found, weights) == pytest.approx(stats.kendalltau(one[drawn], two[drawn]).statistic)


def test_nmae_is_the_mean_absolute_error_over_four() -> None:
    """Of ratings from 1 to 5."""
    random = np.random.default_rng(0)
    people, judge = random.integers(1, 6, size=(2, 80))
    theirs = metrics.mean_absolute_error(people, judge) / 4
    assert nmae((judge - 1) / 4, (people - 1) / 4).value == pytest.approx(theirs)


@pytest.mark.parametrize("free", [4, 5, 10, 30, 1000])
def test_students_quantile_agrees(free: int) -> None:
    """Within a thousandth."""
    assert _student(free) == pytest.approx(stats.t.ppf(0.975, free), abs=0.001)
