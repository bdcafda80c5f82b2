"""What the default tells besides its p-value: effect, directions, how well Z was removed, and warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs import CIData
from ..numeric.grouped import members_of
from ..result import NullDistribution, Outcome
from .effect import cosine, noise_moments, partial_feature_correlation
from .evidence import Evidence
from .learnable import unlearned
from .side_features import SideFeatures
from .sides import Sides, WideZ
from .witness import leading_directions

__all__ = ["is_function_of_z", "nothing_left", "outcome_of"]

# Share of the variance that Z explains. What is left above the first is rounding; above the second, by hand,
# errors of the fit are no longer small beside it.
_DETERMINISTIC = 1.0 - 1e-9
_NEARLY_DETERMINISTIC = 0.99
_STRAINED_SHARE = 0.5  # of the degrees of freedom: by hand, where residuals begin to say little about noise
_HIGH_LEVERAGE_ROWS = 0.02  # of the rows: by hand; a handful in any table is no news


def is_function_of_z(side: SideFeatures) -> bool:
    """Whether Z explains the side up to rounding."""
    return side.residuals.location.r_squared > _DETERMINISTIC


def nothing_left() -> Outcome:
    """A variable that Z determines is independent of everything given Z."""
    warning = (
        "X or Y is a function of Z up to rounding: given Z nothing of it is left to test, and independence "
        "holds trivially"
    )
    return Outcome(
        statistic=0.0,
        pvalue=1.0,
        null=NullDistribution("degenerate", {}),
        effect_size=0.0,
        warnings=(warning,),
    )


def outcome_of(evidence: Evidence, whole: list[Sides], data: CIData) -> Outcome:
    """The evidence, with all that is told beside it."""
    sides = whole[0]
    u, v = sides.x.together, sides.y.together
    directions = leading_directions(u, v, count=3)
    clusters = None if sides.design is None else sides.design.clusters
    noise = noise_moments(u, v) if clusters is None else _clustered_noise_moments(u, v, clusters)
    effect = partial_feature_correlation(u, v, *noise, clusters=clusters)
    diagnostics: dict[str, Any] = {
        **evidence.details,
        "effect_interval": [effect.low, effect.high],
        **_partial_correlation(sides.x, sides.y),
        "singular_values": directions.singular_values.tolist(),
        "directions": {
            "x": _strongest(directions.left, u, sides.x.names),
            "y": _strongest(directions.right, v, sides.y.names),
        },
        "x": _side_diagnostics(sides.x),
        "y": _side_diagnostics(sides.y),
    }
    pair = u @ directions.left[:, 0], v @ directions.right[:, 0]
    return Outcome(
        statistic=evidence.statistic,
        pvalue=evidence.pvalue,
        null=evidence.null,
        effect_size=effect.size,
        diagnostics=diagnostics,
        warnings=_warnings(sides, data) + unlearned(sides, data, pair, evidence.pvalue),
    )


def _partial_correlation(x: SideFeatures, y: SideFeatures) -> dict[str, float]:
    """The correlation of what Z leaves of two single columns, whose sign says which way they go."""
    if x.linear.shape[1] != 1 or y.linear.shape[1] != 1:
        return {}
    return {"partial_correlation": cosine(x.linear[:, 0], y.linear[:, 0])}


def _clustered_noise_moments(u: np.ndarray, v: np.ndarray, clusters: np.ndarray) -> tuple[float, float]:
    """Return these moments when rows of one cluster are not independent."""
    sums = np.stack([(u[rows].T @ v[rows]).ravel() for rows in members_of(clusters)])
    gram = sums @ sums.T
    own = np.diag(gram)
    off = float(np.square(gram).sum() - np.square(own).sum())
    return float(own.sum()) / len(u), 2.0 * off / len(u) ** 2


def _strongest(
    coefficients: np.ndarray, features: np.ndarray, names: tuple[str, ...]
) -> list[dict[str, float]]:
    """For each direction, the three features that carry most of it, with their shares."""
    sizes = np.abs(coefficients) * features.std(axis=0)[:, None]
    shares = sizes / np.maximum(sizes.sum(axis=0), 1e-300)
    return [{names[j]: round(float(share[j]), 4) for j in np.argsort(-share)[:3]} for share in shares.T]


def _side_diagnostics(side: SideFeatures) -> dict[str, Any]:
    residuals = side.residuals
    return {
        "r_squared": residuals.location.r_squared,
        "location_fit": residuals.location.name,
        "feature_fit": side.fit.name,
        "degrees_of_freedom": side.fit.degrees_of_freedom,
        "high_leverage_share": side.fit.high_leverage_share,
        "n_normal_scored": int(residuals.normal_scored.sum()),
        "n_rescaled": int(residuals.rescaled.sum()),
        "n_linear": side.linear.shape[1],
        "n_nonlinear": side.nonlinear.shape[1],
    }


def _warnings(sides: Sides, data: CIData) -> tuple[str, ...]:
    found = []
    for label, side in (("X", sides.x), ("Y", sides.y)):
        share = side.fit.degrees_of_freedom / len(side.linear)
        if share > _STRAINED_SHARE:
            found.append(
                f"removing Z from {label} used {share:.0%} of the degrees of freedom: too few rows for this Z"
            )
        if side.residuals.location.r_squared > _NEARLY_DETERMINISTIC:
            found.append(
                f"Z explains {side.residuals.location.r_squared:.2%} of {label}: little is left to test, and "
                "small errors of the fit matter"
            )
        if side.fit.high_leverage_share > _HIGH_LEVERAGE_ROWS:
            found.append(
                f"{side.fit.high_leverage_share:.0%} of the rows are so unusual in Z that they alone decide "
                f"their own prediction of {label}"
            )
    if sides.wide is not None and data.z is not None:
        found.append(_wide_warning(sides.wide, data.z.n_columns, data.n))
    return tuple(found)


def _wide_warning(wide: WideZ, width: int, n: int) -> str:
    if wide.complete:
        return (
            f"Z has {width} columns for {n} rows and acts through many of them: all were removed by least "
            "squares, which leaves little to test"
        )
    if wide.linear is not None:
        return (
            f"Z has {width} columns for {n} rows and acts on X and on Y through many of them: its leading "
            f"{wide.linear.shape[1]} principal components were removed, and what stays of Z may look like "
            "dependence"
        )
    count = 0 if wide.part is None else wide.part.n_columns
    return (
        f"Z has {width} columns for {n} rows: only what X or Y visibly follows was removed, {count} of its "
        "columns and principal components"
    )
