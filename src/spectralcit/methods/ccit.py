"""Classifier conditional independence test: can boosted trees tell the data from data without dependence."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from ..base import BaseCITest
from ..inputs import CIData
from ..null.resampling import ParallelOptions, draws_option, repeat
from ..numeric.kernels import standardize
from ..numeric.neighbours import nearest_others
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from ..statistics.boosting import (
    TreeBooster,
    bin_columns,
    depth_option,
    library_option,
    rate_option,
    trees_option,
)

__all__ = ["CCIT"]


@register(
    "ccit",
    tags=TestTags(
        summary="boosted trees against a nearest-neighbour bootstrap (Sen et al. 2017)",
        symmetric=False,
        local=True,
        assumes="Y given Z hardly changes between rows with the nearest Z",
        fails=("by missing weak dependence; by rejecting true nulls when neighbours in Z are far apart"),
    ),
)
class CCIT(ParallelOptions, BaseCITest):
    """Classifier conditional independence test with nearest-neighbour bootstrap.

    Each row gets the ``y`` of the row with the nearest ``z``, which keeps both dependences on ``z`` but no
    other one. Boosted trees learn on two thirds of the rows to tell (x, y, z) from (x, new y, z), once with
    ``x`` and once without; the rows left say how often they are right. Only under dependence does ``x`` help.

    Notes
    -----
    The settings of the trees are the first of those among which the authors choose by cross-validation.
    Statistic and effect size are the gain in accuracy that ``x`` brings, averaged over the splits. The
    p-value is that of the authors' package, ``norm.sf(gain / sigma)``. With a single split ``sigma`` is
    ``1 / sqrt(n)``; with several it is the standard deviation over the splits of the accuracy without ``x``,
    but here at least that of coin flips on the 2 n / 3 test rows, ``1 / sqrt(8 n / 3)``. Subtracting the
    accuracy without ``x`` is the paper's correction for neighbours that are not near enough. Under the null
    hypothesis the gain is about zero and the p-value about 1/2: conservative, not uniform. Splits are drawn
    without replacement, since a row drawn twice would be its own nearest neighbour.

    References
    ----------
    R. Sen, A. T. Suresh, K. Shanmugam, A. G. Dimakis and S. Shakkottai. Model-powered conditional
    independence test. NeurIPS, 2017.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 300))
    >>> y = z + x + 0.3 * rng.normal(size=300)
    >>> CCIT(n_bootstrap=3, random_state=0).test(x, y, z).reject()
    True
    """

    n_bootstrap: int = draws_option(10, "Number of random splits; each exchanges y and trains anew.")
    n_trees: int = trees_option(100)
    learning_rate: float = rate_option(0.02)
    max_depth: int = depth_option(6)
    library: str = library_option()

    def _run(self, data: CIData, seed: int) -> Outcome:
        booster = TreeBooster(
            self.n_trees, self.learning_rate, self.max_depth, max_features=0.8, library=self.library
        )
        booster.require_library()
        x, y = bin_columns(data.x.values), bin_columns(data.y.values)
        near = None if data.z is None else standardize(data.z.values)
        given = np.empty((data.n, 0)) if data.z is None else bin_columns(data.z.values)
        accuracies = np.array(
            repeat(
                lambda rng: _two_accuracies(x, y, given, near, booster, rng),
                n_draws=self.n_bootstrap,
                seed=seed,
                n_jobs=self.n_jobs,
                progress=self.progress,
                label="ccit",
            )
        )
        gain = float((accuracies[:, 0] - accuracies[:, 1]).mean())
        sigma = _scale(accuracies[:, 1], data.n)
        return Outcome(
            statistic=gain,
            pvalue=float(norm.sf(gain / sigma)),
            null=NullDistribution("normal", {"scale": sigma}),
            effect_size=gain,
            diagnostics={
                "accuracy_with_x": float(accuracies[:, 0].mean()),
                "accuracy_without_x": float(accuracies[:, 1].mean()),
                "sigma": sigma,
            },
        )


def _scale(without_x: np.ndarray, n: int) -> float:
    if len(without_x) == 1:
        return 1.0 / np.sqrt(n)
    # Few splits can agree by chance; accuracies of coin flips on the test rows cannot vary less than this.
    return max(float(without_x.std()), float(1.0 / np.sqrt(8 * n / 3)))


def _two_accuracies(
    x: np.ndarray,
    y: np.ndarray,
    given: np.ndarray,
    near: np.ndarray | None,
    booster: TreeBooster,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Accuracy on the test rows of one random split, with ``x`` and without."""
    n, columns = len(x), x.shape[1]
    train, test = np.split(rng.permutation(n), [2 * n // 3])
    seed = int(rng.integers(2**32))
    original = np.hstack([x, y, given])
    exchanged = original.copy()
    for part in (train, test):
        exchanged[part, columns : columns + y.shape[1]] = y[_exchange(part, near, rng)]

    def accuracy(first: int) -> float:
        probability = booster(original[train, first:], exchanged[train, first:], seed=seed)
        towards_right = np.concatenate(
            [probability(original[test, first:]) - 0.5, 0.5 - probability(exchanged[test, first:])]
        )
        return float(np.mean(0.5 + 0.5 * np.sign(towards_right)))  # undecided is half right

    return accuracy(0), accuracy(columns)


def _exchange(part: np.ndarray, near: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """For each row of `part` the other row of `part` with the nearest ``z``; any row without ``z``."""
    if near is None:
        return rng.permutation(part)
    return part[nearest_others(near[part], 1)[:, 0]]
