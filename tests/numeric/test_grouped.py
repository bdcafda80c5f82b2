"""Closed forms of groups against refits, and residuals that are unit noise again."""

import numpy as np
import pytest

from spectralcit.inputs import RowDesign
from spectralcit.nuisance.designed import DesignedSmoother
from spectralcit.nuisance.maps import LinearFeatures
from spectralcit.nuisance.smoother import Smoother
from spectralcit.numeric.grouped import members_of, standard_error, sums_by_group
from spectralcit.numeric.linear import orthonormal_columns

RNG = np.random.default_rng(0)
CODES = np.repeat(np.arange(7), (1, 2, 3, 5, 8, 13, 8))
N = len(CODES)
Z = RNG.standard_normal((N, 3))
TARGETS = RNG.standard_normal((N, 2))


def smoother(design):
    fixed = orthonormal_columns(Z[:, :1], design.root)
    return DesignedSmoother(fixed, Z[:, 1:], LinearFeatures(), name="ridge", design=design)


def hat_matrix(family, penalty):
    return np.eye(N) - family.off(np.eye(N), penalty)


@pytest.mark.parametrize("weights", [None, RNG.exponential(size=N) + 0.1])
def test_errors_without_a_group_are_those_of_a_fit_without_it(weights):
    design = RowDesign(CODES, weights)
    family = smoother(design)
    penalty = 0.3
    left_out = family.leave_one_out(TARGETS, penalty)
    design_matrix = np.column_stack([np.ones(N), Z])
    root = np.ones(N) if weights is None else np.sqrt(weights)
    # The ridge of the family: on columns orthogonal to the fixed ones, relative to the largest eigenvalue.
    columns = Z[:, 1:] * root[:, None]
    columns = columns - family.fixed @ (family.fixed.T @ columns)
    ridge = penalty * np.linalg.eigvalsh(columns.T @ columns)[-1]
    back = np.linalg.lstsq(design_matrix[:, :2] * root[:, None], Z[:, 1:] * root[:, None], rcond=None)[0]
    turned = np.column_stack([design_matrix[:, :2], Z[:, 1:] - design_matrix[:, :2] @ back])
    for rows in members_of(CODES):
        kept = np.setdiff1d(np.arange(N), rows)
        a = turned[kept] * root[kept, None]
        gram = a.T @ a + np.diag([0, 0, ridge, ridge])
        coefficients = np.linalg.solve(gram, a.T @ (TARGETS[kept] * root[kept, None]))
        np.testing.assert_allclose(left_out[rows], TARGETS[rows] - turned[rows] @ coefficients, rtol=1e-5)


def test_groups_of_one_are_single_rows():
    alone = RowDesign(np.arange(N))
    fixed = orthonormal_columns(Z[:, :1])
    plain = Smoother(fixed, Z[:, 1:], LinearFeatures(), name="ridge")
    for (p, losses), (q, others) in zip(
        smoother(alone).loss_path(TARGETS), plain.loss_path(TARGETS), strict=True
    ):
        assert p == q
        np.testing.assert_allclose(losses, others, rtol=1e-5)


def test_residuals_are_unit_noise_again():
    family = smoother(RowDesign(CODES))
    off = np.eye(N) - hat_matrix(family, 0.3)
    count = len(np.unique(CODES))
    again = family.unit_noise(off, 0.3, 2.0)  # of unit noise in every row
    covariance = again @ again.T / 4.0 / (count / (count - 1))
    for rows in members_of(CODES):
        np.testing.assert_allclose(covariance[np.ix_(rows, rows)], np.eye(len(rows)), atol=1e-9)


def test_weighted_residuals_are_those_of_repeated_rows():
    counts = RNG.integers(1, 4, size=N)
    rows = np.repeat(np.arange(N), counts)
    weighted = smoother(RowDesign(None, counts / counts.mean())).residuals(TARGETS, 0.0)
    fixed = orthonormal_columns(Z[rows][:, :1])
    repeated = Smoother(fixed, Z[rows][:, 1:], LinearFeatures(), name="ridge").residuals(TARGETS[rows], 0.0)
    first = np.searchsorted(rows, np.arange(N))
    np.testing.assert_allclose(
        weighted / np.sqrt(counts / counts.mean())[:, None], repeated[first], atol=1e-8
    )


def test_sums_and_standard_errors():
    values = RNG.standard_normal(N)
    sums = sums_by_group(values, CODES)
    assert sums[2] == pytest.approx(values[3:6].sum())
    assert standard_error(values, np.arange(N)) == pytest.approx(standard_error(values, None))
    twins = np.repeat(values, 2)
    assert standard_error(twins, np.repeat(np.arange(N), 2)) == pytest.approx(standard_error(values, None))
