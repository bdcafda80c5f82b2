"""Generative conditional independence test of Bellot and van der Schaar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, train_test_rows
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import check_choice, compare_with_draws, shuffled_rows, training_bar, values_at
from ..statistics.measures import prepare_statistic

__all__ = ["GCIT"]

_TEST_SHARE = 1 / 3
_SMALL_Z = 20  # the authors' rule for the size of the networks
_LAST_LOSSES = 50


@register(
    "gcit",
    tags=TestTags(
        summary="randomisation test with a Wasserstein generator of x given z (Bellot et al. 2019)",
        symmetric=False,
        assumes="the generator has learned the distribution of X given Z",
        fails=("when the generator is poor, as it often is with the published settings: false rejections"),
    ),
)
class GCIT(BaseCITest):
    """Conditional randomisation test with a Wasserstein generator of x given z.

    Two thirds of the rows train a generator of ``x`` given ``z``, which pays for what its draws tell about
    the observed ``x``. On the other rows the statistic of (x, y) is compared with the statistic of (draw, y).
    Without ``z`` the draws are permutations of ``x`` and nothing is trained.

    Parameters
    ----------
    statistic
        ``"rdc"``, ``"pcc"`` (correlation), ``"dc"`` (distance correlation), ``"mmd"`` or ``"ks"`` (two-sample
        distances between x and y), or a function ``f(x, y, z)`` that is large for dependence.
    lambda_
        Weight of the mutual information between x and its draw in the generator's loss.
    n_draws
        Most draws of the null.
    alternative
        ``"greater"`` as in the paper, or ``"two-sided"`` as in the authors' code, here with the factor two.
    n_steps, critic_steps, batch_size, learning_rate, gradient_penalty
        Training: updates of the generator, updates of its opponents before each of them, and their settings.
    hidden, noise_dim
        Sizes of the networks; ``None`` is the authors' rule: 3, or a tenth of the columns of z beyond 20.
    early_stop
        Stop drawing when the decision at this level is settled (see `resample`); ``None`` never stops.
    n_jobs
        Worker processes for the draws; the p-value does not depend on it.
    progress
        Show progress bars on a terminal.
    random_state, missing
        As in `BaseCITest`.

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

    def __init__(
        self,
        *,
        statistic: str | Callable[..., Any] = "rdc",
        lambda_: float = 10.0,
        n_draws: int = 1000,
        alternative: str = "greater",
        n_steps: int = 1000,
        critic_steps: int = 5,
        batch_size: int = 64,
        learning_rate: float = 1e-4,
        gradient_penalty: float = 10.0,
        hidden: int | None = None,
        noise_dim: int | None = None,
        early_stop: float | None = 0.05,
        n_jobs: int | None = 1,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.statistic = statistic
        self.lambda_ = lambda_
        self.n_draws = n_draws
        self.alternative = alternative
        self.n_steps = n_steps
        self.critic_steps = critic_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.gradient_penalty = gradient_penalty
        self.hidden = hidden
        self.noise_dim = noise_dim
        self.early_stop = early_stop
        self.n_jobs = n_jobs
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        check_choice("alternative", self.alternative, ("greater", "two-sided"))
        rows = train_test_rows(data.n, _TEST_SHARE, generator(seed, "split"))
        x, y, z = values_at(data, rows[1])
        statistic = prepare_statistic(self.statistic, y, z, generator(seed, "statistic"), permuted=z is None)
        draw, diagnostics = self._conditional_draw(data, *rows, seed)
        outcome = compare_with_draws(
            statistic,
            x,
            draw,
            n_draws=self.n_draws,
            seed=seed,
            two_sided=self.alternative == "two-sided",
            early_stop=self.early_stop,
            n_jobs=self.n_jobs,
            progress=self.progress,
            label="gcit draws",
            diagnostics=diagnostics,
        )
        return replace(outcome, n_train=len(rows[0]), n_test=len(rows[1]))

    def _conditional_draw(
        self, data: CIData, train: np.ndarray, test: np.ndarray, seed: int
    ) -> tuple[Callable[[np.random.Generator], np.ndarray], dict[str, Any]]:
        """The function that draws x for the test rows, and what is worth knowing about its training."""
        if data.z is None:
            return shuffled_rows(data.x.values[test]), {}
        from ..samplers.noise import UnitRange, as_levels
        from ..samplers.wgan import train_wgan

        x, z = data.x.values, data.z.values
        size = 3 if z.shape[1] <= _SMALL_Z else z.shape[1] // 10
        with training_bar(self.progress, "gcit training") as bar:
            sampler, losses = train_wgan(
                x[train],
                z[train],
                # Of all rows, as the authors do: a generator could never reach an x outside its range.
                x_range=UnitRange.fit(x),
                z_range=UnitRange.fit(z),
                rng=generator(seed, "wgan"),
                lambda_=self.lambda_,
                hidden=self.hidden or size,
                noise_dim=self.noise_dim or size,
                n_steps=self.n_steps,
                critic_steps=self.critic_steps,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                gradient_penalty=self.gradient_penalty,
                progress=bar,
            )
        last = float(losses[-_LAST_LOSSES:].mean())
        return as_levels(sampler.given(z[test]), data.x), {"critic_loss": last}
