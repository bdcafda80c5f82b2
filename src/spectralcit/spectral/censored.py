"""The default test of a censored time: scores of X's features against the hazard given Z, in blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from ..inputs import Block, CIData
from ..nuisance import AugmentedFit, LinearFit, NuisanceFit, Smoother
from ..nuisance.screening import is_wide, relevant_part
from ..null.bootstrap import Multipliers
from ..null.joint import Combination, Null, joint_p
from ..numeric.grouped import sums_by_group
from ..numeric.standardize import standardized
from ..result import NullDistribution, Outcome
from ..survival import Hazard, RiskSets, effect_sizes, fit_hazard, removed_at_risk, score_rows
from .canonical import in_order
from .diagnostics import is_function_of_z, nothing_left
from .ridge_pairs import leading
from .sides import dictionary_side, make_nuisance, random_streams
from .zweights import ZWeights, z_weights

__all__ = ["censored_outcome"]

# Shares of the error rate: as in `blocks`, with changes over time in place of features of Y.
_SHARES = {
    "linear": 0.70,
    "largest linear": 0.25,  # of several columns; of one it would repeat the first
    "nonlinear": 0.06,
    "direct": 0.02,
    "linear × time": 0.10,
    "all × time": 0.02,
    "linear × Z": 0.05,
    "largest linear × column of Z": 0.03,
    "largest linear × function of Z": 0.02,
}
_MAX_FEATURES = 12  # by hand: of either kind where they are multiplied by functions of Z or of time
_STORED_DRAWS = 200  # of the null distribution in a result: enough for a picture, small in a file
_STRAINED_SHARE = 0.5  # of the events: by hand, as in the default of the rows
_MARGIN = 1.959964  # quantile of the standard normal distribution for 95 %
_FEW_EVENTS = 30  # by hand: below it the normal approximation of a score says little


def censored_outcome(data: CIData, seed: int, *, n_draws: int, combination: Combination) -> Outcome:
    """Test X against a censored time: `data.y` is one column of times that knows which are events."""
    rng, map_seed, null_rng, _ = random_streams(seed)
    data, _ = in_order(data)
    assert data.y.event is not None
    sets = RiskSets(data.y.values[:, 0], data.y.event)
    wide: tuple[str, ...] = ()
    if data.z is not None and is_wide(data.z, data.n):
        data, wide = _narrowed(data, sets)
    nuisance = make_nuisance("kernel_ridge", data.z, data.n, rng, data.design)
    x = dictionary_side(data.x, nuisance, rng, rng.bit_generator.state)
    if is_function_of_z(x):
        return nothing_left()
    hazard = fit_hazard(sets, data.z, rng, data.design)
    columns = np.zeros((data.n, 0)) if data.z is None else standardized(data.z.values)
    weights = None if data.z is None else z_weights(data.z, np.random.default_rng(map_seed))
    smoother = _smoother(x.fit)
    groups = [
        (x.linear, smoother),
        (leading(x.linear, _MAX_FEATURES)[0], smoother),
        (x.nonlinear, smoother),
        (x.direct, _smoother(x.direct_fit)),
    ]
    linear, few, nonlinear, direct = removed_at_risk(groups, columns, sets, data.design)
    blocks = _blocks(linear, few, nonlinear, direct, hazard, weights)
    order = np.lexsort((sets.time, *x.linear.T[:4]))
    clusters = None if data.design is None else data.design.clusters
    multipliers = Multipliers(data.n, n_draws, null_rng, order=order, clusters=clusters)
    evaluated = [_evaluate(name, *rows, multipliers) for name, rows in blocks.items()]
    joint = joint_p(
        np.array([statistic for statistic, _ in evaluated]),
        [null for _, null in evaluated],
        np.array([_SHARES[name] for name in blocks]),
        combination,
    )
    thinned = joint.draws[np.linspace(0, len(joint.draws) - 1, _STORED_DRAWS).astype(int)]
    effect, interval = _effect(linear, hazard, clusters)
    diagnostics: dict[str, Any] = {
        "block_pvalues": dict(zip(blocks, joint.pvalues.tolist(), strict=True)),
        "pvalue_error": joint.error,
        "effect_interval": interval,
        "hazard": {
            "fit": hazard.name,
            "degrees_of_freedom": hazard.degrees_of_freedom,
            "n_intervals": sets.n_intervals,
        },
        "x": {
            "r_squared": x.residuals.location.r_squared,
            "location_fit": x.residuals.location.name,
            "degrees_of_freedom": x.fit.degrees_of_freedom,
        },
    }
    return Outcome(
        statistic=joint.statistic,
        pvalue=max(joint.pvalue, 0.0 if clusters is None else multipliers.least_pvalue),
        null=NullDistribution("bootstrap", {"draws": thinned.tolist()}),
        effect_size=effect,
        diagnostics=diagnostics,
        warnings=(*wide, *_warnings(hazard)),
    )


def _narrowed(data: CIData, sets: RiskSets) -> tuple[CIData, tuple[str, ...]]:
    """Replace a Z of many columns by what X or the events visibly follow, and say so."""
    assert data.z is not None
    marginal = (sets.events - sets.exposure(np.ones(sets.events.shape))).sum(axis=1)
    events = Block(marginal[:, None], ("events",), ("continuous",), (0,))
    part = relevant_part(data.z, (data.x, events))
    count = 0 if part is None else part.n_columns
    warning = (
        f"Z has {data.z.n_columns} columns for {data.n} rows: only what X or the events visibly follow was "
        f"removed, {count} of its columns and principal components"
    )
    return replace(data, z=part), (warning,)


def _effect(left: np.ndarray, hazard: Hazard, clusters: np.ndarray | None) -> tuple[float, list[float]]:
    """Return the largest correlation of a column of X with the events given Z, and its 95 % interval."""
    sizes = np.abs(effect_sizes(left, hazard))
    best = int(np.argmax(sizes))
    scores, noise = score_rows(left[:, :, [best]], hazard, np.ones((hazard.sets.n_intervals, 1)))
    total = max(float(np.abs(scores.sum())), 1e-300)
    quantile = _MARGIN
    if clusters is not None:
        noise = sums_by_group(noise, clusters)
        quantile = float(stats.t.ppf(0.975, len(noise) - 1))
    margin = float(sizes[best] * quantile * np.sqrt(np.square(noise).sum()) / total)
    return float(sizes[best]), [max(float(sizes[best]) - margin, 0.0), float(sizes[best]) + margin]


def _warnings(hazard: Hazard) -> tuple[str, ...]:
    found = []
    n_events, df = int(hazard.sets.events.sum()), hazard.degrees_of_freedom
    if n_events < _FEW_EVENTS:
        found.append(
            f"there are {n_events} events only: p-values of scores need about {_FEW_EVENTS} to be exact"
        )
    if df > _STRAINED_SHARE * n_events:
        found.append(
            f"the hazard given Z used {df:.0f} degrees of freedom for {n_events} events: too few for this Z"
        )
    return tuple(found)


def _blocks(
    linear: np.ndarray,
    few: np.ndarray,
    nonlinear: np.ndarray,
    direct: np.ndarray,
    hazard: Hazard,
    weights: ZWeights | None,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return, by name, each row's scores and what the signs are put in front of."""
    sets = hazard.sets
    constant = np.ones((sets.n_intervals, 1))
    changing = np.cos(np.pi * sets.middles[:, None] * np.arange(1, min(sets.n_intervals, 3)))
    everything = np.concatenate([few, nonlinear[:, :, :_MAX_FEATURES]], axis=2)
    scores = {
        "linear": score_rows(linear, hazard, constant),
        "nonlinear": score_rows(nonlinear, hazard, constant),
        "direct": score_rows(direct, hazard, constant),
        "linear × time": score_rows(few, hazard, changing),
        "all × time": score_rows(everything, hazard, changing),
    }
    if linear.shape[2] > 1:
        scores["largest linear"] = scores["linear"]
    if weights is not None:
        with_z = score_rows(few, hazard, constant)
        for name, functions in (
            ("linear × Z", weights.linear),
            ("largest linear × column of Z", weights.columns),
            ("largest linear × function of Z", weights.functions),
        ):
            scores[name] = tuple(np.einsum("ifk,im->ifm", rows, functions) for rows in with_z)  # type: ignore[assignment]
    flat = {name: tuple(rows.reshape(len(rows), -1) for rows in pair) for name, pair in scores.items()}
    return {name: pair for name, pair in flat.items() if pair[0].shape[1]}  # type: ignore[misc]


def _smoother(fit: NuisanceFit) -> Smoother:
    """Return the smoother of a fit; further columns beside it do not take part among those at risk."""
    plain = fit.plain if isinstance(fit, AugmentedFit) else fit
    assert isinstance(plain, LinearFit)
    return plain.chosen.smoother


def _evaluate(name: str, rows: np.ndarray, noise: np.ndarray, multipliers: Multipliers) -> tuple[float, Null]:
    total = rows.sum(axis=0)
    sums = multipliers.sums_of_products(np.ones((len(noise), 1)), noise)
    squares = np.square(sums if multipliers.clustered else noise)
    if name.startswith("largest"):
        spread = np.sqrt(squares.sum(axis=0))
        largest = np.divide(np.abs(total), spread, out=np.zeros_like(total), where=spread > 0).max()
        return float(largest), multipliers.null_of_largest(sums)
    mean = float(squares.sum() / len(noise))
    return float(np.square(total).sum() / len(rows)), multipliers.null_of_sums(sums).with_mean(mean)
