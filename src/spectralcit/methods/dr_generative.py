"""Doubly robust conditional independence test with generative networks, of Zhang, Huang, Yang and Shao."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ..base import BaseCITest
from ..inputs import Block, CIData
from ..learning.options import batch_option, positive_option, steps_option, width_option
from ..null import permutation_pvalue
from ..null.resampling import draws_option
from ..null.wild_bootstrap import off_diagonal_mean, wild_bootstrap
from ..numeric.standardize import standardized
from ..numeric.streams import generator
from ..parameters import integer, real
from ..progress import Report, progress_option, progress_reports, share_of
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from ..samplers.generated import (
    cross_fitted_draw,
    cross_fitting_folds,
    folds_option,
    samples_option,
)
from ..samplers.protocol import ConditionalDraw

__all__ = ["GenerativeDR", "residual_kernel"]

_CELLS_PER_BLOCK = 2_000_000  # kernel values held at a time: 16 megabytes, by hand
_MOST_FAKES = 100  # by hand: a kernel of all fakes of a mini-batch is held at every step


@register(
    "dr-generative",
    tags=TestTags(
        summary="two generators and a doubly robust kernel statistic (Zhang et al. 2024)",
        symmetric=False,
        cost="O(n^2)",
        assumes="the errors of the two generators, multiplied, are small",
        fails="when both generators are poor: false rejections",
    ),
)
class GenerativeDR(BaseCITest):
    """Kernel statistic of residual features, with generators of x given z and of y given z.

    On each fold two generators learn from the other folds to draw ``x`` and ``y`` given ``z``. In a Laplace
    kernel of x, and of y, the mean over the draws is subtracted from the feature of every row; the statistic
    is the mean over pairs of rows of the product of the two residual kernels and a kernel of z, with a wild
    bootstrap. The errors of the two generators enter as a product. Without ``z`` the draws are training rows.

    Notes
    -----
    The widths of the kernels are medians of the summed absolute differences. Draws of categorical and
    discrete columns are set to the nearest observed level. The effect size is the cosine of the two residual
    kernels under the kernel of z, over pairs of different rows.

    References
    ----------
    Y. Zhang, L. Huang, Y. Yang and X. Shao. Doubly robust conditional independence testing with generative
    neural networks. JRSS B, 2025 (arXiv 2407.17694, 2024).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 150))
    >>> GenerativeDR(n_steps=20, n_samples=5, random_state=0).test(x, 3 * x + z, z).reject()
    True
    """

    min_rows: ClassVar[int] = 30

    n_bootstrap: int = draws_option(1000, "Bootstrap draws.")
    n_samples: int = samples_option(30)
    n_folds: int = folds_option(2)
    n_steps: int = steps_option(500)
    batch_size: int = batch_option(128)
    learning_rate: float = positive_option(2e-4, "Adam's learning rate.")
    n_fakes: int = integer(
        5, "Values that are drawn in training for each row of a mini-batch.", most=_MOST_FAKES
    )
    hidden: int = width_option(128, "Units of each of the two hidden layers.")
    noise_dim: int = width_option(20, "Columns of noise.")
    dropout: float = real(
        0.2, "Share of the hidden units switched off at random in training.", least=0.0, below=1.0
    )
    progress: bool | Report = progress_option()

    def _run(self, data: CIData, seed: int) -> Outcome:
        folds = cross_fitting_folds(data.n, self.n_folds, seed)
        z = None if data.z is None else data.z.values
        statistic, draws = 0.0, np.zeros(self.n_bootstrap)
        overlap, size_x, size_y = 0.0, 0.0, 0.0
        with progress_reports(self.progress, "dr-generative") as report:
            for k, fold in enumerate(folds):
                now = share_of(report, k, len(folds))
                kernels = [
                    self._residual_kernel(block, z, fold, role, k, seed, share_of(now, part, 2))
                    for part, (role, block) in enumerate((("x", data.x), ("y", data.y)))
                ]
                n = len(fold[1])
                weight = np.ones((n, n)) if z is None else laplace_gram(standardized(z[fold[1]]))
                product = kernels[0] * kernels[1] * weight
                statistic += n * off_diagonal_mean(product) / self.n_folds
                rng = generator(seed, f"multipliers {k}")
                draws += n * wild_bootstrap(product, self.n_bootstrap, rng) / self.n_folds
                overlap += off_diagonal_mean(product)
                size_x += off_diagonal_mean(kernels[0] ** 2 * weight)
                size_y += off_diagonal_mean(kernels[1] ** 2 * weight)
        scale = float(np.sqrt(size_x * size_y))
        return Outcome(
            statistic=statistic,
            pvalue=permutation_pvalue(statistic, draws),
            null=NullDistribution("wild_bootstrap", {"n_bootstrap": self.n_bootstrap}),
            effect_size=overlap / scale if scale > 0.0 else 0.0,
        )

    def _residual_kernel(
        self,
        block: Block,
        z: np.ndarray | None,
        fold: tuple[np.ndarray, np.ndarray],
        role: str,
        k: int,
        seed: int,
        report: Report,
    ) -> np.ndarray:
        train, rows = fold
        draw = self._conditional_draw(block, z, train, rows, f"{role} fold {k}", seed, report)
        rng = generator(seed, f"draws {role} {k}")
        return residual_kernel(block.values[rows], np.stack([draw(rng) for _ in range(self.n_samples)]))

    def _conditional_draw(
        self,
        block: Block,
        z: np.ndarray | None,
        train: np.ndarray,
        test: np.ndarray,
        label: str,
        seed: int,
        report: Report,
    ) -> ConditionalDraw:
        """The function that draws the columns of `block` for the test rows."""
        return cross_fitted_draw(
            _learner,
            block,
            z,
            train,
            test,
            rng=generator(seed, f"mmd {label}"),
            hidden=self.hidden,
            noise_dim=self.noise_dim,
            n_fakes=self.n_fakes,
            dropout=self.dropout,
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            report=report,
        )


def _learner() -> Any:
    from ..samplers.mmd import train_mmd

    return train_mmd


def laplace_gram(values: np.ndarray) -> np.ndarray:
    """Laplace kernel of summed absolute differences, with the median difference as its width."""
    distances = cdist(values, values, "cityblock")
    return np.exp(-distances / _median_off_diagonal(distances))


def _median_off_diagonal(distances: np.ndarray) -> float:
    median = float(np.median(distances[np.triu_indices(len(distances), 1)]))
    return median if median > 0.0 else 1.0


def residual_kernel(values: np.ndarray, fakes: np.ndarray) -> np.ndarray:
    """Inner products of kernel features of rows, minus the mean features of the draws of each row.

    Of `values` (n, p) and generated `fakes` (m, n, p), each standardised by its own moments; shape (n, n).
    """
    m, n, p = fakes.shape
    real = standardized(values)
    # Draws of one row side by side, so that means over them are means over blocks.
    drawn = standardized(fakes.transpose(1, 0, 2).reshape(n * m, p))
    distances = cdist(real, real, "cityblock")
    width = _median_off_diagonal(distances)
    mixed = np.exp(-cdist(real, drawn, "cityblock") / width).reshape(n, n, m).mean(axis=2)
    generated = np.empty((n, n))
    size = max(1, _CELLS_PER_BLOCK // (m * m * n))
    for start in range(0, n, size):
        block = drawn[start * m : (start + size) * m]
        kernel = np.exp(-cdist(block, drawn, "cityblock") / width)
        generated[start : start + size] = kernel.reshape(-1, m, n, m).mean(axis=(1, 3))
    return np.exp(-distances / width) - mixed - mixed.T + generated
