"""SplitKCI: KCIT with a training set, debiased by two independent regressions."""

from __future__ import annotations

from ..base import BaseCITest
from ..inputs import CIData, train_test_rows
from ..null.resampling import draws_option
from ..numeric.memory import require_memory
from ..numeric.streams import generator
from ..registry import TestTags, register
from ..result import Outcome
from .circe import SplitData, held_out_option

__all__ = ["SplitKCI"]


@register(
    "split-kci",
    tags=TestTags(
        summary="KCIT with train/test split and two independent regressions against bias",
        symmetric=False,
        cost="O(n^3)",
        splits=True,
        assumes="its regressions remove most of Z",
        fails=(
            "under strong or high-dimensional confounding, and has less power than a test that uses all rows"
        ),
    ),
)
class SplitKCI(BaseCITest):
    """Kernel conditional independence test with data splitting.

    As in KCIT, the features of ``x`` and of ``y`` are replaced by their residuals given ``z``. The
    regressions are learned on training rows, and for ``x`` twice, on halves of them: the residual kernel of
    rows i and j uses one regression for i and the other for j, so that the bias of the regression enters as
    a product of two independent errors instead of as a square. The null distribution is a wild bootstrap on
    the test rows.

    Notes
    -----
    Widths are median distances; width and ridge of each regression minimise the leave-one-out error in the
    feature space. The effect size is the cosine between the two residual kernels, weighted by the kernel of
    ``z``.

    References
    ----------
    R. Pogodin, A. Schrab, Y. Li, D. J. Sutherland and A. Gretton. Practical kernel tests of conditional
    independence. 2025.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.normal(size=(2, 400))
    >>> y = z + x + rng.normal(size=400)
    >>> SplitKCI(random_state=0).test(x, y, z).reject()
    True
    """

    test_fraction: float = held_out_option(0.3)
    n_bootstrap: int = draws_option(999, "Draws of the wild bootstrap.")

    def _run(self, data: CIData, seed: int) -> Outcome:
        require_memory(data.n, 6, method="split-kci", instead="rcit")
        rng = generator(seed, "split-kci")
        train, test = train_test_rows(data.n, self.test_fraction, rng)
        # The two halves of the training rows are its even and odd rows; shuffled, for rows may come sorted.
        split = SplitData.from_rows(data, rng.permutation(train), test)
        gram_x, from_x = split.residual_gram("x", parts=2)
        gram_y, from_y = split.residual_gram("y")
        return split.outcome(gram_x, gram_y, self.n_bootstrap, rng, from_x | from_y)
