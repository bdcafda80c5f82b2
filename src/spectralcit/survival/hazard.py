"""The hazard of an event given Z: proportional risks with smooth terms of Z that may change over time.

``log risk = f(z) + h_1(t) f_1(z) + h_2(t) f_2(z)``, the f in a space of functions that the default's search
for a smoother found, and a baseline that is free at every event time. Ridge-penalised likelihood; space,
change over time and penalty by Akaike's criterion, the closed form of leave-one-out likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inputs import Block, RowDesign
from ..nuisance import KernelRidge
from ..nuisance.maps import AdditiveCosines, FeatureMap
from ..numeric.linear import orthonormal_columns
from ..numeric.standardize import standardized
from .likelihood import PenalisedLikelihood, Space
from .risk import RiskSets

__all__ = ["Hazard", "fit_hazard"]

_MAX_FUNCTIONS = 80  # by hand: of Z, the leading ones of a smoother's space
_EVENTS_PER_FREE_COLUMN = 10  # the usual rule: with fewer events the columns of Z are shrunk as well
_PENALTIES = 10.0 ** np.arange(3.0, -1.1, -0.5)  # of unit-variance functions, beside the number of events
_TIME_SCALE = 0.5  # by hand: changes over time are shrunk four times as much as what stays
_SELECTION_ROWS = 4000  # of more rows a part chooses, as in the default
_LEVERAGE_CAP = 0.9  # by hand: a residual is scaled up threefold at most
_RISK_RANGE = 12.0  # logarithm: risks beyond e^12 are extrapolation


@dataclass(frozen=True, eq=False)
class Hazard:
    """A fitted hazard: relative risks, exposures and martingale residuals by row and interval."""

    sets: RiskSets
    risk: np.ndarray
    exposure: np.ndarray
    leverage: np.ndarray  # of each cell on its own fit
    degrees_of_freedom: float
    name: str
    n_clusters: int | None = None  # of rows that belong together

    @property
    def residuals(self) -> np.ndarray:
        """Increments of the martingale residuals, shape (n, intervals)."""
        return self.sets.events - self.risk * self.exposure

    @property
    def noise(self) -> np.ndarray:
        """The same, scaled up to the variance that they had before the fit.

        Each cell by its leverage; and, as in the default, half of the degrees of freedom once more, because
        functions and penalty were chosen from the data. What a fit takes of a group's noise matters more the
        fewer groups there are: hence their number over one less, as without censoring.
        """
        share = min((self.degrees_of_freedom - self.sets.n_intervals) / self.sets.events.sum(), 1.0)
        kept = (1.0 - np.minimum(self.leverage, _LEVERAGE_CAP)) * (1.0 - 0.5 * share)
        few = 1.0 if self.n_clusters is None else self.n_clusters / (self.n_clusters - 1.0)
        return self.residuals * np.sqrt(few / kept)


def fit_hazard(
    sets: RiskSets, z: Block | None, rng: np.random.Generator, design: RowDesign | None = None
) -> Hazard:
    """Fit the hazard given Z; without Z it is the same for all."""
    n = len(sets.time)
    clusters = None if design is None else design.clusters
    count = None if clusters is None else len(np.unique(clusters))
    alike = np.ones(sets.events.shape)
    marginal = sets.exposure(alike)
    if z is None:
        leverage = marginal / marginal.sum(axis=0)
        return Hazard(sets, alike, marginal, leverage, float(sets.n_intervals), "constant", count)
    rows = np.arange(n) if n <= _SELECTION_ROWS else np.sort(rng.choice(n, _SELECTION_ROWS, replace=False))
    least, chosen, penalty = np.inf, None, np.inf
    for space in _spaces(sets, z, sets.events - marginal, rng, design):
        fit = PenalisedLikelihood(space.on(rows), sets.events[rows], marginal[rows])
        for each in _PENALTIES:
            fit.maximise(each)
            criterion = fit.criterion(each, None if clusters is None else clusters[rows])
            if criterion < least:
                least, chosen, penalty = criterion, space, each
    assert chosen is not None
    fit = PenalisedLikelihood(chosen, sets.events, marginal)
    for each in _PENALTIES[: int(np.argmin(np.abs(_PENALTIES - penalty))) + 1]:
        fit.maximise(each)
    risk = np.exp(np.clip(fit.log_risk, -_RISK_RANGE, _RISK_RANGE))
    leverage, df = fit.leverage(penalty), fit.degrees_of_freedom(penalty)
    name = f"{chosen.name}, penalty {penalty:.2g}"
    return Hazard(sets, risk, sets.exposure(risk), leverage, df, name, count)


def _spaces(
    sets: RiskSets, z: Block, marginal: np.ndarray, rng: np.random.Generator, design: RowDesign | None
) -> list[Space]:
    """Return linear, additive, and what a search says that early and late events follow; each also over time.

    `marginal` holds the martingale residuals of a hazard that is the same for all.
    """
    columns, continuous = standardized(z.values), [j for j, k in enumerate(z.kinds) if k == "continuous"]
    cosines = np.cos(np.pi * sets.middles[:, None] * np.arange(1, min(sets.n_intervals, 3)))
    targets = np.hstack([marginal.sum(axis=1)[:, None], marginal @ cosines[:, :1]])
    found = KernelRidge(z, len(columns), rng, design=design).fit_location(targets).chosen.smoother
    maps: dict[str, FeatureMap | None] = {
        "linear": None,
        "additive": AdditiveCosines.fit(columns, np.array(continuous, dtype=int), len(columns)),
        found.name: found.feature_map,
    }
    n_events = int(sets.event.sum())
    free = _EVENTS_PER_FREE_COLUMN * columns.shape[1] <= n_events
    straight = np.full(columns.shape[1], 0.0 if free else 1.0)
    spaces = []
    for name, feature_map in maps.items():
        curved = columns[:, :0] if feature_map is None else _leading(feature_map(columns), columns, n_events)
        if feature_map is None and name != "linear":
            continue
        functions = np.hstack([columns, curved])
        penalties = np.append(straight, np.ones(curved.shape[1]))[:, None]
        for over_time in [cosines[:, :0], cosines] if cosines.size else [cosines]:
            changing = np.full((len(penalties), over_time.shape[1]), _TIME_SCALE**-2)
            spaces.append(
                Space(
                    functions,
                    np.hstack([penalties, changing]),
                    np.hstack([np.ones((sets.n_intervals, 1)), over_time]),
                    f"{name} over time" if over_time.size else name,
                )
            )
    return spaces


def _leading(features: np.ndarray, columns: np.ndarray, n_events: int) -> np.ndarray:
    """Return leading principal components of features without their linear part, the first of size one."""
    fixed = orthonormal_columns(columns)
    rest = features - fixed @ (fixed.T @ features)
    values, vectors = np.linalg.eigh(rest.T @ rest)
    kept = min(_MAX_FUNCTIONS, n_events // 2, int((values > 1e-9 * values[-1]).sum()))
    largest = vectors[:, ::-1][:, :kept]
    return rest @ largest * np.sqrt(len(rest) / max(values[-1], 1e-300))
