"""How strong the conditional dependence is: a partial correlation of residual features, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

__all__ = ["Effect", "partial_feature_correlation"]


@dataclass(frozen=True)
class Effect:
    """A size between 0 and 1 and its confidence interval."""

    size: float  # the estimate, corrected for what noise alone would give
    low: float  # ends of the interval
    high: float
    level: float  # its nominal coverage


def partial_feature_correlation(
    u: np.ndarray, v: np.ndarray, noise_mean: float, noise_variance: float, level: float = 0.95
) -> Effect:
    """Return ``|C_uv| / sqrt(|C_uu| |C_vv|)`` in Frobenius norms, the root of the RV coefficient.

    For one feature on either side this is the absolute partial correlation. The squared norm's expectation
    under independence is subtracted first. The interval adds the variance of the linear part (delta method)
    to the variance under independence, so that it does not collapse when there is no dependence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.standard_normal((4000, 1))
    >>> v = 0.6 * u + 0.8 * rng.standard_normal((4000, 1))
    >>> effect = partial_feature_correlation(u, v, noise_mean=1.0, noise_variance=2.0)
    >>> bool(effect.low < 0.6 < effect.high), round(effect.size, 1)
    (True, 0.6)
    """
    n = len(u)
    cross = u.T @ v / n
    unit = float(np.linalg.norm(u.T @ u / n) * np.linalg.norm(v.T @ v / n))
    if unit == 0.0:
        return Effect(0.0, 0.0, 0.0, level)
    squared = (float(np.square(cross).sum()) - noise_mean / n) / unit
    influence = 2.0 * np.einsum("ij,ij->i", u @ cross, v) / unit
    variance = influence.var() / n + noise_variance / (n * unit) ** 2
    margin = stats.norm.ppf(0.5 + level / 2.0) * np.sqrt(variance)
    low, size, high = (
        float(np.sqrt(np.clip(s, 0.0, 1.0))) for s in (squared - margin, squared, squared + margin)
    )
    return Effect(size, low, high, level)
