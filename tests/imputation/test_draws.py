"""Draws of missing cells, against closed forms of normal laws and against what must not be learned."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit.imputation.draws import completed_tables
from spectralcit.inputs.read import read


def completed(x, y, z=None, count=1, seed=0):
    given = [(x, "x"), (y, "y")] + ([] if z is None else [(z, "z")])
    tables = [read(values, role) for values, role in given]
    return [
        [np.column_stack([column.values for column in table.columns]) for table in done]
        for done in completed_tables(tables, count, np.random.default_rng(seed))
    ]


def residual(values, given):
    design = np.column_stack([np.ones(len(values)), given])
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


def normal_case(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    return z + rng.normal(size=n), z + rng.normal(size=n), z, rng


def test_a_missing_z_follows_the_posterior_of_the_normal_model():
    """With x = z + e and y = z + e', z given both has mean (x + y) / 3 and variance 1 / 3."""
    x, y, z, rng = normal_case()
    gone = x + y + rng.logistic(size=len(x)) > 1.0  # a biased choice, by values that are seen
    spoiled = np.where(gone, np.nan, z)
    drawn = completed(x, y, spoiled)[0][2][gone, 0]
    design = np.column_stack([np.ones(gone.sum()), x[gone], y[gone]])
    coefficients, squares = np.linalg.lstsq(design, drawn, rcond=None)[:2]
    np.testing.assert_allclose(coefficients[1:], 1 / 3, atol=0.09)
    assert squares[0] / gone.sum() == pytest.approx(1 / 3, abs=0.06)


def test_cells_that_were_seen_stay_and_draws_differ():
    x, y, z, rng = normal_case(300)
    gone = rng.random((3, 300)) < 0.2
    spoiled = [np.where(mask, np.nan, values) for mask, values in zip(gone, (x, y, z), strict=True)]
    first, second = completed(*spoiled, count=2)
    for mask, given, one, other in zip(gone, spoiled, first, second, strict=True):
        np.testing.assert_array_equal(one[~mask, 0], given[~mask])
        assert np.isfinite(one).all()
        assert (one[mask] != other[mask]).mean() > 0.9
    again = completed(*spoiled, count=2)
    np.testing.assert_array_equal(again[1][2], second[2])


def test_a_missing_x_does_not_learn_its_tie_to_y():
    x, y, z, rng = normal_case()
    y = y + 2 * x  # a strong tie, in the rows that are complete
    gone = rng.random(len(x)) < 0.4
    drawn = completed(np.where(gone, np.nan, x), y, z)[0][0][gone, 0]
    left = residual(drawn, z[gone]), residual(y[gone], z[gone])
    assert abs(np.corrcoef(*left)[0, 1]) < 3.5 / np.sqrt(gone.sum())
    assert np.polyfit(z[gone], drawn, 1)[0] == pytest.approx(1.0, abs=0.15)


def test_categories_are_drawn_among_those_seen_by_their_odds():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 1200)
    x, y = np.array([-2.0, 0.0, 2.0])[group] + rng.normal(size=(2, 1200))
    spoiled = np.array(["a", "b", "c"], dtype=object)[group]
    gone = rng.random(1200) < 0.3
    spoiled[gone] = None
    drawn = completed(x, y, spoiled)[0][2][:, 0]
    assert set(np.unique(drawn)) == {0, 1, 2}
    # Bayes' rule with the true normal laws, up to the model's error.
    density = np.exp(-0.5 * ((x[:, None] - [-2, 0, 2]) ** 2 + (y[:, None] - [-2, 0, 2]) ** 2))
    expected = (density / density.sum(axis=1, keepdims=True))[gone].mean(axis=0)
    np.testing.assert_allclose([(drawn[gone] == k).mean() for k in range(3)], expected, atol=0.06)
    assert (drawn[gone] == group[gone]).mean() > 0.75


def test_counts_stay_counts_and_positive_numbers_positive():
    rng = np.random.default_rng(2)
    z = rng.normal(size=400)
    counts = rng.poisson(np.exp(1.5 + 0.5 * z)).astype(float)
    income = np.exp(z + rng.normal(size=400))
    counts[rng.random(400) < 0.2] = np.nan
    income[rng.random(400) < 0.2] = np.nan
    x, y = completed(counts, income, z)[0][:2]
    assert set(np.unique(x)) <= set(np.unique(counts[~np.isnan(counts)]))
    assert y.min() >= 0


def test_without_z_missing_cells_come_from_the_column_alone():
    x, y, _, rng = normal_case(600)
    gone = rng.random(600) < 0.3
    drawn = completed(np.where(gone, np.nan, x), y)[0][0][gone, 0]
    assert abs(np.corrcoef(drawn, y[gone])[0, 1]) < 3.5 / np.sqrt(gone.sum())
    assert drawn.std() == pytest.approx(x.std(), rel=0.15)
