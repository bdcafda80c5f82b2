"""One p-value for a search: many maxima, drawn under the same random signs, and the most surprising of them.

A maximum over directions has no closed-form null distribution, and redrawing it is expensive. Its
distribution is smooth and narrow, though, so a few hundred draws determine it: three moments of each
statistic give its p-value in the far tail too, and the number of independent statistics that the smallest
p-value behaves like gives the joint one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from .bounds import as_pvalue

__all__ = ["Search", "SearchNull", "effective_number", "fitted_sf", "joint_sf", "smallest_p"]

# Third moments of a few hundred draws are noisy; those of norms of random matrices are small and positive.
_SKEWNESS_RANGE = (0.05, 2.0)
_LOWER_SHARE = 0.5  # by hand: of the draws; the others never come near to rejecting
_BELOW_ONE = 1.0 - 1e-12  # the logarithm of one minus a p-value stays finite


@dataclass(frozen=True, eq=False)
class SearchNull:
    """Null distribution of minus the logarithm of the smallest p-value of a search."""

    draws: np.ndarray  # values under random signs, shape (n_draws,)
    number: float  # how many independent p-values have such a smallest one

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail of the smallest of that many independent p-values."""
        return np.maximum(joint_sf(np.exp(-np.asarray(statistic)), self.number), np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class Search:
    """The most surprising of several statistics."""

    statistic: float  # minus the logarithm of the smallest p-value
    null: SearchNull
    pvalues: np.ndarray  # the statistics' p-values, each calibrated for the search

    @property
    def pvalue(self) -> float:
        """The search's own p-value."""
        return as_pvalue(float(self.null.sf(self.statistic)))


def fitted_sf(draws: np.ndarray, statistic: np.ndarray | float) -> np.ndarray:
    """Return the tail of the shifted gamma distribution with the draws' first three moments.

    Examples
    --------
    >>> draws = np.random.default_rng(0).gamma(50.0, size=20000)
    >>> bool(abs(float(fitted_sf(draws, 65.0)) / float(special.gammaincc(50.0, 65.0)) - 1.0) < 0.05)
    True
    """
    mean, spread = draws.mean(), draws.std()
    if spread <= 1e-12 * max(abs(mean), 1e-300):
        return np.ones_like(np.asarray(statistic, dtype=float))
    skewness = np.clip(np.mean(((draws - mean) / spread) ** 3), *_SKEWNESS_RANGE)
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


def smallest_p(statistics: np.ndarray, draws: np.ndarray, deviations: np.ndarray) -> Search:
    """Search for the statistic with the smallest p-value.

    Parameters
    ----------
    statistics
        Their values, each that of a linear functional which the data have chosen.
    draws
        Values of the same searches under random signs, one row per draw.
    deviations
        Standard deviation of each chosen functional under random signs, were it given in advance. A few
        hundred draws say nothing about the far tail; what was searched for cannot surprise more than the
        same functional without a search.
    """
    own = np.array([fitted_sf(d, np.append(t, d)) for d, t in zip(draws.T, statistics, strict=True)])
    smallest = own[:, 1:].min(axis=0)
    number = effective_number(smallest)
    ratio = np.divide(statistics, deviations, out=np.zeros(len(own)), where=deviations > 0)
    observed = np.maximum(own[:, 0], special.erfc(ratio / np.sqrt(2.0)))
    null = SearchNull(-np.log(smallest), number)
    return Search(-float(np.log(observed.min())), null, joint_sf(observed, number))
