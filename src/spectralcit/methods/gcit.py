"""Generative conditional independence test of Bellot and van der Schaar."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, train_test_rows
from ..learning.options import SINGLE_PRECISION, batch_option, positive_option, steps_option, width_option
from ..null.resampling import ResamplingOptions, draws_option
from ..numeric.streams import generator
from ..parameters import choice, integer, real
from ..progress import Report, progress_reports, share_of
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import LAST_LOSSES, compare_with_draws, generated_rows, shuffled_rows, values_at
from ..samplers.protocol import ConditionalDraw
from ..statistics.measures import Statistic, prepare_statistic, statistic_option

__all__ = ["GCIT"]

_TEST_SHARE = 1 / 3  # of the rows, as in the authors' program, and so is
_SMALL_Z = 20  # the number of columns up to which the networks are smallest
_SMALLEST = 3  # and the size of those networks
_MOST_CRITIC_STEPS = 100  # by hand: each needs a mini-batch in memory, and the authors use five


@register(
    "gcit",
    tags=TestTags(
        summary="randomisation test with a Wasserstein generator of x given z (Bellot et al. 2019)",
        symmetric=False,
        assumes="the generator has learned the distribution of X given Z",
        fails=("when the generator is poor, as it often is with the published settings: false rejections"),
    ),
)
class GCIT(ResamplingOptions, BaseCITest):
    """Conditional randomisation test with a Wasserstein generator of x given z.

    Two thirds of the rows train a generator of ``x`` given ``z``, which pays for what its draws tell about
    the observed ``x``. On the other rows the statistic of (x, y) is compared with the statistic of (draw, y).
    Without ``z`` the draws are permutations of ``x`` and nothing is trained.

    Notes
    -----
    The columns are mapped to [0, 1]. Draws of categorical and discrete columns of x are set to the nearest
    observed level. The effect size is the distance of the statistic from the
    mean of the draws, in their standard deviations, divided by the root of the number of test rows.

    References
    ----------
    A. Bellot and M. van der Schaar. Conditional independence testing using generative adversarial networks.
    NeurIPS, 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 150))
    >>> GCIT(n_steps=20, n_draws=99, random_state=0).test(x, 3 * x + z, z).reject()
    True
    """

    min_rows: ClassVar[int] = 30

    statistic: Statistic = statistic_option("rdc")
    lambda_: float = real(
        10.0,
        "Weight of the mutual information between x and its draw in the generator's loss.",
        least=0.0,
        most=SINGLE_PRECISION,
    )
    n_draws: int = draws_option(1000, "Most draws of the null.")
    alternative: str = choice(
        "greater",
        'As in the paper; or "two-sided" as in the authors\' code, here with the factor two.',
        "greater",
        "two-sided",
    )
    n_steps: int = steps_option(1000)
    critic_steps: int = integer(
        5, "Updates of critic and information network in each step.", most=_MOST_CRITIC_STEPS
    )
    batch_size: int = batch_option(64)
    learning_rate: float = positive_option(1e-4, "Adam's learning rate.")
    gradient_penalty: float = real(
        10.0, "Weight of the penalty on the critic's slope.", least=0.0, most=SINGLE_PRECISION
    )
    hidden: int | None = width_option(
        None,
        "Hidden units; None is the authors' rule: 3, or a tenth of the columns of z beyond 20.",
        also=(None,),
    )
    noise_dim: int | None = width_option(None, "Columns of noise; None as for `hidden`.", also=(None,))

    def _run(self, data: CIData, seed: int) -> Outcome:
        rows = train_test_rows(data.n, _TEST_SHARE, generator(seed, "split"))
        x, y, z = values_at(data, rows[1])
        statistic = prepare_statistic(self.statistic, y, z, generator(seed, "statistic"), permuted=z is None)
        with progress_reports(self.progress, "gcit") as report:
            draw, diagnostics = self._conditional_draw(data, *rows, seed, share_of(report, 0, 2))
            outcome = compare_with_draws(
                statistic,
                x,
                draw,
                n_draws=self.n_draws,
                seed=seed,
                two_sided=self.alternative == "two-sided",
                early_stop=self.early_stop,
                n_jobs=self.n_jobs,
                progress=share_of(report, 1, 2),
                diagnostics=diagnostics,
            )
        return replace(outcome, n_train=len(rows[0]), n_test=len(rows[1]))

    def _conditional_draw(
        self, data: CIData, train: np.ndarray, test: np.ndarray, seed: int, report: Report
    ) -> tuple[ConditionalDraw, dict[str, Any]]:
        """The function that draws x for the test rows, and what is worth knowing about its training."""
        if data.z is None:
            return shuffled_rows(data.x.values[test]), {}
        from ..samplers.wgan import train_wgan  # needs JAX

        n_z = data.z.n_columns
        size = _SMALLEST if n_z <= _SMALL_Z else n_z // 10
        draw, losses = generated_rows(
            train_wgan,
            data.x,
            data.z.values,
            train,
            test,
            rng=generator(seed, "wgan"),
            lambda_=self.lambda_,
            hidden=self.hidden or size,
            noise_dim=self.noise_dim or size,
            n_steps=self.n_steps,
            critic_steps=self.critic_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            gradient_penalty=self.gradient_penalty,
            report=report,
        )
        return draw, {"critic_loss": float(losses[-LAST_LOSSES:].mean())}
