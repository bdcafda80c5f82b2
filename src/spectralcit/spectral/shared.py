"""Many default tests that share one conditioning set: Z is decomposed once, each variable expanded once.

A side of the test (location, scale, features, removal of Z) depends on its variable and on Z, not on the
other side nor on whether it is called X or Y. All queries given one Z use one seed for their signs, so each
p-value is that of ``SpectralCIT(random_state=seed).test(x, y, z)``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..base import SharedConditioning, never_zero
from ..inputs import Block
from ..nuisance.screening import is_wide
from .canonical import row_order, with_ordered_columns
from .diagnostics import is_function_of_z
from .dictionary import SideFeatures
from .evidence import block_evidence
from .sides import dictionary_side, make_nuisance, random_streams
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
        self._rng, map_seed, _, _ = random_streams(seed)
        self._n = len(next(iter(blocks.values())).values)
        z = None if z is None else with_ordered_columns(z)
        self._order = row_order(z, self._n)
        z = None if z is None else z.subset(self._order)
        self._nuisance = make_nuisance(test.nuisance, z, self._n, self._rng)
        self._start = self._rng.bit_generator.state
        self._weights = None if z is None else z_weights(z, np.random.default_rng(map_seed))
        self._sides: dict[Hashable, SideFeatures] = {}

    def pvalue(self, x: Hashable, y: Hashable) -> float:
        """Return the p-value of the test of the variables `x` and `y` given Z."""
        x_side, y_side = self._side(x), self._side(y)
        if is_function_of_z(x_side) or is_function_of_z(y_side):
            return 1.0
        null_rng = random_streams(self._seed)[2]
        evidence = block_evidence(
            x_side, y_side, self._weights, null=self._null, n_draws=self._n_draws, rng=null_rng
        )
        return never_zero(evidence.pvalue)

    def _side(self, name: Hashable) -> SideFeatures:
        if name not in self._sides:
            block = with_ordered_columns(self._blocks[name]).subset(self._order)
            self._sides[name] = dictionary_side(block, self._nuisance, self._rng, self._start)
        return self._sides[name]
