"""Our metrics against scikit-learn's."""

import numpy as np
import pytest

from surefoot.stats.figures import roc_auc
from surefoot_lab.figures import average_precision, brier

theirs = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


@pytest.mark.parametrize("decimals", [0, 1, 6], ids="decimals={}".format)
@pytest.mark.parametrize("seed", range(5))
def test_metrics_agree(decimals: int, seed: int) -> None:
    """With many ties, with some, and without; weighted and not."""
    random = np.random.default_rng(seed)
    labels = random.random(300) < 0.2
    scores = (random.normal(size=300) + labels).round(decimals)
    chances = 1 / (1 + np.exp(-scores))
    weights = random.integers(4, size=300).astype(float)
    for ours, score, given in [
        (roc_auc, theirs.roc_auc_score, scores),
        (average_precision, theirs.average_precision_score, scores),
        (brier, theirs.brier_score_loss, chances),
    ]:
        one = ours(given, labels)
        assert one.value == pytest.approx(score(labels, given))
        weighted = one.weighted(weights[None, one.questions])[0]
        assert weighted == pytest.approx(score(labels, given, sample_weight=weights))
