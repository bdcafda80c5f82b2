"""q-values: how many false discoveries to expect among columns at least as surprising as this one."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..errors import ParameterError

__all__ = ["FDR", "inflation", "qvalues"]

FDR = ("bh", "by")  # the words that `screen` takes


def qvalues(pvalues: np.ndarray, method: str) -> np.ndarray:
    """Return p-values adjusted after Benjamini and Hochberg, or Yekutieli for any dependence of columns.

    Examples
    --------
    >>> qvalues(np.array([0.01, 0.02, 0.9]), "bh").round(3).tolist()
    [0.03, 0.03, 0.9]
    >>> qvalues(np.array([0.01, 0.02, 0.9]), "by").round(3).tolist()
    [0.055, 0.055, 1.0]

    References
    ----------
    Benjamini, Hochberg (1995). Controlling the false discovery rate. JRSS B 57. Benjamini, Yekutieli (2001).
    The control of the false discovery rate in multiple testing under dependency. Annals of Statistics 29.
    """
    if method not in FDR:
        raise ParameterError(f"fdr must be one of {FDR} or None, got {method!r}")
    m = len(pvalues)
    factor = m * (np.sum(1.0 / np.arange(1, m + 1)) if method == "by" else 1.0)
    order = np.argsort(pvalues, kind="stable")
    scaled = pvalues[order] * factor / np.arange(1, m + 1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def inflation(pvalues: np.ndarray) -> float:
    """Return λ: the median p-value on the scale of chi-squared with one degree of freedom, over its own.

    One if null columns have uniform p-values; more if they are too small.

    Examples
    --------
    >>> round(inflation(np.linspace(0.001, 0.999, 999)), 3)
    1.0
    """
    return float(special.chdtri(1.0, np.median(pvalues)) / special.chdtri(1.0, 0.5))
