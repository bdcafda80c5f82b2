"""Classifier-based conditional mutual information with k-nearest-neighbour local sampling."""

from __future__ import annotations

import numbers
from collections.abc import Callable

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null.resampling import resample
from ..numeric.kernels import standardize
from ..numeric.neighbours import local_draw, neighbourhoods
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from ..statistics.boosting import TreeBooster, bin_columns
from ..statistics.classifier_cmi import classifier_cmi

__all__ = ["NNLSCIT"]


@register(
    "nnlscit",
    tags=TestTags(
        summary="classifier-based mutual information, local sampling (Li et al. 2023)",
        symmetric=False,
        local=True,
        assumes="X and Y given Z hardly change between rows whose Z are neighbours",
        fails="when the distributions given Z are not smooth, and by missing weak dependence",
    ),
)
class NNLSCIT(BaseCITest):
    """Classifier-based conditional mutual information with nearest-neighbour local sampling.

    Half of the rows lend their ``y``: each row of the other half gets the ``y`` of the row with the nearest
    ``z``. Boosted trees learn, on two thirds of that other half, to tell (x, y, z) from (x, new y, z); their
    odds on the last third give a Donsker-Varadhan estimate of I(x; y | z). Under the null hypothesis ``x`` is
    drawn from the rows with the nearest ``z``, and the estimate is made again.

    Parameters
    ----------
    n_neighbors
        Rows with similar ``z``, the row itself among them, from which ``x`` is drawn.
    n_permutations
        Most draws of the null.
    n_trees, learning_rate, max_depth
        The boosted trees. The authors' code takes 100 steps of 0.01; 10 steps of 0.1 go equally far, in a
        fifth of the time.
    library
        ``"sklearn"``, or ``"lightgbm"`` from the extra ``boost``.
    early_stop
        Stop drawing when the decision at this level is settled (see `resample`); ``None`` never stops.
    n_jobs
        Worker processes for the draws; the p-value does not depend on it.
    progress
        Show a progress bar on a terminal.
    random_state, missing
        As in `BaseCITest`.

    Notes
    -----
    Statistic and effect size are the estimated conditional mutual information in nats; it can be negative.
    Rows are split at random, once for all draws. The new ``y`` depend on ``y`` and ``z`` only, so they are
    found once; so are the neighbours and the bins of the columns. The columns of ``z`` are standardised
    before distances are taken.

    References
    ----------
    S. Li, Y. Zhang, H. Zhu, C. D. Wang, H. Shu, Z. Chen, Z. Sun and Y. Yang. K-nearest-neighbor local
    sampling based conditional independence testing. NeurIPS, 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 300))
    >>> y = z + x + 0.3 * rng.normal(size=300)
    >>> NNLSCIT(n_permutations=39, random_state=0).test(x, y, z).reject()
    True
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 7,
        n_permutations: int = 200,
        n_trees: int = 10,
        learning_rate: float = 0.1,
        max_depth: int = 5,
        library: str = "sklearn",
        early_stop: float | None = 0.05,
        n_jobs: int | None = 1,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.n_neighbors = n_neighbors
        self.n_permutations = n_permutations
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.library = library
        self.early_stop = early_stop
        self.n_jobs = n_jobs
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        if isinstance(self.n_neighbors, bool) or not isinstance(self.n_neighbors, numbers.Integral):
            raise ParameterError(f"n_neighbors must be an integer, got {self.n_neighbors!r}")
        if self.n_neighbors < 2:
            raise ParameterError(f"n_neighbors must be at least 2, got {self.n_neighbors!r}")
        booster = TreeBooster(self.n_trees, self.learning_rate, self.max_depth, library=self.library)
        booster.check()
        rng = generator(seed, "nnlscit")
        z = None if data.z is None else standardize(data.z.values)
        statistic = classifier_cmi(data.y.values, None if data.z is None else data.z.values, booster, rng)
        sample = _sampler(z, min(self.n_neighbors, data.n), data.n, rng)
        x = bin_columns(data.x.values)
        observed = statistic(x)
        found = resample(
            observed,
            lambda rng: statistic(x[sample(rng)]),
            n_draws=self.n_permutations,
            seed=seed,
            early_stop=self.early_stop,
            n_jobs=self.n_jobs,
            progress=self.progress,
            label="nnlscit",
        )
        return Outcome(
            statistic=observed,
            pvalue=found.pvalue,
            null=NullDistribution("local_sampling", {"draws": found.draws.tolist()}),
            effect_size=observed,
            diagnostics={
                "n_draws": found.n_used,
                "stopped_early": found.stopped,
                "null_mean": float(found.draws.mean()),
            },
        )


def _sampler(
    z: np.ndarray | None, size: int, n: int, rng: np.random.Generator
) -> Callable[[np.random.Generator], np.ndarray]:
    if z is None:
        return lambda rng: rng.permutation(n)
    neighbours = neighbourhoods(z, size, rng, sup=False)
    return lambda rng: local_draw(neighbours, rng)
