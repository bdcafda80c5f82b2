"""The leading pair of features of the default test, computed again so that it can be looked at.

A result holds numbers, not rows. The same data and the same seed give the same features, so whoever wants to
see them computes them again; for pictures of very many rows a random part of the rows is enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ParameterError
from ..inputs import CIData
from ..views import LeadingPair, SideView
from .canonical import in_order
from .dictionary import SideFeatures
from .evidence import learned_pair
from .learned import LearnedPair
from .sides import Sides, dictionary_sides, random_streams
from .witness import leading_directions

if TYPE_CHECKING:
    from .test import SpectralCIT

__all__ = ["leading_pair", "pair_of_sides"]


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
    return LeadingPair(
        u=u[back],
        v=v[back],
        correlation=float(np.mean(u * v)),
        singular_value=float(directions.singular_values[0]),
        x=_view(sides.x, ordered.x.names, back),
        y=_view(sides.y, ordered.y.names, back),
        n_total=data.n,
        shapes=None if learned is None else (learned.x.shape, learned.y.shape),
    )


def _some_rows(data: CIData, count: int, seed: int) -> CIData:
    return data.subset(np.sort(np.random.default_rng(seed).choice(data.n, count, replace=False)))


def _unit(values: np.ndarray) -> np.ndarray:
    return values / max(float(np.sqrt(np.mean(values**2))), 1e-300)


def _view(side: SideFeatures, names: tuple[str, ...], back: np.ndarray) -> SideView:
    location = side.residuals.location
    predicted = location.targets - location.out_of_sample
    # The column about which Z says most is where a poor fit would do the most harm.
    column = int(np.argmax(predicted.var(axis=0)))
    return SideView(names[column], predicted[back, column], side.residuals.values[back, column])
