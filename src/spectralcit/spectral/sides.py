"""From data to features with Z removed: on all rows (dictionary) or on two halves (either kind)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ParameterError
from ..inputs import Block, CIData, RowDesign
from ..inputs.split import halves
from ..nuisance import Augmented, CrossFitted, KernelRidge, LinearFit, Nuisance, Projection
from ..nuisance.alike import RowsAlike
from ..nuisance.fits import nothing_removed
from ..nuisance.screening import follows_more, is_wide, principal_components, relevant_part
from .canonical import in_order, total_order
from .dictionary import dictionary, learn_location, location_scale, on_scale, smooth_columns
from .phases import phase_columns
from .side_features import SideFeatures, SideResiduals
from .ties import lies_on_lattice, spread_ties
from .witness import Fold
from .zweights import ZWeights, z_weights

if TYPE_CHECKING:
    from ..paper.config import PaperConfig

__all__ = [
    "Sides",
    "WideZ",
    "dictionary_folds",
    "dictionary_side",
    "dictionary_sides",
    "learned_folds",
    "make_nuisance",
    "random_streams",
]


_FIXED_SEED = 20_260_101  # any number: landmarks and maps are drawn once, see `random_streams`
_MAX_WIDE_SHARE = 0.8  # of the rows: with more columns, least squares would leave hardly any residual
_TIES = 1  # separates the noise that spreads ties from what else is drawn


@dataclass(frozen=True, eq=False)
class WideZ:
    """What is removed of a Z with half as many columns as rows or more."""

    part: Block | None  # the columns and principal components that X or Y visibly follows, or ``None``
    # Columns that least squares removes as well, because both X and Y follow Z beyond `part`, through many
    # columns: all of Z, or as many principal components as the rows allow; or ``None``
    linear: np.ndarray | None
    complete: bool  # that is all of Z


@dataclass(frozen=True, eq=False)
class Sides:
    """Features of X and of Y with Z removed, functions of Z to weigh their products with, and a wide Z.

    Rows are those of `in_order`.
    """

    x: SideFeatures
    y: SideFeatures
    weights: ZWeights | None
    wide: WideZ | None = None
    design: RowDesign | None = None
    alike: RowsAlike | None = None  # which rows are alike in Z, where many tests share that


def random_streams(
    seed: int,
) -> tuple[np.random.Generator, int, np.random.Generator, np.random.SeedSequence]:
    """Return the sources of randomness of a test: of landmarks, of maps, of the null, and of training.

    Landmarks and maps are the same for every seed, which draws signs and initial weights only. What landmarks
    and maps decide would otherwise vary with the seed; fixing them hides that, it does not take it away.
    """
    null, training = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(_FIXED_SEED), _FIXED_SEED, np.random.default_rng(null), training


def make_nuisance(
    choice: Any, z: Block | None, n: int, rng: np.random.Generator, design: RowDesign | None = None
) -> Nuisance:
    """Return the method that removes Z."""
    kernel_ridge = KernelRidge(z, n, rng, design=design)
    if z is None or choice == "kernel_ridge":
        return kernel_ridge
    if isinstance(choice, str):
        raise ParameterError(
            f"nuisance={choice!r} does not go with these features; use 'kernel_ridge', a scikit-learn "
            "estimator or, with features='bilevel', 'projection'"
        )
    seed = int(rng.integers(2**31))
    return CrossFitted(choice, z.values, seed=seed, fallback=kernel_ridge, design=design)


def dictionary_sides(data: CIData, nuisance_choice: Any, rng: np.random.Generator, map_seed: int) -> Sides:
    """Build the dictionary's features on all rows of `data`."""
    data, _ = in_order(data)
    wide = None
    if data.z is not None and is_wide(data.z, data.n) and nuisance_choice == "kernel_ridge":
        wide = _reduced(data.z, data)
        nuisance: Nuisance = KernelRidge(
            wide.part,
            data.n,
            rng,
            extra=wide.linear,
            max_linear_share=1.0,
            design=data.design,
        )
    else:
        nuisance = make_nuisance(nuisance_choice, data.z, data.n, rng, data.design)
    start = rng.bit_generator.state
    x, y = (dictionary_side(block, nuisance, rng, start) for block in (data.x, data.y))
    weights = None if data.z is None else z_weights(data.z, np.random.default_rng(map_seed))
    return Sides(x, y, weights, wide, data.design)


def dictionary_side(
    block: Block, nuisance: Nuisance, rng: np.random.Generator, start: Mapping[str, Any]
) -> SideFeatures:
    """Build the features of one side."""
    rng.bit_generator.state = dict(start)
    location = learn_location(block, nuisance)
    if not lies_on_lattice(block) or nothing_removed(location.fit):
        return dictionary(block, location_scale(block, nuisance, location), nuisance)
    spread = spread_ties(block, smooth_columns(block), _own_stream(block))
    if not isinstance(location.fit, LinearFit) or location.fit.design is not None:
        return dictionary(spread, location_scale(spread, nuisance), nuisance)
    # Steps of Z are sharp in the values themselves: they are learned there, and removed from what is spread.
    phases = phase_columns(block, location)
    fit = replace(location.fit, targets=on_scale(spread, location.normal_scored))
    nuisance = Augmented(nuisance, phases)
    location = replace(location, fit=nuisance.augmented(fit))
    return dictionary(spread, location_scale(spread, nuisance, location), nuisance)


