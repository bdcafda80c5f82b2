"""Conditional randomisation test: draw x anew from its distribution given z."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import CIData
from ..null.resampling import ResamplingOptions, draws_option, resampled_outcome
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.grouped import ClusterSigns
from ..samplers.model_x import fitted_sampler, sampler_option
from ..statistics.measures import Statistic, prepare_statistic, statistic_option

__all__ = ["CRT"]


@register(
    "crt",
    tags=TestTags(
        summary="conditional randomisation test: draw x given z, from your model or a fitted one",
        symmetric=False,
        honours=("groups", "time"),
        assumes="the distribution of X given Z is known or fitted well; nothing of Y",
        fails="by rejecting true nulls when the model of X given Z is wrong",
    ),
)
class CRT(ResamplingOptions, BaseCITest):
    """Conditional randomisation test.

    Copies of ``x`` are drawn from its distribution given ``z``, without looking at ``y``. Under the null the
    data and the copies are exchangeable, so the rank of the statistic among those of the copies is an exact
    p-value for any statistic and any sample size, when the distribution is the true one. With ``groups`` or
    ``time`` a copy is the regression on ``z`` plus the observed noise, whose clusters get random signs.

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

    sampler: Any = sampler_option("sample")
    statistic: Statistic = statistic_option("partial-correlation")
    n_draws: int = draws_option(999, "Most copies to draw.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        x, y = data.x.values, data.y.values
        z = None if data.z is None else data.z.values
        if data.design is None:
            model = fitted_sampler(self.sampler, data.x, data.z)
        else:
            model = ClusterSigns(self.sampler, data.x, data.z, data.design)
        statistic = prepare_statistic(self.statistic, y, z, generator(seed, "crt statistic"))

        def draw(rng: np.random.Generator) -> float:
            copy = np.asarray(model.sample(z, rng), dtype=np.float64)
            if copy.size != x.size or len(copy) != len(x):
                raise ParameterError(f"sampler.sample returned shape {copy.shape}; x has shape {x.shape}")
            return statistic(copy.reshape(x.shape))

        observed = statistic(x)
        found = self._resample(observed, draw, n_draws=self.n_draws, seed=seed, label="copies of x")
        return resampled_outcome(observed, found, data.n, "randomisation", {"sampler": type(model).__name__})
