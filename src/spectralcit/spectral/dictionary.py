"""Closed-form features of one side of the test: residuals, rank cosines of them and of the columns.

Features may depend on Z (X ⊥ Y | Z exactly when E[Cov(f(X, Z), g(Y, Z) | Z)] = 0 for all f and g), so they
are built from residuals: in a world of additive or scaled noise nothing of Z is left in them, and elsewhere
the second removal of Z takes out the rest. Everything here uses one side and Z only; under the null
hypothesis the two sides are therefore independent given Z, whatever was selected on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..inputs import Block
from ..nuisance import Nuisance, NuisanceFit
from ..nuisance.maps import normal_scores, random_cosines
from ..numeric.ranks import rank_angles
from ..numeric.standardize import standardized
from .predicted import beside_prediction, mean_is_within_reach
from .ridge_pairs import leading, leading_components
from .scales import log_squares, scale_where_clear
from .side_features import SideFeatures, SideResiduals

__all__ = [
    "FINEST_ORDER",
    "GRAM_ROWS",
    "MAX_ORDER",
    "Location",
    "dictionary",
    "learn_location",
    "location_scale",
    "on_scale",
    "smooth_columns",
    "winsorised",
]

MAX_ORDER = 5  # by hand: in the sums higher orders cost the others power; the search looks at finer ones
FINEST_ORDER = 16  # by hand: of a single column: eight periods over its range
MAX_NONLINEAR = 60  # of more nonlinear columns than this the leading components are used
_MAX_LINEAR = 100  # likewise of linear ones when there are too many rows for Gram matrices
GRAM_ROWS = 2000  # up to here n × n matrices of kernels (32 MB) are cheaper than products of many features
_N_JOINT = 20  # by hand: cosines of all columns together
_JOINT_COMPONENTS = 20  # by hand: leading components that these cosines are functions of
_MANY_COLUMNS = 100  # of more columns than this only cosines of low orders are used
_CELLS = 20_000_000  # of nonlinear columns that are kept one by one
_TIE_SHARE = 0.2  # a value this frequent makes a column behave like a discrete one
_TIE = 1.0 + 1e-9  # ratio of errors that are equal up to rounding: then normal scores are used
_CLIP = 4.0  # by hand: robust standard deviations


@dataclass(frozen=True, eq=False)
class Location:
    """What Z explains of the columns of one side, on the scale on which it explains them best."""

    fit: NuisanceFit
    normal_scored: np.ndarray  # which columns were replaced by normal scores first


def learn_location(block: Block, nuisance: Nuisance) -> Location:
    """Explain each column by Z.

    A continuous column is first replaced by its normal scores, unless Z predicts the raw column better:
    scores tame heavy tails and undo monotone distortions, raw values keep a linear model linear.
    """
    smooth = smooth_columns(block)
    scored = np.zeros(block.n_columns, dtype=bool)
    raw = on_scale(block, scored)
    if smooth.any():
        # Without Z the errors are equal up to rounding, which must not decide.
        errors = nuisance.prediction_error(on_scale(block, smooth))
        scored = smooth & (errors <= _TIE * nuisance.prediction_error(raw))
    return Location(nuisance.fit_location(on_scale(block, scored)), scored)


def on_scale(block: Block, normal_scored: np.ndarray) -> np.ndarray:
    """Return the standardised columns, some of them as normal scores."""
    targets = standardized(block.values)
    if normal_scored.any():
        targets[:, normal_scored] = standardized(normal_scores(targets[:, normal_scored]))
    return targets


def location_scale(block: Block, nuisance: Nuisance, location: Location | None = None) -> SideResiduals:
    """Subtract the conditional mean and divide by the conditional scale, column by column.

    Scales are used only where they clearly depend on Z.
    """
    learned = learn_location(block, nuisance) if location is None else location
    smooth = smooth_columns(block)
    residuals = learned.fit.studentised.copy()
    rescaled = np.zeros(block.n_columns, dtype=bool)
    if smooth.any():
        divisors = _conditional_scale(residuals[:, smooth], nuisance, learned.fit)
        rescaled[smooth] = (divisors != 1.0).any(axis=0)
        residuals[:, smooth] /= divisors
    return SideResiduals(residuals, learned.fit, learned.normal_scored, rescaled, smooth)


def smooth_columns(block: Block) -> np.ndarray:
    """Tell which columns are continuous with no single value in over a fifth of the rows."""
    continuous = np.array([kind == "continuous" for kind in block.kinds])
    # A value in over a fifth of the rows fills two sorted places that far apart.
    ordered = np.sort(block.values, axis=0)
    gap = int(_TIE_SHARE * len(ordered))
    return continuous & (ordered[gap:] != ordered[: len(ordered) - gap]).all(axis=0)


def _conditional_scale(residuals: np.ndarray, nuisance: Nuisance, location: NuisanceFit) -> np.ndarray:
    """Return each residual's scale given Z: exactly one in columns where it does not clearly depend on Z."""
    log_square = log_squares(residuals)
    left = nuisance.fit_scale(log_square, location).out_of_sample
    return scale_where_clear(log_square, left, None if location.design is None else location.design.clusters)


