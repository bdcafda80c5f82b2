"""Conditional randomisation test: draw x anew from its distribution given z."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null.resampling import resample, resampled_outcome
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.model_x import fitted_sampler
from ..statistics.measures import prepare_statistic

__all__ = ["CRT"]


@register(
    "crt",
    tags=TestTags(
        summary="conditional randomisation test: draw x given z, from your model or a fitted one",
        symmetric=False,
        assumes="the distribution of X given Z is known or fitted well; nothing of Y",
        fails="by rejecting true nulls when the model of X given Z is wrong",
    ),
)
class CRT(BaseCITest):
    """Conditional randomisation test.

    Copies of ``x`` are drawn from its distribution given ``z``, without looking at ``y``. Under the null the
    data and the copies are exchangeable, so the rank of the statistic among those of the copies is an exact
    p-value for any statistic and any sample size, when the distribution is the true one.

    Parameters
    ----------
    sampler
        Distribution of x given z: an object with ``sample(z, rng)`` (see `methods._samplers`), or a fitted
        model: ``"gaussian"`` (regression plus Gaussian noise), ``"logistic"`` (discrete x), or ``"auto"``,
        which chooses between them by the kind of x.
    statistic
        ``"partial-correlation"``, ``"correlation"``, ``"distance-correlation"``, ``"hsic"``,
        ``"mutual-information"``, ``"rdc"``, ``"ks"``, ``"mmd"``, or a function ``f(x, y, z)``.
    n_draws
        Most copies to draw.
    early_stop
        The level at which a decision is wanted: drawing ends when it is settled (Besag and Clifford's rule;
        the p-value stays valid at every level). ``None`` makes all the draws.
    n_jobs
        Worker processes; the p-value does not depend on it.
    progress
        Show a progress bar on a terminal.
    random_state, missing
        As in `BaseCITest`.

    Notes
    -----
    The effect size is the distance of the statistic from the mean of the copies, in standard deviations of
    the copies, divided by the square root of n.

    References
    ----------
    E. Candès, Y. Fan, L. Janson and J. Lv. Panning for gold: model-X knockoffs for high dimensional
    controlled variable selection. Journal of the Royal Statistical Society B, 2018.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> x, y = z + rng.normal(size=200), z + rng.normal(size=200)
    >>> CRT(random_state=0).test(x, y, z).reject(), CRT(random_state=0).test(x, y + x, z).reject()
    (False, True)
    """

    def __init__(
        self,
        *,
        sampler: Any = "auto",
        statistic: str | Callable[..., float] = "partial-correlation",
        n_draws: int = 999,
        early_stop: float | None = 0.05,
        n_jobs: int | None = 1,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.sampler = sampler
        self.statistic = statistic
        self.n_draws = n_draws
        self.early_stop = early_stop
        self.n_jobs = n_jobs
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        x, y = data.x.values, data.y.values
        z = None if data.z is None else data.z.values
        model = fitted_sampler(self.sampler, data.x, data.z, needs="sample")
        statistic = prepare_statistic(self.statistic, y, z, generator(seed, "crt statistic"))

        def draw(rng: np.random.Generator) -> float:
            copy = np.asarray(model.sample(z, rng), dtype=np.float64)
            if copy.size != x.size or len(copy) != len(x):
                raise ParameterError(f"sampler.sample returned shape {copy.shape}; x has shape {x.shape}")
            return statistic(copy.reshape(x.shape))

        observed = statistic(x)
        found = resample(
            observed,
            draw,
            n_draws=self.n_draws,
            seed=seed,
            early_stop=self.early_stop,
            n_jobs=self.n_jobs,
            progress=self.progress,
            label="copies of x",
        )
        return resampled_outcome(observed, found, data.n, "randomisation", {"sampler": type(model).__name__})
