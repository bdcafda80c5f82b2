"""CIRCE: a kernel test that needs one regression only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import BaseCITest
from ..inputs import CIData, train_test_rows
from ..nuisance.conditional_mean import choose_regression, prediction_weights, residual_gram
from ..null import permutation_pvalue
from ..null.resampling import draws_option
from ..null.wild_bootstrap import off_diagonal_mean, wild_bootstrap
from ..numeric.kernels import center, gaussian_gram, median_width
from ..numeric.memory import require_memory
from ..numeric.standardize import Standardizer
from ..numeric.streams import generator
from ..parameters import real
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["CIRCE", "SplitData", "held_out_option"]


# Two of the fewest rows a test accepts, for either part: one row has no pairs.
_LEAST_SHARE = 0.1


def held_out_option(default: float) -> Any:
    """Field of a test that learns on one part of the rows and tests on the other."""
    words = "Share of the rows kept for the test."
    return real(default, words, least=_LEAST_SHARE, most=1.0 - _LEAST_SHARE)


@register(
    "circe",
    tags=TestTags(
        summary="kernel test with a single regression, train/test split and wild bootstrap",
        symmetric=False,
        cost="O(n^3)",
        splits=True,
        assumes=(
            "the conditional mean of Y's features is learned well compared with the noise on the test rows"
        ),
        fails=(
            "by rejecting true nulls under strong confounding, and by low power at small n; prefer split-kci"
        ),
    ),
)
class CIRCE(BaseCITest):
    """Conditional independence regression covariance.

    The features of ``y`` minus their conditional mean given ``z`` are uncorrelated with every function of
    (x, z) when ``x`` and ``y`` are independent given ``z``. The conditional mean is learned on training rows
    by kernel ridge regression; the test rows give the mean product of the residual kernel of ``y`` with the
    kernels of ``x`` and ``z``, compared with its wild bootstrap.

    Notes
    -----
    Widths are median distances; width and ridge of the regression minimise the leave-one-out error in the
    feature space. The effect size is the cosine between the residual kernel of ``y`` and the kernel of
    ``x``, both weighted by the kernel of ``z``.

    References
    ----------
    R. Pogodin, N. Deka, Y. Li, D. J. Sutherland, V. Veitch and A. Gretton. Efficient conditionally invariant
    representation learning. ICLR, 2023.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=(2, 400))
    >>> y = z + x + rng.normal(size=400)
    >>> CIRCE(random_state=0).test(x, y, z).reject()
    True
    """

    test_fraction: float = held_out_option(0.2)
    n_bootstrap: int = draws_option(999, "Draws of the wild bootstrap.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        require_memory(data.n, 6, method="circe", instead="rcit")
        rng = generator(seed, "circe")
        train, test = train_test_rows(data.n, self.test_fraction, rng)
        split = SplitData.from_rows(data, train, test)
        gram_y, diagnostics = split.residual_gram("y")
        gram_x = center(gaussian_gram(split.test["x"], split.widths["x"]))
        return split.outcome(gram_x, gram_y, self.n_bootstrap, rng, diagnostics)


class SplitData:
    """Rows by role, standardised by the training rows, and kernel pieces that CIRCE and SplitKCI share."""

    def __init__(self, train: dict[str, np.ndarray], test: dict[str, np.ndarray]) -> None:
        self.train, self.test = train, test
        self.widths = {role: median_width(values) for role, values in train.items()}

    @classmethod
    def from_rows(cls, data: CIData, train: np.ndarray, test: np.ndarray) -> SplitData:
        """Standardise by the training rows."""
        blocks = {"x": data.x, "y": data.y} | ({} if data.z is None else {"z": data.z})
        trained, tested = {}, {}
        for role, block in blocks.items():
            scale = Standardizer.fit(block.values[train])
            trained[role], tested[role] = (scale.transform(block.values[rows]) for rows in (train, test))
        return cls(trained, tested)

    def residual_gram(self, role: str, parts: int = 1) -> tuple[np.ndarray, dict[str, Any]]:
        """Residual kernel of the test rows of ``"x"`` or ``"y"``.

        One regression on all training rows, or, with two `parts`, one on each half of them, for either
        argument of the kernel.
        """
        values, width = self.train[role], self.widths[role]
        pieces = [slice(None)] if parts == 1 else [slice(0, None, 2), slice(1, None, 2)]
        fitted = []
        diagnostics: dict[str, Any] = {}
        for k, rows in enumerate(pieces):
            if "z" not in self.train:
                weights = np.full((len(self.test[role]), len(values[rows])), 1.0 / len(values[rows]))
            else:
                z = self.train["z"][rows]
                chosen = choose_regression(z, gaussian_gram(values[rows], width))
                weights = prediction_weights(z, self.test["z"], *chosen)
                diagnostics |= {f"width_z_for_{role}_{k}": chosen[0], f"ridge_for_{role}_{k}": chosen[1]}
            fitted.append((values[rows], weights))
        return residual_gram(self.test[role], width, *fitted), diagnostics

    def outcome(
        self,
        gram_x: np.ndarray,
        gram_y: np.ndarray,
        n_bootstrap: int,
        rng: np.random.Generator,
        diagnostics: dict[str, Any],
    ) -> Outcome:
        """Statistic, wild bootstrap and effect size from kernels of the test rows, one or both residual."""
        n = len(gram_x)
        gram_z = gaussian_gram(self.test["z"], self.widths["z"]) if "z" in self.test else np.ones((n, n))
        products = gram_x * gram_y * gram_z
        observed = off_diagonal_mean(products)
        scale = math.sqrt(off_diagonal_mean(gram_x**2 * gram_z) * off_diagonal_mean(gram_y**2 * gram_z))
        n_train = len(self.train["x"])
        if scale <= 1e-20:
            message = "the kernels do not vary given z: there is nothing left to test, and the p-value is one"
            null = NullDistribution("wild_bootstrap")
            return Outcome(0.0, 1.0, null, 0.0, diagnostics, (message,), n_train=n_train, n_test=n)
        return Outcome(
            statistic=n * observed,
            pvalue=permutation_pvalue(observed, wild_bootstrap(products, n_bootstrap, rng)),
            null=NullDistribution("wild_bootstrap", {"n_bootstrap": n_bootstrap}),
            effect_size=observed / scale,
            diagnostics=diagnostics,
            n_train=n_train,
            n_test=n,
        )
