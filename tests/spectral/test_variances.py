"""Products of rare events: their variance is not in the products that were seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.spectral.sides import dictionary_sides
from spectralcit.spectral.variances import are_rare, rows_of_independent


def events(n, shares, seed):
    return (np.random.default_rng(seed).uniform(size=(len(shares), n)) < np.array(shares)[:, None]).astype(
        float
    )


def pvalues(n, shares, count, d_z=0):
    found = []
    for seed in range(count):
        x, y = events(n, shares, seed)
        z = np.random.default_rng([seed, 1]).standard_normal((n, d_z)) if d_z else None
        found.append(SpectralCIT(random_state=seed).test(x, y, z).pvalue)
    return np.array(found)


def test_two_rare_events_that_are_independent_are_not_rejected():
    """Most data sets hold no pair; by the squares of the products seen, 0.78 of them were rejected."""
    assert np.mean(pvalues(1000, (0.02, 0.02), 40) <= 0.05) < 0.15
    assert np.mean(pvalues(300, (0.05, 0.05), 40, d_z=1) <= 0.05) < 0.15


@pytest.mark.parametrize("d_z", [0, 2])
def test_one_pair_in_many_rows_is_no_evidence(d_z):
    x, y = np.zeros((2, 6000))
    x[:20], y[19:39] = 1.0, 1.0
    rng = np.random.default_rng(3)
    x, y = (column[order] for order in [rng.permutation(6000)] for column in (x, y))
    z = rng.standard_normal((6000, d_z)) if d_z else None
    assert SpectralCIT(random_state=0).test(x, y, z).pvalue > 0.05


def test_pairs_beyond_chance_are_seen_as_the_exact_test_sees_them():
    x, y = events(1000, (0.02, 0.02), 5)
    y[np.flatnonzero(x)[:5]] = 1.0
    table = [[np.sum((x == a) & (y == b)) for b in (0, 1)] for a in (0, 1)]
    assert stats.fisher_exact(table)[1] < 1e-3
    assert SpectralCIT(random_state=0).test(x, y).pvalue < 0.01


def test_what_counts_as_rare():
    rng = np.random.default_rng(6)
    heavy = np.clip(rng.standard_cauchy((500, 1)), -4.0, 4.0)
    (half,) = events(500, (0.5,), 7)
    (rare,) = events(500, (0.05,), 8)
    assert not are_rare(rng.standard_normal((500, 1)), heavy, half[:, None] - 0.5)
    assert are_rare(rare[:, None] - 0.05)


def test_rows_of_independent_columns_have_the_product_of_the_variances():
    rng = np.random.default_rng(9)
    z = rng.standard_normal((2000, 1))
    sides = dictionary_sides(prepare(*events(2000, (0.1, 0.1), 10), z), "kernel_ridge", rng, 0)
    rows = rows_of_independent(sides.x.linear, sides.y.linear, sides.x.fit, np.arange(2000))
    expected = np.square(sides.x.linear).mean() * np.square(sides.y.linear).mean()
    assert np.square(rows.left * rows.right).mean() == pytest.approx(expected, rel=0.1)
    assert abs(float((rows.left * rows.right).sum())) < 4.0 * np.sqrt(2000 * expected)


def test_rows_of_independent_columns_are_correlated_as_the_columns_are():
    rng = np.random.default_rng(11)
    fit = dictionary_sides(prepare(*rng.standard_normal((2, 4000))), "kernel_ridge", rng, 0).x.fit
    columns = rng.standard_normal((4000, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 3.0]])
    rows = rows_of_independent(columns, columns, fit, np.arange(4000))
    np.testing.assert_allclose(rows.left.T @ rows.left / 4000, columns.T @ columns / 4000, atol=0.25)
    np.testing.assert_allclose(rows.left.T @ rows.right / 4000, np.zeros((3, 3)), atol=0.6)


def categories(rng, n, shares):
    return rng.choice([f"level {k}" for k in range(len(shares))], size=n, p=np.array(shares) / sum(shares))


RARE_LEVELS = (45, 1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("first", "second"), [(RARE_LEVELS, (49, 1)), (RARE_LEVELS, RARE_LEVELS), ((1,) * 30, (1,) * 20)]
)
def test_categories_whose_levels_hardly_meet_are_not_rejected(first, second):
    """Of 30 × 20 levels a thousand rows leave every fifth pair out: by the products seen, always rejected."""
    pvalues = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 12])
        x, y = categories(rng, 1000, first), categories(rng, 1000, second)
        pvalues.append(SpectralCIT(random_state=seed).test(x, y).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) < 0.15
    assert np.mean(np.array(pvalues) <= 0.01) < 0.1


def test_vectors_of_rare_events_that_are_independent_are_not_rejected():
    """Products of two events on either side are rarer still: with them 0.25 were rejected."""
    pvalues = []
    for seed in range(40):
        found = events(1000, (0.03,) * 16, [seed, 13]).T
        pvalues.append(SpectralCIT(random_state=seed).test(found[:, :8], found[:, 8:]).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) < 0.15


def test_one_rare_level_that_goes_with_an_event_is_seen():
    """As Pearson's test of the whole table sees it."""
    rng = np.random.default_rng(14)
    x, y = categories(rng, 1000, RARE_LEVELS), rng.uniform(size=1000) < 0.02
    y |= (x == "level 3") & (rng.uniform(size=1000) < 0.5)
    table = [[np.sum((x == level) & (y == event)) for event in (False, True)] for level in np.unique(x)]
    assert stats.chi2_contingency(table).pvalue < 1e-6
    assert SpectralCIT(random_state=0).test(x, y).pvalue < 1e-3


@pytest.mark.parametrize("d_z", [0, 1])
def test_rare_levels_in_any_order_of_rows_levels_and_sides(d_z):
    rng = np.random.default_rng(15)
    x, y = categories(rng, 600, RARE_LEVELS), categories(rng, 600, (19, 1))
    z = rng.standard_normal((600, d_z)) if d_z else None
    found = SpectralCIT(random_state=0).test(x, y, z).pvalue
    order = rng.permutation(600)
    renamed = np.char.replace(x, "level 0", "the common one")
    for again in (
        (x[order], y[order], None if z is None else z[order]),
        (y, x, z),
        (renamed, y, z),
    ):
        assert abs(np.log10(SpectralCIT(random_state=0).test(*again).pvalue / found)) < 0.02


def test_many_rare_columns_need_no_degrees_of_freedom():
    """Their squares add up to nearly the same in every row, but each of them is rare."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 16])
        x, y = (rng.uniform(size=(2, 1000, 30)) < 0.02).astype(float)
        alike = rng.uniform(size=1000) < 0.1
        found.append(SpectralCIT(random_state=0).test(x, np.where(alike[:, None], x, y)).pvalue)
    assert np.median(found) < 1e-4


def test_weighted_rows_of_rare_events_are_warned_of():
    x, y = events(500, (0.04, 0.04), 17)
    weights = np.random.default_rng(18).uniform(0.5, 2.0, 500)
    told = SpectralCIT(random_state=0).test(x, y, weights=weights).warnings
    assert any("few rows in which they meet" in warning for warning in told)
    assert not any("in which they meet" in w for w in SpectralCIT(random_state=0).test(x, y).warnings)
