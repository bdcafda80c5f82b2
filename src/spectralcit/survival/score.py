"""Scores of features of X: sums over time of what Z leaves of a feature times what Z leaves of the event.

``sum_j h(j) u_ij M_ij`` with u_ij the feature minus its mean given Z *among the rows at risk in interval j*
and M_ij the increment of the martingale residual. If the hazard given Z is right the score has mean zero,
however censoring depends on X and Z; if it is a little wrong, the mean is a product of two small errors.

References
----------
A. M. Christgau, L. Petersen and N. R. Hansen. Nonparametric conditional local independence testing. Annals of
Statistics, 2023.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..inputs import RowDesign
from ..nuisance import Smoother, select
from ..nuisance.designed import make_smoother
from ..numeric.linear import orthonormal_columns
from .hazard import Hazard
from .risk import RiskSets

__all__ = ["effect_sizes", "removed_at_risk", "score_rows"]


def removed_at_risk(
    groups: Sequence[tuple[np.ndarray, Smoother]],
    columns: np.ndarray,
    sets: RiskSets,
    design: RowDesign | None = None,
) -> list[np.ndarray]:
    """Remove Z from groups of features among the rows at risk in each interval.

    Each group comes with the smoother that explains it on all rows, whose functions of Z are fitted anew in
    each interval; `columns` are those of Z, standardised. The results have shape (n, intervals, features).
    """
    left = [np.zeros((len(columns), sets.n_intervals, features.shape[1])) for features, _ in groups]
    for j in range(sets.n_intervals):
        rows = np.flatnonzero(sets.at_risk[:, j])
        fixed = orthonormal_columns(columns[rows])
        if fixed.shape[1] >= len(rows):
            continue
        here_design = None if design is None else design.subset(rows)
        linear = make_smoother(fixed, name="linear", design=here_design)
        smoothers: dict[Smoother, list[Smoother]] = {}
        for (features, found), target in zip(groups, left, strict=True):
            here = features[rows]
            varying = here[:, here.std(axis=0) > 0]
            if varying.shape[1] == 0:
                continue
            if found not in smoothers:
                smoothers[found] = [linear]
                if found.feature_map is not None:
                    args = fixed, columns[rows], found.feature_map
                    smoothers[found].append(make_smoother(*args, name=found.name, design=here_design))
            chosen = select(smoothers[found], varying)
            target[rows, j] = chosen.smoother.residuals(here, chosen.penalty)
    return left


def score_rows(left: np.ndarray, hazard: Hazard, over_time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's scores, of shape (n, features, functions of time), and the same for the null."""
    return (
        np.einsum("ijf,ij,jk->ifk", left, hazard.residuals, over_time, optimize=True),
        np.einsum("ijf,ij,jk->ifk", left, hazard.noise, over_time, optimize=True),
    )


def effect_sizes(left: np.ndarray, hazard: Hazard) -> np.ndarray:
    """Return the correlation of each feature with the events, among what Z leaves of both, with its sign.

    That is the score over the root of its information times the number of events: the log hazard ratio of a
    standard deviation of the feature, as long as it is small.
    """
    score = np.einsum("ijf,ij->f", left, hazard.residuals)
    information = np.einsum("ijf,ij->f", np.square(left), hazard.risk * hazard.exposure)
    return score / np.sqrt(np.maximum(information * hazard.sets.events.sum(), 1e-300))
