"""Our Shapley values against those of shap."""

import warnings

import numpy as np
import pytest

from surefoot.explain.shapley import Counted, shares

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what shap imports
    shap = pytest.importorskip("shap", reason="shap is not installed")

pytestmark = pytest.mark.slow  # it is compiled first


@pytest.mark.parametrize("players", [3, 8, 12])
@pytest.mark.parametrize("seed", range(3))
def test_exact_values_agree(players: int, seed: int) -> None:
    """Of any game at all, on up to twelve players."""
    worth = np.random.default_rng(seed).normal(size=2**players)
    places = 1 << np.arange(players)
    theirs = shap.explainers.Exact(lambda rows: worth[rows.astype(int) @ places], np.zeros((1, players)))
    ours = shares(Counted(lambda masks: worth[masks @ places]), players)
    assert ours.method == "exact"
    assert ours.values == pytest.approx(theirs(np.ones((1, players))).values[0], abs=1e-9)


def test_sampled_values_agree_within_their_errors() -> None:
    """The regression's, with the exact ones of theirs."""
    worth = np.random.default_rng(4).normal(size=2**10)
    places = 1 << np.arange(10)
    theirs = shap.explainers.Exact(lambda rows: worth[rows.astype(int) @ places], np.zeros((1, 10)))
    ours = shares(Counted(lambda masks: worth[masks @ places]), 10, method="regression", tolerance=0.1)
    off = np.abs(ours.values - theirs(np.ones((1, 10))).values[0])
    assert (off < 4 * ours.errors).all()
