"""One p-value for a search: many maxima, drawn under the same random signs, and the most surprising of them.

A maximum over directions has no closed-form null distribution, and redrawing it is expensive. Its
distribution is smooth and narrow, though, so a few hundred draws determine it: three moments of each
statistic give its p-value in the far tail too, and the number of independent statistics that the smallest
p-value behaves like gives the joint one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from .bounds import as_pvalue

__all__ = ["SearchP", "effective_number", "fitted_sf", "joint_sf", "smallest_p"]

# Third moments of a few hundred draws are noisy; those of norms of random matrices are small and positive.
_SKEWNESS_RANGE = (0.05, 2.0)
_LOWER_SHARE = 0.5  # by hand: of the draws; the others never come near to rejecting
_BELOW_ONE = 1.0 - 1e-12  # the logarithm of one minus a p-value stays finite


@dataclass(frozen=True, eq=False)
class SearchP:
    """The p-value of a search."""

    pvalue: float  # calibrated for having searched
    pvalues: np.ndarray  # the statistics' p-values, each calibrated for the search
    effective: float  # number of independent statistics that the smallest p-value behaves like


def fitted_sf(draws: np.ndarray, statistic: np.ndarray | float) -> np.ndarray:
    """Return the tail of the shifted gamma distribution with the draws' first three moments.

    Examples
    --------
    >>> draws = np.random.default_rng(0).gamma(50.0, size=20000)
    >>> bool(abs(float(fitted_sf(draws, 65.0)) / float(stats.gamma.sf(65.0, 50.0)) - 1.0) < 0.05)
    True
    """
    mean, spread = draws.mean(), draws.std()
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return np.ones_like(np.asarray(statistic, dtype=float))
    skewness = float(np.clip(stats.skew(draws), *_SKEWNESS_RANGE))
    shape = 4.0 / skewness**2
    standardised = (np.asarray(statistic, dtype=float) - mean) / spread
    tail = special.gammaincc(shape, np.maximum(shape + standardised * np.sqrt(shape), 0.0))
    return np.maximum(tail, np.finfo(float).tiny)


def effective_number(smallest: np.ndarray) -> float:
    """Return how many independent p-values have a smallest one that is distributed like these.

    Maximum likelihood for the distribution function 1 - (1 - p)^m, in which all but the lower half of the
    values are censored: the small ones are those that matter.

    Examples
    --------
    >>> draws = np.random.default_rng(0).uniform(size=(20000, 7)).min(axis=1)
    >>> bool(abs(effective_number(draws) - 7.0) < 0.2)
    True
    """
    cut = np.quantile(smallest, _LOWER_SHARE)
    exposure = -np.log1p(-np.minimum(np.minimum(smallest, cut), _BELOW_ONE)).sum()
    return max(1.0, np.count_nonzero(smallest <= cut) / max(exposure, 1e-300))


def joint_sf(pvalue: np.ndarray | float, number: float) -> np.ndarray:
    """Return the chance that the smallest of `number` independent p-values is at most `pvalue`."""
    return -np.expm1(number * np.log1p(-np.minimum(pvalue, _BELOW_ONE)))


def smallest_p(statistics: np.ndarray, draws: np.ndarray) -> SearchP:
    """Combine statistics by the smallest of their p-values."""
    own = np.array([fitted_sf(d, np.append(t, d)) for d, t in zip(draws.T, statistics, strict=True)])
    number = effective_number(own[:, 1:].min(axis=0))
    pvalues = joint_sf(own[:, 0], number)
    return SearchP(as_pvalue(float(pvalues.min())), pvalues, number)
