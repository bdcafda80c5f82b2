"""Conditional mutual information from the odds of a classifier, as a function of x."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numeric.kernels import standardize
from ..numeric.neighbours import nearest_in
from .boosting import TreeBooster, bin_columns

__all__ = ["classifier_cmi", "donsker_varadhan"]

_CLIP = 1e-8  # by hand: keeps the odds of a classifier finite


def classifier_cmi(
    y: np.ndarray, z: np.ndarray | None, booster: TreeBooster, rng: np.random.Generator
) -> Callable[[np.ndarray], float]:
    """Return ``f(x)``, an estimate of I(x; y | z) in nats that may be negative.

    Half of the rows lend their y: each row of the other half gets the y of the row with the nearest z, or of
    any row without z, which imitates conditional independence. Boosted trees learn on two thirds of that half
    to tell (x, y, z) from (x, lent y, z), and their odds on the rest give the estimate. Who lends to whom
    does not depend on x, so it is found once. The columns of x are expected in the bins of `bin_columns`.

    References
    ----------
    S. Li et al. K-nearest-neighbor local sampling based conditional independence testing. NeurIPS, 2023.
    """
    n = len(y)
    lenders, rows = np.split(rng.permutation(n), [n // 2])
    n_train = 2 * len(rows) // 3
    if z is None:
        lent = rng.choice(lenders, size=len(rows))
        given = np.empty((n, 0))
    else:
        scaled = standardize(z)
        lent = lenders[nearest_in(scaled[lenders], scaled[rows], 1)[:, 0]]
        given = bin_columns(z)
    levels = bin_columns(y)
    joint_rest = np.hstack([levels[rows], given[rows]])
    exchanged_rest = np.hstack([levels[lent], given[rows]])
    seed = int(rng.integers(2**32))

    def estimate(x: np.ndarray) -> float:
        joint, exchanged = np.hstack([x[rows], joint_rest]), np.hstack([x[rows], exchanged_rest])
        probability = booster(joint[:n_train], exchanged[:n_train], seed=seed)
        return donsker_varadhan(probability(joint[n_train:]), probability(exchanged[n_train:]))

    return estimate


def donsker_varadhan(joint: np.ndarray, exchanged: np.ndarray) -> float:
    """Lower bound of the divergence of two samples from a classifier's probabilities of the first."""

    def log_odds(p: np.ndarray) -> np.ndarray:
        p = np.clip(p, _CLIP, 1.0 - _CLIP)
        return np.log(p) - np.log1p(-p)

    return float(log_odds(joint).mean() - np.log(np.exp(log_odds(exchanged)).mean()))