def dictionary(block: Block, residuals: SideResiduals, nuisance: Nuisance) -> SideFeatures:
    """Build linear and nonlinear features of the residuals and remove from them what Z still explains."""
    linear = winsorised(residuals.values, residuals.smooth)
    linear_names = [f"{name}: linear" for name in block.names]
    joint = _joint_cosines(linear) if block.n_columns > 1 and residuals.smooth.any() else linear[:, :0]
    if len(linear) > GRAM_ROWS:
        linear, linear_names = leading(linear, _MAX_LINEAR, linear_names)
    curved, orders = _rank_cosines(block, residuals)
    curved_names = [f"{block.names[j]}: order {k}" for j, k in orders]
    names = [*curved_names, *(f"joint {k + 1}" for k in range(joint.shape[1]))]
    nonlinear = np.hstack([curved, joint])
    if nonlinear.size > _CELLS:
        nonlinear, names = leading(nonlinear, MAX_NONLINEAR, names)
        curved_names = []
    features = np.hstack([linear, nonlinear])
    fit = nuisance.fit_features(features, residuals.location)
    removed = fit.remove(features)
    split = linear.shape[1]
    curved = removed[:, split : split + len(curved_names)]
    nonlinear, names = leading(removed[:, split:], MAX_NONLINEAR, names)
    shown = residuals.smooth & mean_is_within_reach(len(linear), int(residuals.smooth.sum()))
    direct, _ = leading(_direct_cosines(block.values[:, shown]), MAX_NONLINEAR)
    direct_fit = nuisance.fit_features(direct, residuals.location) if direct.shape[1] else fit
    direct_fit = beside_prediction(direct_fit, residuals.location, residuals.smooth)
    return SideFeatures(
        linear=removed[:, :split],
        nonlinear=nonlinear,
        names=(*linear_names, *names),
        fit=fit,
        residuals=residuals,
        direct=direct_fit.remove(direct),
        direct_fit=direct_fit,
        curved=curved,
        curved_names=tuple(curved_names),
        fine=direct_fit.remove(_fine_cosines(block, residuals)),
        one_category=len(set(block.groups)) == 1,
    )


def winsorised(residuals: np.ndarray, smooth: np.ndarray) -> np.ndarray:
    """Return standardised residuals, those of `smooth` columns clipped at four robust standard deviations."""
    values = residuals.copy()
    spread = np.quantile(np.abs(values), 0.75, axis=0) / stats.norm.ppf(0.875)
    clipped = smooth & (spread > 0)
    bound = _CLIP * spread[clipped]
    values[:, clipped] = np.clip(values[:, clipped], -bound, bound)
    return standardized(values)


def _rank_cosines(block: Block, residuals: SideResiduals) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Return cosines of order two and up of each column's mid-ranks, with amplitudes 1/(order - 1).

    Smooth columns are ranked by their residuals. Columns with heavy ties are ranked by their own values:
    the residual of a tied value would reveal Z. A column with L levels has L - 1 functions, so its order
    stops there.
    """
    source = np.where(residuals.smooth, residuals.values, block.values)
    angles = rank_angles(source)
    most = MAX_ORDER if block.n_columns <= _MANY_COLUMNS else 3
    columns, orders = [], []
    for j, kind in enumerate(block.kinds):
        levels = {"indicator": 2, "continuous": MAX_ORDER + 1}.get(kind) or len(np.unique(source[:, j]))
        for order in range(2, min(most, levels - 1) + 1):
            columns.append(np.sqrt(2.0) * np.cos(order * angles[:, j]) / (order - 1))
            orders.append((j, order))
    return (np.column_stack(columns) if columns else np.zeros((len(source), 0))), orders


def _direct_cosines(values: np.ndarray) -> np.ndarray:
    """Return cosines of each column's own ranks.

    Where X given Z has two peaks, or acts on Y through a function that is not monotone, its residual hides
    what its value shows.
    """
    angles = rank_angles(values)
    most = MAX_ORDER if values.shape[1] <= _MANY_COLUMNS else 2
    return np.hstack([np.sqrt(2.0 / order) * np.cos(order * angles) for order in range(1, most + 1)])


def _fine_cosines(block: Block, residuals: SideResiduals) -> np.ndarray:
    """Return cosines of orders beyond `MAX_ORDER` of a single column's ranks and of its residual's."""
    if block.n_columns > 1 or not residuals.smooth.all():
        return np.zeros((len(block.values), 0))
    angles = rank_angles(np.hstack([residuals.values, block.values]))
    orders = np.arange(MAX_ORDER + 1, FINEST_ORDER + 1)
    return np.sqrt(2.0) * np.cos(angles[:, :, None] * orders).reshape(len(angles), -1)


def _joint_cosines(linear: np.ndarray) -> np.ndarray:
    """Return Fourier features of all columns together, for dependence on their interactions.

    Frequencies are random but fixed, in coordinates that do not depend on the order of the columns: neither
    that nor the seed may decide what is found.
    """
    scores = leading_components(linear, _JOINT_COMPONENTS).scores
    rng = np.random.default_rng(scores.shape[1])
    return random_cosines(scores, _N_JOINT, (0.5, 1.0, 2.0), rng) * np.sqrt(2.0 / _N_JOINT)
