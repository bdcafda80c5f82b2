"""Many default tests that share one conditioning set: Z is decomposed once, each variable expanded once.

A side of the test (location, scale, features, removal of Z) depends on its variable and on Z, not on the
other side nor on whether it is called X or Y. Only where rows agree in all of Z does the other side decide
their order, which noise and folds go by; then each pair has sides of its own. All queries given one Z use one
seed for their signs, so each p-value is that of ``SpectralCIT(random_state=seed).test(x, y, z)``.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ..inputs import Block, CIData, RowDesign
from ..nuisance import KernelRidge
from ..nuisance.alike import RowsAlike
from ..nuisance.screening import is_wide
from ..null.bounds import as_pvalue
from ..numeric.threads import suited_threads
from ..result import CITestResult, Outcome
from ..sharing import QuickAnswer, SharedConditioning
from .canonical import has_twins, row_order, total_order, with_ordered_columns
from .diagnostics import is_function_of_z, nothing_left, outcome_of
from .evidence import Evidence, block_evidence
from .quick import QuickLook
from .side_features import SideFeatures
from .sides import Sides, dictionary_side, make_nuisance, random_streams
from .test import SpectralCIT
from .zweights import z_weights

__all__ = ["ConditioningSet", "can_share"]


def can_share(test: object, z: Block | None = None, n: int = 0, design: RowDesign | None = None) -> bool:
    """Tell whether `ConditioningSet` computes what `test` computes.

    Examples
    --------
    >>> can_share(SpectralCIT()), can_share(SpectralCIT(statistic="witness"))
    (True, False)
    """
    if is_wide(z, n) or (design is not None and z is not None and _agree_in_some_rows(z)):
        return False
    return (
        type(test) is SpectralCIT
        and test.features == "dictionary"
        and isinstance(test.nuisance, str)
        and test.nuisance == "kernel_ridge"
        and test._resolved()[0] == "blocks"
    )


def _agree_in_some_rows(z: Block) -> bool:
    """Where rows agree in all of Z, each pair has its own order, and weights and clusters follow it."""
    return has_twins(z, np.lexsort(z.values.T[::-1]))


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

    def __init__(
        self,
        test: SpectralCIT,
        blocks: Mapping[Any, Block],
        z: Block | None,
        *,
        seed: int,
        design: RowDesign | None = None,
    ) -> None:
        self._test = test
        self._blocks = blocks
        self._seed = seed
        self._null = test._resolved()[1]
        self._rng, map_seed, _, _ = random_streams(seed)
        self._n = len(next(iter(blocks.values())).values)
        z = None if z is None else with_ordered_columns(z)
        self._order = row_order(z, self._n)
        self._twins = z if z is not None and has_twins(z, self._order) else None
        self._z = None if z is None else z.subset(self._order)
        self._design, self._ordered = design, None if design is None else design.subset(self._order)
        with suited_threads(self._n):  # as in a test on its own, here and below: threads add up otherwise
            self._nuisance = make_nuisance(test.nuisance, self._z, self._n, self._rng, self._ordered)
            self._start = self._rng.bit_generator.state
            self._weights = None if self._z is None else z_weights(self._z, np.random.default_rng(map_seed))
        self._alike = None if self._z is None else RowsAlike(self._z.values)
        self._sides: dict[Hashable, SideFeatures] = {}
        self._looks: dict[Hashable, QuickLook | None] = {}

    def pvalue(self, x: Any, y: Any) -> float:
        """Return the p-value of the test of the variables `x` and `y` given Z."""
        with suited_threads(self._n):
            sides = self._both(x, y)
            if is_function_of_z(sides.x) or is_function_of_z(sides.y):
                return 1.0
            return as_pvalue(self._evidence(sides).pvalue)

    def result(self, x: Any, y: Any, notes: tuple[str, ...] = ()) -> CITestResult:
        """Return what ``SpectralCIT(random_state=seed).test`` returns of `x`, `y` and Z."""
        started = time.perf_counter()
        data = CIData(self._block(x), self._block(y), self._z, self._n, 0, notes, self._design)
        with suited_threads(self._n):
            outcome = self._outcome(x, y, data)
        return self._test._wrap(outcome, data, self._seed, seconds=time.perf_counter() - started)

    def _outcome(self, x: Any, y: Any, data: CIData) -> Outcome:
        sides = self._both(x, y)
        if is_function_of_z(sides.x) or is_function_of_z(sides.y):
            return nothing_left()
        return outcome_of(self._evidence(sides), [sides], data)

    def _evidence(self, sides: Sides) -> Evidence:
        null_rng = random_streams(self._seed)[2]
        return block_evidence(
            sides.x,
            sides.y,
            self._weights,
            null=self._null,
            n_draws=self._test.n_draws,
            rng=null_rng,
            design=self._ordered,
        )

    def quick(self, columns: Sequence[Block], y: Any) -> list[QuickAnswer | None]:
        """See `SharedConditioning.quick`.

        Variables of several columns always get the whole test, and so does everything where rows belong
        together or do not count alike: the quick look takes them to be independent.
        """
        answers: list[QuickAnswer | None] = [None] * len(columns)
        if self._design is not None:
            return answers
        single = [k for k, block in enumerate(columns) if block.n_columns == 1]
        with suited_threads(self._n):
            if y not in self._looks:
                self._looks[y] = self._look(y)
            look = self._looks[y]
            if look is None or not single:
                return answers
            found = look([columns[k].subset(self._order) for k in single])
        for k, answer in zip(single, found, strict=True):
            answers[k] = answer
        return answers

    def _look(self, y: Hashable) -> QuickLook | None:
        # Where rows agree in all of Z their order, which X decides elsewhere, is that of the table.
        side = self._side(y)
        if side.linear.shape[1] > 1 or is_function_of_z(side) or not isinstance(self._nuisance, KernelRidge):
            return None
        return QuickLook(side, self._weights, self._nuisance)

    def _both(self, x: Any, y: Any) -> Sides:
        return Sides(*self._pair(x, y), self._weights, design=self._ordered, alike=self._alike)

    def _block(self, variable: Any) -> Block:
        return variable if isinstance(variable, Block) else self._blocks[variable]

    def _pair(self, x: Any, y: Any) -> tuple[SideFeatures, SideFeatures]:
        if self._twins is None:
            return self._side(x), self._side(y)
        x_block, y_block = (with_ordered_columns(self._block(variable)) for variable in (x, y))
        order = total_order(CIData(x_block, y_block, self._twins, self._n, 0, ()))
        return self._expanded(x_block, order), self._expanded(y_block, order)

    def _side(self, variable: Any) -> SideFeatures:
        if isinstance(variable, Block):
            return self._expanded(with_ordered_columns(variable), self._order)
        if variable not in self._sides:
            block = with_ordered_columns(self._blocks[variable])
            self._sides[variable] = self._expanded(block, self._order)
        return self._sides[variable]

    def _expanded(self, block: Block, order: np.ndarray) -> SideFeatures:
        return dictionary_side(block.subset(order), self._nuisance, self._rng, self._start)
