"""Wild bootstrap of a degenerate quadratic statistic."""

from __future__ import annotations

import numpy as np

__all__ = ["off_diagonal_mean", "wild_bootstrap"]

_CELLS_PER_BLOCK = 4_000_000  # keeps a block of signs below 32 MB


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
    n, size = len(gram), max(1, _CELLS_PER_BLOCK // len(gram))
    forms = np.empty(n_bootstrap)
    for start in range(0, n_bootstrap, size):
        signs = rng.choice([-1.0, 1.0], size=(min(size, n_bootstrap - start), n))
        forms[start : start + size] = np.einsum("bi,bi->b", signs @ gram, signs)
    return (forms - float(np.trace(gram))) / (n * (n - 1))
