"""Analytic mean-embedding test of Scetbon, Meunier and Romano with an L^p statistic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..nuisance.gaussian_process import marginal_likelihood_kernel
from ..null import chi2_sf, permutation_pvalue
from ..numeric.kernels import gaussian_gram, median_width, standardize
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..parameters import integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["LPCIT"]

_NULL_DRAWS = 100_000  # by hand: their p-value reaches 1e-5
_COVARIANCE_RIDGE = 1e-8  # of a correlation matrix; by hand: above its rounding, below what matters
_MOST_LOCATIONS = 1000  # the draws of the null are then 800 MB


@register(
    "lpcit",
    tags=TestTags(
        summary="analytic kernel embeddings at random locations (Scetbon et al. 2022)",
        symmetric=False,
        cost="O(n^3)",
        local=True,
        assumes="Gaussian process regressions remove Z",
        fails=(
            "when few random points miss the dependence, so power depends on the seed, and with "
            "many columns in Z"
        ),
    ),
)
class LPCIT(BaseCITest):
    """Conditional independence test by kernel evaluations at random locations.

    At each of `n_locations` random points (s, t) the Gaussian kernels k((x, z), s) and k(y, t) are bounded
    smooth functions of the data. Gaussian process regression removes their conditional means given ``z``;
    under conditional independence the products of the residuals average to zero at every location. The
    averages are whitened by their covariance.

    Notes
    -----
    With p = 2 the statistic is chi-squared with `n_locations` degrees of freedom; with p = 1 it is a sum of
    absolute standard normal variables, simulated 100 000 times, so that the p-value is at least 1e-5. The
    effect size is the root mean square over the locations of the mean product divided by its standard
    deviation.

    References
    ----------
    M. Scetbon, L. Meunier and Y. Romano. An asymptotic test for conditional independence using analytic
    kernel embeddings. ICML, 2022.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=300)
    >>> x, y = z + rng.normal(size=300), np.cos(z) + rng.normal(size=300)
    >>> LPCIT(random_state=0).test(x, y, z).reject(), LPCIT(random_state=0).test(x, y + x, z).reject()
    (False, True)
    """

    n_locations: int = integer(5, "Number of locations, at most a quarter of the rows.", most=_MOST_LOCATIONS)
    p: int = integer(1, "Exponent of the statistic; the authors recommend 1.", most=2)

    def _run(self, data: CIData, seed: int) -> Outcome:
        if self.n_locations > data.n // 4:
            raise ParameterError(
                f"n_locations must be at most a quarter of the rows ({data.n // 4}), got {self.n_locations!r}"
            )
        require_memory(data.n, 3, method="lpcit", instead="rcit")
        rng = generator(seed, "lpcit")
        y = standardize(data.y.values)
        z = None if data.z is None else standardize(data.z.values)
        joint = standardize(data.x.values) if z is None else np.hstack([standardize(data.x.values), z])
        diagnostics: dict[str, Any] = {}
        left = []
        for role, values in (("x", joint), ("y", y)):
            features = kernel_at_locations(values, self.n_locations, rng)
            if z is None:
                left.append(features - features.mean(axis=0))
            else:
                residuals, width, ridge = _gp_residuals(z, features)
                left.append(residuals)
                diagnostics |= {f"width_z_for_{role}": width, f"ridge_for_{role}": ridge}
        return self._outcome(left[0] * left[1], diagnostics, rng)

    def _outcome(self, products: np.ndarray, diagnostics: dict, rng: np.random.Generator) -> Outcome:
        deviation = products.std(axis=0)
        products = products[:, deviation > 1e-100]
        n_varying = products.shape[1]
        diagnostics["n_varying_locations"] = n_varying
        if n_varying == 0:
            message = "the kernels at the locations do not vary given z: the p-value is one"
            return Outcome(0.0, 1.0, NullDistribution("chi2"), 0.0, diagnostics, (message,))
        whitened = np.abs(whitened_mean(products))
        statistic = float((whitened**self.p).sum())
        effect = math.sqrt(float(((products.mean(axis=0) / products.std(axis=0)) ** 2).mean()))
        if self.p == 2:
            null = NullDistribution("chi2", {"df": n_varying})
            return Outcome(statistic, chi2_sf(statistic, n_varying), null, effect, diagnostics)
        draws = np.abs(rng.standard_normal((_NULL_DRAWS, n_varying))).sum(axis=1)
        null = NullDistribution("sum_of_half_normals", {"n": n_varying, "n_draws": _NULL_DRAWS})
        return Outcome(statistic, permutation_pvalue(statistic, draws), null, effect, diagnostics)


def kernel_at_locations(values: np.ndarray, n_locations: int, rng: np.random.Generator) -> np.ndarray:
    """Gaussian kernel between each centred row and random normal points with the covariance of the data."""
    # A random combination of the centred rows has the covariance of the data and needs no factorisation.
    mixing = rng.standard_normal((n_locations, len(values))) / math.sqrt(len(values))
    return gaussian_gram(values, median_width(values), mixing @ values)


def whitened_mean(products: np.ndarray) -> np.ndarray:
    """Root-n mean of the rows times the inverse square root of their covariance."""
    # On a common scale first: a location in an empty region has products of any small size, and no ridge
    # would suit them all.
    scaled = products / products.std(axis=0)
    values, vectors = np.linalg.eigh(np.cov(scaled, rowvar=False, ddof=0).reshape(scaled.shape[1], -1))
    shrunk = np.maximum(values, 0.0) + _COVARIANCE_RIDGE
    return vectors @ ((vectors.T @ scaled.mean(axis=0)) * math.sqrt(len(products)) / np.sqrt(shrunk))


def _gp_residuals(z: np.ndarray, features: np.ndarray) -> tuple[np.ndarray, float, float]:
    centred = features - features.mean(axis=0)
    width, ridge = marginal_likelihood_kernel(z, centred @ centred.T)
    system = gaussian_gram(z, width)
    system.flat[:: len(system) + 1] += ridge
    factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    return ridge * linalg.cho_solve(factor, centred, check_finite=False), width, ridge
