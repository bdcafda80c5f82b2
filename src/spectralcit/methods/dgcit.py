"""Double generative conditional independence test of Shi, Xu, Bergsma and Li."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError
from ..inputs import Block, CIData
from ..numeric.standardize import standardized
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from ..samplers.generated import cross_fitting_folds, resampled_rows, training_bar
from .gcm import largest_product

__all__ = ["DGCIT", "generated_residuals", "random_functions"]

_UNITS = 20  # hidden units of a transformation function, as in the authors' code


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

    Parameters
    ----------
    n_functions
        Number B of random functions of x, and of y.
    n_bootstrap
        Number J of bootstrap draws.
    n_samples
        Number M of generated values per row.
    n_folds
        Folds of the cross-fitting.
    n_steps, batch_size, learning_rate
        Training of each generator.
    hidden, noise_dim
        Sizes of generator and critic.
    progress
        Show progress bars on a terminal.
    random_state, missing
        As in `BaseCITest`.

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

    def __init__(
        self,
        *,
        n_functions: int = 30,
        n_bootstrap: int = 1000,
        n_samples: int = 100,
        n_folds: int = 3,
        n_steps: int = 1000,
        batch_size: int = 64,
        learning_rate: float = 5e-4,
        hidden: int = 128,
        noise_dim: int = 10,
        progress: bool = False,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.n_functions = n_functions
        self.n_bootstrap = n_bootstrap
        self.n_samples = n_samples
        self.n_folds = n_folds
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.hidden = hidden
        self.noise_dim = noise_dim
        self.progress = progress

    def _run(self, data: CIData, seed: int) -> Outcome:
        for name in ("n_functions", "n_samples"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 1, got {getattr(self, name)!r}")
        folds = cross_fitting_folds(data.n, self.n_folds, seed)
        z = None if data.z is None else data.z.values
        left_x = self._residuals(data.x, z, folds, "x", seed)
        left_y = self._residuals(data.y, z, folds, "y", seed)
        return largest_product(left_x, left_y, self.n_bootstrap, seed, ())

    def _residuals(
        self,
        block: Block,
        z: np.ndarray | None,
        folds: list[tuple[np.ndarray, np.ndarray]],
        role: str,
        seed: int,
    ) -> np.ndarray:
        functions = random_functions(block.n_columns, self.n_functions, generator(seed, f"functions {role}"))
        left = np.empty((len(block.values), self.n_functions))
        for k, (train, rows) in enumerate(folds):
            draw = self._conditional_draw(block, z, train, rows, f"{role} fold {k}", seed)
            rng = generator(seed, f"draws {role} {k}")
            fakes = np.stack([draw(rng) for _ in range(self.n_samples)])
            left[rows] = generated_residuals(block.values[rows], fakes, functions)
        return left

    def _conditional_draw(
        self, block: Block, z: np.ndarray | None, train: np.ndarray, test: np.ndarray, label: str, seed: int
    ) -> Any:
        """The function that draws the columns of `block` for the test rows."""
        if z is None:
            return resampled_rows(block.values[train], len(test))
        from ..samplers.noise import UnitRange, as_levels
        from ..samplers.sinkhorn import train_sinkhorn

        with training_bar(self.progress, f"dgcit {label}") as bar:
            sampler, _ = train_sinkhorn(
                block.values[train],
                z[train],
                x_range=UnitRange.fit(block.values),
                z_range=UnitRange.fit(z),
                rng=generator(seed, f"sinkhorn {label}"),
                hidden=self.hidden,
                noise_dim=self.noise_dim,
                n_steps=self.n_steps,
                batch_size=self.batch_size,
                learning_rate=self.learning_rate,
                progress=bar,
            )
        return as_levels(sampler.given(z[test]), block)


def random_functions(n_columns: int, n_functions: int, rng: np.random.Generator) -> Any:
    """Random functions with values in (0, 1): ``f(rows)`` returns one column per function.

    Each is the sigmoid of a random combination of 20 sigmoids of random combinations of the columns.

    Parameters
    ----------
    n_columns
        Columns of the rows.
    n_functions
        Number of functions.
    rng
        Source of the weights.
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

    Parameters
    ----------
    values
        Observed rows, shape (n, p).
    fakes
        Generated rows, shape (m, n, p).
    functions
        From `random_functions`.

    Returns
    -------
    ndarray
        Shape (n, number of functions).
    """
    m, n, p = fakes.shape
    generated = standardized(fakes.reshape(m * n, p))
    mean = functions(generated).reshape(m, n, -1).mean(axis=0)
    return functions(standardized(values)) - mean
