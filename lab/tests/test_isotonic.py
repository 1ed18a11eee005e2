"""Our calibration against scikit-learn's isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot_lab.isotonic import fit

theirs = pytest.importorskip("sklearn.isotonic", reason="scikit-learn is not installed")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_steps_are_those_of_isotonic_regression(seed: int, weighted: bool) -> None:
    """Where each distinct score has pairs enough to be a step by itself."""
    random = np.random.default_rng(seed)
    scores = np.repeat(random.permutation(30), 40)
    labels = (random.random(len(scores)) < scores / 40 + 0.1).astype(int)
    weights = random.integers(1, 5, len(scores)).astype(float) if weighted else np.ones(len(scores))
    ours = fit(scores.tolist(), labels.tolist(), weights.tolist())
    line = theirs.IsotonicRegression().fit(scores, labels, sample_weight=weights)
    assert ours.probabilities == pytest.approx(np.unique(line.predict(np.arange(30)).round(9)))
