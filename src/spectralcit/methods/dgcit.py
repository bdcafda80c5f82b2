"""Double generative conditional independence test of Shi, Xu, Bergsma and Li."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..inputs import Block, CIData
from ..learning.options import batch_option, positive_option, steps_option, width_option
from ..null.resampling import draws_option
from ..numeric.standardize import standardized
from ..numeric.streams import generator
from ..parameters import integer
from ..progress import Report, progress_option, progress_reports, share_of
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import (
    cross_fitted_draw,
    cross_fitting_folds,
    folds_option,
    samples_option,
)
from ..samplers.protocol import ConditionalDraw
from .gcm import largest_product

__all__ = ["DGCIT", "generated_residuals", "random_functions"]

_UNITS = 20  # hidden units of a transformation function, as in the authors' code
_MOST_FUNCTIONS = 1_000  # by hand: the maximum is over the square of it, which must fit in memory


@register(
    "dgcit",
    tags=TestTags(
        summary="two Sinkhorn generators and a maximum of covariances (Shi et al. 2021)",
        symmetric=False,
        assumes="the errors of the two generators, multiplied, are small",
        fails="when both generators are poor: many false rejections",
    ),
)
class DGCIT(BaseCITest):
    """Maximum of covariances of transformed residuals, with generators of x given z and of y given z.

    On each fold two generators learn from the other folds to draw ``x`` and ``y`` given ``z``. For B random
    functions of x and B of y, the mean over M draws is subtracted from the observed value; the statistic is
    the largest studentised covariance among the B² pairs, with a multiplier bootstrap. It is doubly robust:
    the errors of the two generators enter as a product. Without ``z`` the draws are training rows.

    Notes
    -----
    The functions are networks with one hidden layer of 20 sigmoid units and random weights, the same on all
    folds. Draws of categorical and discrete columns are set to the nearest observed level. The effect size is
    the correlation of the two residuals of the largest pair.

    References
    ----------
    C. Shi, T. Xu, W. Bergsma and L. Li. Double generative adversarial networks for conditional independence
    testing. JMLR, 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(2, 150))
    >>> DGCIT(n_steps=20, n_folds=2, random_state=0).test(x, 3 * x + z, z).reject()
    True
    """

    min_rows: ClassVar[int] = 30

    n_functions: int = integer(30, "Random functions of x, and of y.", most=_MOST_FUNCTIONS)
    n_bootstrap: int = draws_option(1000, "Bootstrap draws.")
    n_samples: int = samples_option(100)
    n_folds: int = folds_option(3)
    n_steps: int = steps_option(1000)
    batch_size: int = batch_option(64)
    learning_rate: float = positive_option(5e-4, "Adam's learning rate.")
    hidden: int = width_option(128, "Hidden units of generator and critic.")
    noise_dim: int = width_option(10, "Columns of noise.")
    progress: bool | Report = progress_option()

    def _run(self, data: CIData, seed: int) -> Outcome:
        folds = cross_fitting_folds(data.n, self.n_folds, seed)
        z = None if data.z is None else data.z.values
        with progress_reports(self.progress, "dgcit") as report:
            left_x = self._residuals(data.x, z, folds, "x", seed, share_of(report, 0, 2))
            left_y = self._residuals(data.y, z, folds, "y", seed, share_of(report, 1, 2))
        return largest_product(left_x, left_y, self.n_bootstrap, seed, ())

    def _residuals(
        self,
        block: Block,
        z: np.ndarray | None,
        folds: list[tuple[np.ndarray, np.ndarray]],
        role: str,
        seed: int,
        report: Report,
    ) -> np.ndarray:
        functions = random_functions(block.n_columns, self.n_functions, generator(seed, f"functions {role}"))
        left = np.empty((len(block.values), self.n_functions))
        for k, (train, rows) in enumerate(folds):
            now = share_of(report, k, len(folds))
            draw = self._conditional_draw(block, z, train, rows, f"{role} fold {k}", seed, now)
            rng = generator(seed, f"draws {role} {k}")
            fakes = np.stack([draw(rng) for _ in range(self.n_samples)])
            left[rows] = generated_residuals(block.values[rows], fakes, functions)
        return left

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
            rng=generator(seed, f"sinkhorn {label}"),
            hidden=self.hidden,
            noise_dim=self.noise_dim,
            n_steps=self.n_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            report=report,
        )


def _learner() -> Any:
    from ..samplers.sinkhorn import train_sinkhorn

    return train_sinkhorn


def random_functions(n_columns: int, n_functions: int, rng: np.random.Generator) -> Any:
    """Random functions with values in (0, 1): ``f(rows)`` returns one column per function.

    Each is the sigmoid of a random combination of 20 sigmoids of random combinations of the columns.
    """
    inner = rng.normal(scale=np.sqrt(2.0 / n_columns), size=(n_functions, n_columns, _UNITS))
    shift = rng.normal(scale=np.sqrt(2.0 / _UNITS), size=(n_functions, _UNITS))
    outer = rng.normal(scale=np.sqrt(2.0 / _UNITS), size=(n_functions, _UNITS))

    def evaluate(rows: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [_sigmoid(_sigmoid(rows @ w + b) @ v) for w, b, v in zip(inner, shift, outer, strict=True)]
        )

    return evaluate


def _sigmoid(values: np.ndarray) -> np.ndarray:
    return 0.5 * (1.0 + np.tanh(0.5 * values))


def generated_residuals(values: np.ndarray, fakes: np.ndarray, functions: Any) -> np.ndarray:
    """Functions of the observed rows minus their means over generated rows.

    Observed and generated values are standardised by their own moments, as the authors do: what is compared
    is how they depend on z and not their overall location and scale.

    The generated rows have shape (m, n, p); the result has one column per function.
    """
    m, n, p = fakes.shape
    generated = standardized(fakes.reshape(m * n, p))
    mean = functions(generated).reshape(m, n, -1).mean(axis=0)
    return functions(standardized(values)) - mean