def _own_stream(block: Block) -> np.random.Generator:
    """Noise that follows from a side's values: the same as X and as Y, another for any other side.

    Not from its ranks: two lattices that rise together with Z would share their noise, and seem to depend.
    """
    values = np.ascontiguousarray(block.values) + 0.0  # turns -0.0, which rounding makes, into the equal 0.0
    return np.random.default_rng([_TIES, zlib.crc32(values.tobytes())])


def _reduced(z: Block, data: CIData) -> WideZ:
    part = relevant_part(z, (data.x, data.y))
    most = int(_MAX_WIDE_SHARE * data.n)
    if not all(follows_more(z, part, side) for side in (data.x, data.y)):
        return WideZ(part, None, False)
    if z.n_columns <= most:
        return WideZ(part, z.values, True)
    spare = most - (0 if part is None else part.n_columns)
    return WideZ(part, principal_components(z, spare), False)


def _two_halves(data: CIData, rng: np.random.Generator) -> list[CIData]:
    order = total_order(data)
    return [data.subset(order[half]) for half in halves(data.n, rng)]


def dictionary_folds(
    data: CIData, nuisance_choice: Any, rng: np.random.Generator, map_seed: int
) -> list[Fold]:
    """Build the dictionary's features inside each half: either half learns directions for the other."""
    sides = [dictionary_sides(half, nuisance_choice, rng, map_seed) for half in _two_halves(data, rng)]
    first, second = ((side.x, side.y) for side in sides)
    return [Fold(first, second), Fold(second, first)]


def learned_folds(
    data: CIData,
    nuisance_choice: Any,
    config: PaperConfig,
    rng: np.random.Generator,
    seed: np.random.SeedSequence,
) -> list[Fold]:
    """Train the published learner on either half's location-scale residuals and apply it to both halves."""
    # JAX takes a second to load, and only these features need it.
    from ..paper.bilevel import train
    from ..paper.features import SpectralMaps, training_problem

    parts = _two_halves(data, rng)
    residuals = [_residual_triple(half, nuisance_choice, rng) for half in parts]
    problems = [
        training_problem(*rows, child) for (rows, _), child in zip(residuals, seed.spawn(2), strict=True)
    ]
    models = train(problems, config, None)
    folds = []
    for learner in (0, 1):
        maps = SpectralMaps.fit(models[learner], *residuals[learner][0])
        sides = [
            _learned_sides(maps, half, rows, left, nuisance_choice, rng)
            for half, (rows, left) in zip(parts, residuals, strict=True)
        ]
        folds.append(Fold(train=sides[learner], held_out=sides[1 - learner]))
    return folds


_Rows = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def _residual_triple(
    half: CIData, nuisance_choice: Any, rng: np.random.Generator
) -> tuple[_Rows, tuple[SideResiduals, SideResiduals]]:
    first_removal = "kernel_ridge" if nuisance_choice == "projection" else nuisance_choice
    nuisance = make_nuisance(first_removal, half.z, half.n, rng)
    x, y = location_scale(half.x, nuisance), location_scale(half.y, nuisance)
    return (x.values, y.values, None if half.z is None else half.z.values), (x, y)


def _learned_sides(
    maps: Any,
    half: CIData,
    rows: _Rows,
    residuals: tuple[SideResiduals, SideResiduals],
    nuisance_choice: Any,
    rng: np.random.Generator,
) -> tuple[SideFeatures, SideFeatures]:
    u, v, w = maps(*rows)
    if nuisance_choice == "projection":
        nuisance: Nuisance = Projection(np.zeros((half.n, 0)) if w is None else w)
    elif nuisance_choice == "kernel_ridge":
        nuisance = KernelRidge(half.z, half.n, rng, extra=w)
    else:
        nuisance = make_nuisance(nuisance_choice, half.z, half.n, rng)
    return tuple(  # type: ignore[return-value]
        _remove(features, nuisance, left, label)
        for features, left, label in ((u, residuals[0], "u"), (v, residuals[1], "v"))
    )


def _remove(features: np.ndarray, nuisance: Nuisance, residuals: SideResiduals, label: str) -> SideFeatures:
    fit = nuisance.fit_location(features)
    names = tuple(f"{label}{j + 1}" for j in range(features.shape[1]))
    none = np.zeros((len(features), 0))
    return SideFeatures(
        linear=fit.remove(features),
        nonlinear=none,
        names=names,
        fit=fit,
        residuals=residuals,
        direct=none,
        direct_fit=fit,
        curved=none,
        curved_names=(),
        fine=none,
    )
