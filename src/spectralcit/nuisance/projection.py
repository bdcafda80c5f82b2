"""The published test's way to remove Z: least squares on the learned features w(Z)."""

from __future__ import annotations

import numpy as np

from ..numeric.linear import orthonormal_columns
from .fits import LinearFit, NuisanceFit, share_of_variance
from .selection import select
from .smoother import Smoother

__all__ = ["Projection"]


class Projection:
    """Least squares on given functions of Z, of shape (n, k), and nothing else.

    Valid only as far as these functions span what Z explains of X and of Y (see docs/math-spectral-paper.md).

    Examples
    --------
    >>> w = np.arange(6.0)[:, None]
    >>> bool(np.allclose(Projection(w).fit_location(2.0 * w + 1.0).remove(3.0 * w), 0.0))
    True
    """

    def __init__(self, w: np.ndarray) -> None:
        self._smoother = Smoother(orthonormal_columns(w), name="projection on w")

    def prediction_error(self, targets: np.ndarray) -> np.ndarray:
        """Return each target's leave-one-out error as a share of its variance."""
        return share_of_variance(self.fit_location(targets).out_of_sample, targets)

    def fit_location(self, targets: np.ndarray) -> LinearFit:
        """Project `targets`; there is nothing to choose."""
        chosen = select([self._smoother], targets)
        return LinearFit(chosen, chosen, targets)

    def fit_scale(self, targets: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Project log squared residuals likewise."""
        return self.fit_location(targets)

    def fit_features(self, features: np.ndarray, location: NuisanceFit) -> LinearFit:
        """Project features likewise."""
        return self.fit_location(features)
