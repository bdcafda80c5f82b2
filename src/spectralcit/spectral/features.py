"""`learn_features`: what two variables have in common given a third, by networks or along directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from ..errors import ParameterError
from ..inputs import CIData, prepare
from ..numeric.streams import resolve_seed
from ..paper.config import PaperConfig
from ..paper.features import LearnedFeatures
from ..paper.features import learn_features as learn_networks
from ..progress import Report
from .canonical import in_order
from .evidence import SEARCH_DRAWS, learned_pair
from .learned import Direction
from .side_features import SideFeatures
from .sides import dictionary_sides, random_streams

__all__ = ["LearnedDirection", "LearnedDirections", "learn_features"]


@dataclass(frozen=True, eq=False)
class LearnedDirection:
    """One function along a direction of X or of Y.

    Parameters
    ----------
    shape
        ``"linear"``: the weighted sum of the columns; ``"square"``: its square.
    weights
        What each column's residual given Z, in standard deviations, is multiplied with.
    values
        The function in each row, with Z removed.
    """

    shape: str
    weights: dict[str, float]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class LearnedDirections:
    """The leading learned pair of the default test.

    Parameters
    ----------
    x, y
        The functions of X and of Y.
    correlation
        Of their values.
    pvalue
        That of the pair, calibrated for having searched; a part of the default test's evidence.
    seed
        Of the signs under which the search was repeated.
    """

    x: LearnedDirection
    y: LearnedDirection
    correlation: float
    pvalue: float
    seed: int


@overload
def learn_features(
    x: Any,
    y: Any,
    z: Any = None,
    config: PaperConfig | None = None,
    *,
    kind: Literal["networks"] = "networks",
    random_state: int | np.random.Generator | None = None,
    progress: bool | Report = False,
) -> LearnedFeatures: ...


@overload
def learn_features(
    x: Any,
    y: Any,
    z: Any = None,
    config: None = None,
    *,
    kind: Literal["directions"],
    random_state: int | np.random.Generator | None = None,
) -> LearnedDirections: ...


def learn_features(
    x: Any,
    y: Any,
    z: Any = None,
    config: PaperConfig | None = None,
    *,
    kind: Literal["networks", "directions"] = "networks",
    random_state: int | np.random.Generator | None = None,
    progress: bool | Report = False,
) -> LearnedFeatures | LearnedDirections:
    """Learn the leading functions of X and of Y that depend given Z.

    All rows are used for learning; for a test, use `ci_test`.

    Parameters
    ----------
    x, y, z
        As for a test; ``z=None`` learns what X and Y have in common.
    config
        Hyper-parameters of the networks; the paper's when not given.
    kind
        ``"networks"``: the leading singular functions of the partial covariance operator, by the published
        networks. ``"directions"``: the most surprising pair of linear or quadratic functions along
        directions, which the default test learns when X or Y has several columns.
    random_state
        Seed of weights and mini-batches, or of the signs under which directions are learned again.
    progress
        Whether to show a bar on a terminal, or a function that is called with the number of steps done and
        the number in total.

    Returns
    -------
    LearnedFeatures or LearnedDirections
        Networks have methods ``u(x)``, ``v(y, z)``, ``w(z)``, ``save(path)``; directions have, for either
        side, a shape, the columns' weights and values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, z = rng.normal(size=(500, 6)), rng.normal(size=500)
    >>> y = z + (x[:, 1] + x[:, 4]) ** 2 + rng.normal(size=500)
    >>> pair = learn_features(x, y, z, kind="directions", random_state=0)
    >>> pair.x.shape, sorted(name for name, weight in pair.x.weights.items() if abs(weight) > 0.4)
    ('square', ['x[1]', 'x[4]'])

    References
    ----------
    Fröhlich et al. (2026), "Toward Scalable and Valid Conditional Independence Testing with Spectral
    Representations", section 3.
    """
    if kind == "networks":
        return learn_networks(x, y, z, config, random_state=random_state, progress=progress)
    if kind != "directions":
        raise ParameterError(f"kind must be 'networks' or 'directions', got {kind!r}")
    if config is not None:
        raise ParameterError("config belongs to kind='networks'; directions have no hyper-parameters")
    return _directions(prepare(x, y, z), resolve_seed(random_state))


def _directions(data: CIData, seed: int) -> LearnedDirections:
    if data.x.n_columns == data.y.n_columns == 1:
        raise ParameterError(
            "X and Y have one column each, so there are no directions to learn; use kind='networks'"
        )
    rng, map_seed, null_rng, _ = random_streams(seed)
    sides = dictionary_sides(data, "kernel_ridge", rng, map_seed)
    pair = learned_pair(sides.x, sides.y, n_draws=SEARCH_DRAWS, rng=null_rng)
    assert pair is not None
    back = np.argsort(in_order(data)[1])
    found = [_direction(d, side, back) for d, side in ((pair.x, sides.x), (pair.y, sides.y))]
    u, v = (one.values / max(float(np.linalg.norm(one.values)), 1e-300) for one in found)
    return LearnedDirections(found[0], found[1], float(u @ v), pair.pvalue, seed)


def _direction(direction: Direction, side: SideFeatures, back: np.ndarray) -> LearnedDirection:
    names = [name.removesuffix(": linear") for name in side.names[: len(direction.weights)]]
    weights = {name: float(weight) for name, weight in zip(names, direction.weights, strict=True)}
    return LearnedDirection(direction.shape, weights, direction.values(side)[back])
