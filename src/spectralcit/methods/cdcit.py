"""Conditional independence test with a conditional diffusion model, of Yang et al."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, halves
from ..learning.options import batch_option, positive_option, steps_option, width_option
from ..null.resampling import ResamplingOptions, draws_option
from ..numeric.streams import generator
from ..parameters import integer
from ..progress import Report, progress_reports, share_of
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import (
    DIFFUSION_TIMES,
    LAST_LOSSES,
    compare_with_draws,
    shuffled_rows,
    values_at,
)
from ..samplers.protocol import ConditionalDraw
from ..statistics.boosting import TreeBooster, bin_columns
from ..statistics.classifier_cmi import classifier_cmi
from ..statistics.measures import Statistic, prepare_statistic, statistic_option

__all__ = ["CDCIT"]

_TREES = TreeBooster(n_trees=20, learning_rate=0.05, max_depth=5)  # goes as far as NNLSCIT's 10 steps of 0.1


@register(
    "cdcit",
    tags=TestTags(
        summary="randomisation test with a diffusion model of x given z (Yang et al. 2025)",
        symmetric=False,
        cost="O(n log n)",
        assumes="the diffusion model has learned the distribution of X given Z",
        fails="when the model overfits or underfits X given Z; it needs many rows",
    ),
)
class CDCIT(ResamplingOptions, BaseCITest):
    """Conditional randomisation test with a diffusion model of x given z.

    Half of the rows train a diffusion model of ``x`` given ``z``. On the other half the statistic, by default
    a classifier's estimate of the conditional mutual information, is compared with its values for draws of
    ``x``. Without ``z`` the draws are permutations of ``x`` and nothing is trained.

    Notes
    -----
    For ``"cmi"`` the rows of the second half are halved again. One part lends, to each row of the other, the
    ``y`` of the nearest ``z``; boosted trees learn to tell (x, y, z) from (x, lent y, z), and their log odds
    on held-out rows give the estimate. Draws of categorical and discrete columns of x are set to the nearest
    observed level. The effect size is the distance of the statistic from the
    mean of the draws, in their standard deviations, divided by the root of the number of test rows.

    References
    ----------
    Y. Yang, S. Li, Y. Zhang, Z. Sun, H. Shu, Z. Chen and R. Zhang. Conditional diffusion models based
    conditional independence testing. AAAI, 2025.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 150))
    >>> test = CDCIT(statistic="pcc", n_steps=20, n_draws=99, hidden=16, random_state=0)
    >>> test.test(x, 3 * x + z, z).reject()
    True
    """

    min_rows: ClassVar[int] = 40

    statistic: Statistic = statistic_option(
        "cmi",
        "cmi",
        doc='"cmi" is the estimate of Notes; the others are those of `GCIT`, "rdc" and "pcc" being faster.',
    )
    n_draws: int = draws_option(100, "Most draws of the null.")
    n_steps: int = steps_option(1500)
    batch_size: int = batch_option(2048)
    learning_rate: float = positive_option(1e-3, "Adam's learning rate.")
    hidden: int = width_option(128, "Units of each of the three hidden layers.")
    n_sampling_steps: int = integer(
        25, "Steps from noise to a draw; the model knows a thousand times.", most=DIFFUSION_TIMES
    )

    def _run(self, data: CIData, seed: int) -> Outcome:
        train, rest = halves(data.n, generator(seed, "split"))
        x, y, z = values_at(data, rest)
        statistic = self._statistic(y, z, generator(seed, "statistic"))
        with progress_reports(self.progress, "cdcit") as report:
            draw, diagnostics = self._conditional_draw(data, train, rest, seed, share_of(report, 0, 2))
            outcome = compare_with_draws(
                statistic,
                x,
                draw,
                n_draws=self.n_draws,
                seed=seed,
                early_stop=self.early_stop,
                n_jobs=self.n_jobs,
                progress=share_of(report, 1, 2),
                diagnostics=diagnostics,
            )
        return replace(outcome, n_train=len(train), n_test=len(rest))

    def _statistic(
        self, y: np.ndarray, z: np.ndarray | None, rng: np.random.Generator
    ) -> Callable[[np.ndarray], float]:
        if self.statistic != "cmi":
            return prepare_statistic(self.statistic, y, z, rng, permuted=z is None)
        estimate = classifier_cmi(y, z, _TREES, rng)
        return lambda x: estimate(bin_columns(x))

    def _conditional_draw(
        self, data: CIData, train: np.ndarray, test: np.ndarray, seed: int, report: Report
    ) -> tuple[ConditionalDraw, dict[str, Any]]:
        """The function that draws x for the test rows, and what is worth knowing about its training."""
        if data.z is None:
            return shuffled_rows(data.x.values[test]), {}
        from ..samplers.diffusion import train_diffusion  # needs JAX
        from ..samplers.noise import as_levels

        x, z = data.x.values, data.z.values
        sampler, losses = train_diffusion(
            x[train],
            z[train],
            rng=generator(seed, "diffusion"),
            hidden=self.hidden,
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            n_sampling_steps=self.n_sampling_steps,
            report=report,
        )
        last = float(losses[-LAST_LOSSES:].mean())
        return as_levels(sampler.given(z[test]), data.x), {"denoising_loss": last}
