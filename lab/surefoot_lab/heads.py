"""The fit that makes a linear head from labelled sets."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit

from surefoot.stats.calibration import Head

Floats = npt.NDArray[np.float64]

PENALTY = 3.0
"""Penalty on the squared weights of the standardised inputs."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A set of judged records as inputs of a head."""

    inputs: Floats
    """One row a record."""
    labels: Floats
    """1 for a right one, else 0."""
    groups: tuple[str, ...]
    """Each record's question or source."""
    say: float = 500.0
    """Weight of the set in a fit, in records, however many it has."""


def fit(
    names: Sequence[str],
    sets: Sequence[Labelled],
    against: Set[str],
    shrink: float = 0.0,
) -> Head:
    """The head for these sets, each weighted by its `say`; deterministic.

    It is restrained in two ways, so that it holds on data of other kinds. Each set has a bias of its own in the fit, so
    that no weight learns how often a set is right; the head's bias is the mean of theirs. `shrink` is the penalty on
    the squared biases: from 0 up, the inputs have to explain more of why one set is right more often than another. No
    weight may have the wrong sign: inputs of `against` speak against a verdict, all others for it.
    """
    middle = np.mean([one.inputs.mean(axis=0) for one in sets], axis=0)
    spread = np.mean([one.inputs.std(axis=0) for one in sets], axis=0) + 1e-9
    standard = (np.vstack([one.inputs for one in sets]) - middle) / spread
    which = np.concatenate([np.full(len(one.labels), place) for place, one in enumerate(sets)])
    design = np.hstack([standard, np.eye(len(sets))[which]])
    say = np.concatenate([np.full(len(one.labels), one.say / len(one.labels)) for one in sets])
    own = [-1.0 if name in against else 1.0 for name in names]
    penalty = np.array([PENALTY] * len(names) + [shrink] * len(sets))
    solved = _least(
        design, np.concatenate([one.labels for one in sets]), say, np.array(own + [0.0] * len(sets)), penalty
    )
    weights = solved[: len(names)] / spread
    bias = float(solved[len(names) :].mean() - weights @ middle)
    return Head(tuple(names), tuple(round(float(weight), 4) for weight in weights), round(bias, 4))


def _least(design: Floats, labels: Floats, say: Floats, signs: Floats, penalty: Floats) -> Floats:
    """The least penalised loss with weights of the right sign."""

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = design @ weights
        total = (say * (np.logaddexp(0, logits) - labels * logits)).sum() + (penalty * weights**2).sum() / 2
        return float(total), design.T @ (say * (expit(logits) - labels)) + penalty * weights

    bounds = [(None if sign < 1 else 0, None if sign > -1 else 0) for sign in signs]
    exact = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 100_000}
    return np.asarray(minimize(loss, np.zeros(len(signs)), jac=True, bounds=bounds, options=exact).x)
