"""Conditional independence test with a conditional diffusion model, of Yang et al."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, halves
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import compare_with_draws, shuffled_rows, training_bar, values_at
from ..statistics.boosting import TreeBooster, bin_columns
from ..statistics.classifier_cmi import classifier_cmi
from ..statistics.measures import prepare_statistic

__all__ = ["CDCIT"]

_LAST_LOSSES = 50
_TREES = TreeBooster(n_trees=20, learning_rate=0.05, max_depth=5)  # as in NNLSCIT


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
class CDCIT(BaseCITest):
    """Conditional randomisation test with a diffusion model of x given z.

    Half of the rows train a diffusion model of ``x`` given ``z``. On the other half the statistic, by default
    a classifier's estimate of the conditional mutual information, is compared with its values for draws of
    ``x``. Without ``z`` the draws are permutations of ``x`` and nothing is trained.

    Parameters
    ----------
    statistic
        ``"cmi"``: see Notes; or any statistic of `GCIT`, such as the faster ``"rdc"`` or ``"pcc"``.
    n_draws
        Most draws of the null.
    n_steps, batch_size, learning_rate, hidden
        Training of the network, which has three hidden layers.
    n_sampling_steps
        Steps from noise to a draw.
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

    def __init__(
        self,
        *,
        statistic: str | Callable[..., Any] = "cmi",
        n_draws: int = 100,
        n_steps: int = 1500,
        batch_size: int = 2048,
        learning_rate: float = 1e-3,
        hidden: int = 128,
        n_sampling_steps: int = 25,
        early_stop: float | None = 0.05,
        n_jobs: int | None = 1,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.statistic = statistic
        self.n_draws = n_draws
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.n_sampling_steps = n_sampling_steps
        self.early_stop = early_stop
        self.n_jobs = n_jobs
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        train, rest = halves(data.n, generator(seed, "split"))
        x, y, z = values_at(data, rest)
        statistic = self._statistic(y, z, generator(seed, "statistic"))
        draw, diagnostics = self._conditional_draw(data, train, rest, seed)
        outcome = compare_with_draws(
            statistic,
            x,
            draw,
            n_draws=self.n_draws,
            seed=seed,
            early_stop=self.early_stop,
            n_jobs=self.n_jobs,
            progress=self.progress,
            label="cdcit draws",
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
        self, data: CIData, train: np.ndarray, test: np.ndarray, seed: int
    ) -> tuple[Callable[[np.random.Generator], np.ndarray], dict[str, Any]]:
        """The function that draws x for the test rows, and what is worth knowing about its training."""
        if data.z is None:
            return shuffled_rows(data.x.values[test]), {}
        from ..samplers.diffusion import train_diffusion
        from ..samplers.noise import as_levels

        x, z = data.x.values, data.z.values
        with training_bar(self.progress, "cdcit training") as bar:
            sampler, losses = train_diffusion(
                x[train],
                z[train],
                rng=generator(seed, "diffusion"),
                hidden=self.hidden,
                n_steps=self.n_steps,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                n_sampling_steps=self.n_sampling_steps,
                progress=bar,
            )
        last = float(losses[-_LAST_LOSSES:].mean())
        return as_levels(sampler.given(z[test]), data.x), {"denoising_loss": last}
