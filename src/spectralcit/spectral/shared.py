"""Many default tests that share one conditioning set: Z is decomposed once, each variable expanded once.

A side of the test (location, scale, features, removal of Z) depends on its variable, on Z and on the random
generator that draws landmarks. All queries given one Z use one seed, so the generator starts every query in
the same state; the second side starts in whatever state the first one left behind, and there are few of
those. Sides are therefore kept under (variable, state), and each p-value is bit for bit that of
``SpectralCIT(random_state=seed).test(x, y, z)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..base import SharedConditioning, never_zero
from ..inputs import Block
from ..nuisance.screening import is_wide
from .diagnostics import is_function_of_z
from .dictionary import SideFeatures, dictionary, location_scale
from .evidence import block_evidence
from .sides import make_nuisance, random_streams
from .test import SpectralCIT
from .zweights import z_weights

__all__ = ["ConditioningSet", "can_share"]


def can_share(test: object, z: Block | None = None, n: int = 0) -> bool:
    """Tell whether `ConditioningSet` computes what `test` computes.

    Examples
    --------
    >>> can_share(SpectralCIT()), can_share(SpectralCIT(statistic="witness"))
    (True, False)
    """
    if is_wide(z, n):
        return False
    return (
        type(test) is SpectralCIT
        and test.features == "dictionary"
        and isinstance(test.nuisance, str)
        and test.nuisance == "kernel_ridge"
        and test._resolved()[0] == "blocks"
    )


class ConditioningSet(SharedConditioning):
    """All default tests given one Z.

    Examples
    --------
    >>> from spectralcit import prepare
    >>> rng = np.random.default_rng(0)
    >>> z, x, y = rng.standard_normal((3, 200))
    >>> data = prepare(x + z, y + z, z)
    >>> given_z = ConditioningSet(SpectralCIT(), {"x": data.x, "y": data.y}, data.z, seed=5)
    >>> given_z.pvalue("x", "y") == SpectralCIT(random_state=5).test(x + z, y + z, z).pvalue
    True
    """

    def __init__(self, test: SpectralCIT, blocks: Mapping[Any, Block], z: Block | None, *, seed: int) -> None:
        self._blocks = blocks
        self._seed = seed
        self._n_draws = test.n_draws
        self._null = test._resolved()[1]
        self._rng, self._map_seed, _, _ = random_streams(seed)
        self._n = len(next(iter(blocks.values())).values)
        self._nuisance = make_nuisance(test.nuisance, z, self._n, self._rng)
        self._start = self._rng.bit_generator.state
        z_seed = np.random.SeedSequence(self._map_seed).spawn(3)[2]
        self._weights = None if z is None else z_weights(z, np.random.default_rng(z_seed))
        self._sides: dict[Hashable, tuple[SideFeatures, Mapping[str, Any]]] = {}

    def pvalue(self, x: Hashable, y: Hashable) -> float:
        """Return the p-value of the test of the variables `x` and `y` given Z."""
        x_side, middle = self._side(x, 0, self._start)
        y_side, _ = self._side(y, 1, middle)
        if is_function_of_z(x_side) or is_function_of_z(y_side):
            return 1.0
        null_rng = random_streams(self._seed)[2]
        evidence = block_evidence(
            x_side, y_side, self._weights, null=self._null, n_draws=self._n_draws, rng=null_rng
        )
        return never_zero(evidence.pvalue)

    def _side(
        self, name: Hashable, role: int, state: Mapping[str, Any]
    ) -> tuple[SideFeatures, Mapping[str, Any]]:
        """Return the side's features and the generator's state after they were made."""
        block = self._blocks[name]
        # Only a side of several columns draws random maps, whose seed differs between the roles of X and Y.
        key = (name, role if block.n_columns > 1 else 0, _fingerprint(state))
        if key not in self._sides:
            self._rng.bit_generator.state = state
            map_seed = np.random.SeedSequence(self._map_seed).spawn(3)[role]
            residuals = location_scale(block, self._nuisance)
            side = dictionary(block, residuals, self._nuisance, np.random.default_rng(map_seed))
            self._sides[key] = side, self._rng.bit_generator.state
        return self._sides[key]


def _fingerprint(state: Mapping[str, Any]) -> tuple[int, int, int]:
    return state["state"]["state"], state["has_uint32"], state["uinteger"]
