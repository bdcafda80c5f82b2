"""Shared by all tests: one hypothesis profile, and a toy test that needs no learning."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import settings
from scipy import stats

from spectralcit import BaseCITest, NullDistribution, Outcome, TestTags, register
from spectralcit.registry import unregister

# The same examples in every run: a red build then points at a change, not at luck. No deadline: machines
# may be busy.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")


def _partial_correlation(data) -> float:
    x, y = data.x.values[:, 0], data.y.values[:, 0]
    design = np.ones((data.n, 1)) if data.z is None else np.column_stack([np.ones(data.n), data.z.values])
    x = x - design @ np.linalg.lstsq(design, x, rcond=None)[0]
    y = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(x @ y / math.sqrt((x @ x) * (y @ y)))


@pytest.fixture
def toy():
    """A registered partial-correlation test with one parameter; gone after the test."""

    @register("toy", tags=TestTags(multivariate=False, mixed=False, summary="partial correlation"))
    class Toy(BaseCITest):
        def __init__(self, *, offset=0.0, random_state=None, missing="raise"):
            super().__init__(random_state=random_state, missing=missing)
            self.offset = offset

        def _run(self, data, seed):
            z = math.atanh(_partial_correlation(data)) * math.sqrt(data.n - 4) + self.offset
            draw = float(np.random.default_rng(seed).normal())
            return Outcome(
                statistic=z,
                pvalue=2 * stats.norm.sf(abs(z)),
                null=NullDistribution("normal"),
                diagnostics={"draw": draw, "z_columns": 0 if data.z is None else data.z.n_columns},
            )

    yield Toy
    unregister("toy")
