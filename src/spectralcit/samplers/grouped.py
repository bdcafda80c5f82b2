"""Models of x given z for rows that belong together: noise whose clusters stay whole.

Copies of x whose rows were drawn one by one would not vary as much as x does when its rows belong together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError
from ..inputs import Block, RowDesign
from ..nuisance.regression import cross_fitted_residuals
from ..numeric.grouped import members_of
from .model_x import GaussianSampler

__all__ = ["ClusterSigns", "within_groups"]

_FOLDS = 10  # by hand: nine tenths of the clusters predict nearly as well as all
_ROUNDS = 12  # by hand: of what is shared by z and groups, seven tenths of a variance, a hundredth is left


class ClusterSigns:
    """Draws x given z as its regression on z plus the observed noise, each cluster of it with a random sign.

    Exact, up to the regression, when the noise of a cluster is as likely as its negative.
    """

    def __init__(self, sampler: Any, x: Block, z: Block | None, design: RowDesign) -> None:
        if sampler not in ("auto", "gaussian") or any(kind != "continuous" for kind in x.kinds):
            raise ParameterError(
                f"{' and '.join(design.given)}: 'crt' can draw clusters of a continuous x with "
                "sampler='auto' or 'gaussian' only; a sampler of your own, or of categories, draws rows one "
                "by one: use 'spectral'"
            )
        # Each cluster predicted from the others: a fit that knew it would follow what its rows share.
        self.noise = cross_fitted_residuals(
            "smooth", None if z is None else z.values, x.values, n_folds=_FOLDS, seed=0, rows=design
        )
        self.location = x.values - self.noise
        assert design.clusters is not None
        self.codes = np.unique(design.clusters, return_inverse=True)[1].ravel()

    def sample(self, z: Any, rng: np.random.Generator) -> np.ndarray:
        """Draw x, as `ConditionalSampler` says."""
        signs = rng.choice(np.array([-1.0, 1.0]), size=self.codes.max() + 1)
        return self.location + signs[self.codes, None] * self.noise


def within_groups(model: Any, x: np.ndarray, z: np.ndarray | None, codes: np.ndarray) -> Any:
    """Return a Gaussian model of x within groups; only there its density decides.

    What rows of a group have in common cancels in the odds of exchanging two of them.
    """
    if z is None:
        return model
    if not isinstance(model, GaussianSampler) or model.noise != "constant":
        raise ParameterError(
            "groups: 'cpt' needs a continuous x and sampler='auto' or 'gaussian'; use 'spectral' or 'crt'"
        )
    members = members_of(codes)
    common = np.zeros_like(x)
    for _ in range(_ROUNDS):  # what groups have in common and what z explains, in turn
        model.fit(x - common, z)
        for rows in members:
            common[rows] = (x[rows] - model.location_[rows]).mean(axis=0)
    apart = x - model.location_ - common
    freedom = max(len(x) - len(members), 1)
    least = np.square(1e-8 * x.std(axis=0))  # z and the group may determine x
    model.factor_ = np.linalg.cholesky(apart.T @ apart / freedom + np.diag(least))
    return model
