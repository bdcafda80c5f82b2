"""How strong the conditional dependence is: a partial correlation of residual features, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..numeric.grouped import standard_error

__all__ = ["Effect", "cosine", "noise_moments", "partial_feature_correlation"]


@dataclass(frozen=True)
class Effect:
    """A size between 0 and 1 and its confidence interval."""

    size: float  # the estimate, corrected for what noise alone would give
    low: float  # ends of the interval
    high: float
    level: float  # its nominal coverage


def partial_feature_correlation(
    u: np.ndarray,
    v: np.ndarray,
    noise_mean: float,
    noise_variance: float,
    level: float = 0.95,
    clusters: np.ndarray | None = None,
) -> Effect:
    """Return ``|C_uv| / sqrt(|C_uu| |C_vv|)`` in Frobenius norms, the root of the RV coefficient.

    For one feature on either side this is the absolute partial correlation. The squared norm's expectation
    under independence is subtracted first. The interval adds the variance of the linear part (delta method)
    to the variance under independence, so that it does not collapse when there is no dependence. Rows of
    one of the `clusters` count by their sums, and the interval is Student's.

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
    spread, quantile = influence.var() / n, stats.norm.ppf(0.5 + level / 2.0)
    if clusters is not None:
        count = len(np.unique(clusters))
        spread = float(standard_error(influence, clusters)) ** 2 * count / (count - 1)
        quantile = stats.t.ppf(0.5 + level / 2.0, count - 1)
    variance = spread + noise_variance / (n * unit) ** 2
    margin = quantile * np.sqrt(variance)
    low, size, high = (
        float(np.sqrt(np.clip(s, 0.0, 1.0))) for s in (squared - margin, squared, squared + margin)
    )
    return Effect(size, low, high, level)


def noise_moments(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Mean and variance of ``n |C_uv|²`` if u and v were independent."""
    cov_u, cov_v = u.T @ u / len(u), v.T @ v / len(v)
    mean = float(np.trace(cov_u) * np.trace(cov_v))
    return mean, float(2.0 * np.square(cov_u).sum() * np.square(cov_v).sum())


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    """Correlation of two columns without a mean; zero when one of them is zero."""
    length = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / length if length > 0.0 else 0.0
