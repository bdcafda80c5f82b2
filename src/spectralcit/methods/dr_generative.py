"""Doubly robust conditional independence test with generative networks, of Zhang, Huang, Yang and Shao."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import Block, CIData
from ..null import permutation_pvalue
from ..null.wild_bootstrap import off_diagonal_mean, wild_bootstrap
from ..numeric.standardize import standardized
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from ..samplers.generated import cross_fitting_folds, resampled_rows, training_bar

__all__ = ["GenerativeDR", "residual_kernel"]

_CELLS_PER_BLOCK = 2_000_000  # kernel values held at a time


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

    Parameters
    ----------
    n_bootstrap
        Number of bootstrap draws.
    n_samples
        Generated values per row.
    n_folds
        Folds of the cross-fitting.
    n_steps, batch_size, learning_rate, n_fakes
        Training of each generator; `n_fakes` values are drawn per row of a mini-batch.
    hidden, noise_dim, dropout
        The generators: sizes of two hidden layers and of the noise, and the share of units switched off.
    progress
        Show progress bars on a terminal.
    random_state, missing
        As in `BaseCITest`.

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

    def __init__(
        self,
        *,
        n_bootstrap: int = 1000,
        n_samples: int = 30,
        n_folds: int = 2,
        n_steps: int = 500,
        batch_size: int = 128,
        learning_rate: float = 2e-4,
        n_fakes: int = 5,
        hidden: int = 128,
        noise_dim: int = 20,
        dropout: float = 0.2,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.n_bootstrap = n_bootstrap
        self.n_samples = n_samples
        self.n_folds = n_folds
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_fakes = n_fakes
        self.hidden = hidden
        self.noise_dim = noise_dim
        self.dropout = dropout
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        self._check_parameters()
        folds = cross_fitting_folds(data.n, self.n_folds, seed)
        z = None if data.z is None else data.z.values
        statistic, draws = 0.0, np.zeros(self.n_bootstrap)
        overlap, size_x, size_y = 0.0, 0.0, 0.0
        for k, (train, rows) in enumerate(folds):
            kernels = [
                self._residual_kernel(block, z, (train, rows), role, k, seed)
                for role, block in (("x", data.x), ("y", data.y))
            ]
            weight = np.ones((len(rows), len(rows))) if z is None else laplace_gram(standardized(z[rows]))
            product = kernels[0] * kernels[1] * weight
            statistic += len(rows) * off_diagonal_mean(product) / self.n_folds
            rng = generator(seed, f"multipliers {k}")
            draws += len(rows) * wild_bootstrap(product, self.n_bootstrap, rng) / self.n_folds
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

    def _check_parameters(self) -> None:
        for name in ("n_bootstrap", "n_samples", "n_fakes"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        if not 0.0 <= self.dropout < 1.0:
            raise ParameterError(f"dropout must be in [0, 1), got {self.dropout!r}")

    def _residual_kernel(
        self,
        block: Block,
        z: np.ndarray | None,
        fold: tuple[np.ndarray, np.ndarray],
        role: str,
        k: int,
        seed: int,
    ) -> np.ndarray:
        train, rows = fold
        draw = self._conditional_draw(block, z, train, rows, f"{role} fold {k}", seed)
        rng = generator(seed, f"draws {role} {k}")
        return residual_kernel(block.values[rows], np.stack([draw(rng) for _ in range(self.n_samples)]))

    def _conditional_draw(
        self, block: Block, z: np.ndarray | None, train: np.ndarray, test: np.ndarray, label: str, seed: int
    ) -> Any:
        """The function that draws the columns of `block` for the test rows."""
        if z is None:
            return resampled_rows(block.values[train], len(test))
        from ..samplers.mmd import train_mmd
        from ..samplers.noise import UnitRange, as_levels

        with training_bar(self.progress, f"dr-generative {label}") as bar:
            sampler, _ = train_mmd(
                block.values[train],
                z[train],
                x_range=UnitRange.fit(block.values),
                z_range=UnitRange.fit(z),
                rng=generator(seed, f"mmd {label}"),
                hidden=self.hidden,
                noise_dim=self.noise_dim,
                n_fakes=self.n_fakes,
                n_steps=self.n_steps,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                dropout=self.dropout,
                progress=bar,
            )
        return as_levels(sampler.given(z[test]), block)


def laplace_gram(values: np.ndarray) -> np.ndarray:
    """Laplace kernel of summed absolute differences, with the median difference as its width."""
    distances = cdist(values, values, "cityblock")
    return np.exp(-distances / _median_off_diagonal(distances))


def _median_off_diagonal(distances: np.ndarray) -> float:
    median = float(np.median(distances[np.triu_indices(len(distances), 1)]))
    return median if median > 0.0 else 1.0


def residual_kernel(values: np.ndarray, fakes: np.ndarray) -> np.ndarray:
    """Inner products of kernel features of rows, minus the mean features of the draws of each row.

    Parameters
    ----------
    values
        Observed rows, shape (n, p).
    fakes
        Generated rows, shape (m, n, p); like `values` they are standardised by their own moments.

    Returns
    -------
    ndarray
        Shape (n, n).
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
