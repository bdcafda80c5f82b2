"""Has what Z explains been learned from these rows? Two answers, each from one fit per side.

**More rows would help.** A smoother chosen on half of the rows predicts the other half. If it is clearly
worse there than the fit on all rows, beyond what its variance accounts for, then the structure is still being
learned, and what is not yet learned stays in the residuals. That is bias of one side; it matters if the other
side has it too.

**The fit shrinks itself.** A smoother H that leaves (I - H) m of the mean m leaves about as much of its own
fit, (I - H) H x. The product of both sides' is an estimate of the shared remainder (the idea of twicing).

References
----------
Stuetzle, Mittal (1979). Some comments on the asymptotic behavior of robust smoothers. Smoothing Techniques
for Curve Estimation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg
from scipy.spatial import cKDTree

from .fits import NuisanceFit
from .jumps import LeafIndicators
from .maps import FeatureMap
from .selection import SmootherFit
from .sums import SumOfMaps

if TYPE_CHECKING:
    from .search import Search

__all__ = ["learning_gap", "neighbours_agree", "shared_remainder"]

_FARTHEST = 25.0  # times the median squared error: a row farther off does not decide about the others


def learning_gap(search: Search, chosen: SmootherFit, targets: np.ndarray) -> tuple[float, float]:
    """Return by what share a fit on half of the rows predicts worse, variance apart, and that share's error.

    Nothing is said of fits with leaves of trees, whose own leave-one-out error is too small to compare with.
    """
    if _has_leaves(chosen.smoother.feature_map):
        return 0.0, 0.0
    n = len(targets)
    order = np.random.default_rng(n).permutation(n)  # fixed: the answer must not depend on the test's seed
    known, new = np.sort(order[: n // 2]), np.sort(order[n // 2 :])
    unit = targets / np.maximum(targets.std(axis=0), 1e-300)
    half = search.on_rows(known)
    fit = half.location(unit[known])
    errors = np.square(unit[new] - _predicted(fit, search.z[known], search.z[new], unit[known])).mean(axis=1)
    errors = np.minimum(errors, _FARTHEST * np.median(errors) + chosen.loss) / (1.0 + _variance(fit))
    losses = chosen.row_losses[new] / (1.0 + _variance(chosen))
    excess = (errors - losses) / max(losses.mean(), 1e-300)
    return float(excess.mean()), float(excess.std() / np.sqrt(len(new)))


def _has_leaves(feature_map: FeatureMap | None) -> bool:
    if isinstance(feature_map, SumOfMaps):
        return _has_leaves(feature_map.second)
    return isinstance(feature_map, LeafIndicators)


def _variance(fit: SmootherFit) -> float:
    """Return the variance of the prediction at a new row, in units of the noise.

    It is the trace of HH' over the degrees of freedom that are left: of least squares on d columns,
    ``d / (n - d)``, which with half of the rows is far more than twice that with all of them.
    """
    smoother, kept = fit.smoother, fit.smoother.shrinkage(fit.best_penalty)
    fixed = smoother.fixed.shape[1]
    return float((fixed + np.square(kept).sum()) / max(smoother.n - fixed - kept.sum(), 1.0))


def _predicted(fit: SmootherFit, known: np.ndarray, new: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the fit's predictions at new rows of Z."""
    inside, outside = np.zeros_like(targets), np.zeros((len(new), targets.shape[1]))
    feature_map = fit.smoother.feature_map
    if feature_map is not None:
        coefficients = fit.smoother.feature_coefficients(targets, fit.best_penalty)
        inside, outside = feature_map(known) @ coefficients, feature_map(new) @ coefficients
    linear = linalg.lstsq(_with_ones(known), targets - inside, check_finite=False)[0]
    return outside + _with_ones(new) @ linear


def _with_ones(z: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(z)), z])


def shared_remainder(x: NuisanceFit, y: NuisanceFit) -> float:
    """Return the product of what both fits leave of themselves, in standard errors of that of residuals."""
    left_x, left_y = x.remove(x.targets), y.remove(y.targets)
    own_x, own_y = (fit.remove(fit.targets - left) for fit, left in ((x, left_x), (y, left_y)))
    spread = np.square(left_x).sum(axis=1) @ np.square(left_y).sum(axis=1)
    return float(np.sqrt(np.square(own_x.T @ own_y).sum() / max(spread, 1e-300)))


def neighbours_agree(z: np.ndarray, missed: np.ndarray, codes: np.ndarray | None = None) -> float:
    """Return by how many standard errors misses agree with those of the nearest row.

    Twins are left out, and so are neighbours of one group, by their `codes`, which agree in any case.
    """
    distance, neighbour = cKDTree(z).query(z, k=2)
    apart = distance[:, 1] > 0
    if codes is not None:
        apart &= codes != codes[neighbour[:, 1]]
    scaled = (missed - missed.mean(axis=0)) / np.maximum(missed.std(axis=0), 1e-300)
    products = (scaled * scaled[neighbour[:, 1]]).mean(axis=1)[apart]
    if apart.mean() < 0.5:
        return 0.0
    return float(products.sum() / max(np.sqrt(np.square(products).sum()), 1e-300))
