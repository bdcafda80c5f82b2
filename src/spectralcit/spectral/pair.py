"""The leading pair of features of the default test, computed again so that it can be looked at.

A result holds numbers, not rows. The same data and the same seed give the same features, so whoever wants to
see them computes them again; for pictures of very many rows a random part of the rows is enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..inputs import Block, CIData
from ..null.bootstrap import Multipliers
from ..views import ColumnView, LeadingPair, SideView
from .bands import band_along, number_bins, remainder
from .by_column import column_views, linear_columns, strongest_columns
from .canonical import in_order
from .evidence import SEARCH_DRAWS, learned_pair
from .learned import LearnedPair
from .side_features import SideFeatures
from .sides import Sides, dictionary_sides, random_streams
from .witness import leading_directions

if TYPE_CHECKING:
    from .test import SpectralCIT

__all__ = ["leading_pair", "pair_of_sides"]

_BAND_SEED = 20_260_102  # any number


def leading_pair(test: SpectralCIT, data: CIData, seed: int, *, max_rows: int | None = None) -> LeadingPair:
    """Compute the leading pair of the test's features.

    Parameters
    ----------
    test
        The default test with ``features="dictionary"``.
    data
        Its prepared inputs.
    seed
        ``result.seed``: the features are then those of that result.
    max_rows
        When there are more rows, that many are drawn at random and the features are built from these alone:
        a picture of a million rows need not cost as much as the test.

    Examples
    --------
    >>> from spectralcit import SpectralCIT, prepare
    >>> rng = np.random.default_rng(0)
    >>> z, x = rng.standard_normal((2, 300))
    >>> pair = leading_pair(SpectralCIT(), prepare(x, z + x + 0.5 * rng.standard_normal(300), z), seed=0)
    >>> bool(pair.correlation > 0.8), bool(np.corrcoef(np.abs(pair.x.residual), np.abs(x))[0, 1] > 0.9)
    (True, True)
    """
    if test.features != "dictionary":
        raise ParameterError(
            f"the leading pair is computed for features='dictionary', not for {test.features!r}, "
            "which would have to be trained again"
        )
    rng, map_seed, null_rng, _ = random_streams(seed)
    part = data if max_rows is None or data.n <= max_rows else _some_rows(data, max_rows, seed)
    sides = dictionary_sides(part, test.nuisance, rng, map_seed)
    learned = learned_pair(sides.x, sides.y, n_draws=test.n_draws, rng=null_rng) if test.learns else None
    return replace(pair_of_sides(sides, part, learned), n_total=data.n)


def pair_of_sides(sides: Sides, data: CIData, learned: LearnedPair | None) -> LeadingPair:
    """The leading pair of features that a test has at hand: of vectors, the learned pair."""
    u, v = sides.x.together, sides.y.together
    directions = leading_directions(u, v, count=1)
    if learned is None:
        u, v = _unit(u @ directions.left[:, 0]), _unit(v @ directions.right[:, 0])
    else:
        u, v = _unit(learned.x.values(sides.x)), _unit(learned.y.values(sides.y))
        v = v if np.mean(u * v) >= 0 else -v
    ordered, order = in_order(data)
    back = np.argsort(order)
    i, j = strongest_columns(sides.x, sides.y, ordered.x, ordered.y)
    left, right = linear_columns(sides.x)[:, i], linear_columns(sides.y)[:, j]
    # What is drawn does not depend on the seed of the test: the same data give the same bands.
    rng = np.random.default_rng(_BAND_SEED)
    partial = band_along(
        sides.y, right, [number_bins(ordered.x.names[i], left / _root(sides.x))], rng, sides.design
    )
    return LeadingPair(
        u=u[back],
        v=v[back],
        correlation=float(np.mean(u * v)),
        singular_value=float(directions.singular_values[0]),
        x=_view(sides.x, ordered.x, i, left, ordered, back, rng),
        y=_view(sides.y, ordered.y, j, right, ordered, back, rng),
        n_total=data.n,
        shapes=None if learned is None else (learned.x.shape, learned.y.shape),
        partial=replace(partial, position=partial.position[back]),
        columns=_columns(sides, ordered, rng),
    )


def _columns(sides: Sides, data: CIData, rng: np.random.Generator) -> dict[str, tuple[ColumnView, ...]]:
    clusters = None if sides.design is None else sides.design.clusters
    multipliers = Multipliers(data.n, SEARCH_DRAWS, rng, clusters=clusters)
    views = {
        "x": column_views(sides.x, sides.y, data.x, data.y, multipliers),
        "y": column_views(sides.y, sides.x, data.y, data.x, multipliers),
    }
    return {role: columns for role, columns in views.items() if columns}


def _some_rows(data: CIData, count: int, seed: int) -> CIData:
    return data.subset(np.sort(np.random.default_rng(seed).choice(data.n, count, replace=False)))


def _unit(values: np.ndarray) -> np.ndarray:
    return values / max(float(np.sqrt(np.mean(values**2))), 1e-300)


def _root(side: SideFeatures) -> np.ndarray:
    return np.ravel(side.root)


def _view(
    side: SideFeatures,
    block: Block,
    column: int,
    values: np.ndarray,
    data: CIData,
    back: np.ndarray,
    rng: np.random.Generator,
) -> SideView:
    residual = (values / _root(side))[back]
    if data.z is None:
        return SideView(block.names[column], residual)
    target = side.residuals.location.targets[:, column]
    found = remainder(side, values, target, data.z, rng, side.fit.design)
    return SideView(block.names[column], residual, replace(found, position=found.position[back]))
