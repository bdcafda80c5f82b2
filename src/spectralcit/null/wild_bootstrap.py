"""Wild bootstrap of a degenerate quadratic statistic."""

from __future__ import annotations

import numpy as np

__all__ = ["off_diagonal_mean", "wild_bootstrap"]


def off_diagonal_mean(gram: np.ndarray) -> float:
    """Mean of the entries off the diagonal."""
    n = len(gram)
    return (float(gram.sum()) - float(np.trace(gram))) / (n * (n - 1))


def wild_bootstrap(gram: np.ndarray, n_bootstrap: int, rng: np.random.Generator) -> np.ndarray:
    """Draws of `off_diagonal_mean` after multiplying row and column i of a symmetric matrix by a random sign.

    References
    ----------
    A. Leucht and M. H. Neumann. Dependent wild bootstrap for degenerate U- and V-statistics. Journal of
    Multivariate Analysis, 2013.
    """
    n = len(gram)
    signs = rng.choice([-1.0, 1.0], size=(n_bootstrap, n))
    return (np.einsum("bi,bi->b", signs @ gram, signs) - float(np.trace(gram))) / (n * (n - 1))
