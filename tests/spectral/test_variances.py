"""Products of rare events: their variance is not in the products that were seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal, special, stats

from spectralcit import SpectralCIT
from spectralcit.inputs import prepare
from spectralcit.numeric.grouped import sums_by_group
from spectralcit.spectral.sides import dictionary_sides
from spectralcit.spectral.variances import are_rare, expected_variance, rows_of_independent


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


def rows_as_people_have_them(kind, n, seed):
    """Return keyword arguments about rows, and a log odds of events that rows of one group or time share."""
    rng = np.random.default_rng([seed, 17])
    groups = np.repeat(np.arange(n // 10), 10)
    if kind == "weights":
        return {"weights": rng.exponential(size=n) + 0.05}, np.zeros((2, n))
    if kind == "groups":
        return {"groups": groups}, rng.standard_normal((2, n // 10))[:, groups]
    noise = rng.standard_normal((2, n))
    return {"time": True}, signal.lfilter([0.9], [1.0, -0.8], noise, axis=1)


@pytest.mark.parametrize("kind", ["weights", "groups", "time"])
@pytest.mark.parametrize("width", [1, 3])
def test_rare_events_in_rows_that_belong_together_are_not_rejected(kind, width):
    """By the products seen, 35 of 40 were rejected with three events on either side and random weights."""
    pvalues = []
    for seed in range(30):
        said, odds = rows_as_people_have_them(kind, 1000, seed)
        chances = special.expit(odds - 3.5)
        rng = np.random.default_rng([seed, 18])
        x, y = (rng.uniform(size=(1000, width)) < chance[:, None] for chance in chances)
        pvalues.append(SpectralCIT(random_state=seed).test(x.astype(float), y.astype(float), **said).pvalue)
    assert np.mean(np.array(pvalues) <= 0.05) < 0.17


@pytest.mark.parametrize("kind", ["weights", "groups", "time"])
def test_rare_events_that_go_together_are_seen_in_such_rows(kind):
    said, _ = rows_as_people_have_them(kind, 1000, 19)
    x, y = events(1000, (0.04, 0.04), 20)
    y[np.flatnonzero(x)[:14]] = 1.0
    assert SpectralCIT(random_state=0).test(x, y, **said).pvalue < 0.01


@pytest.mark.parametrize("kind", ["weights", "groups"])
def test_such_rows_in_any_order(kind):
    said, _ = rows_as_people_have_them(kind, 600, 21)
    x, y = events(600, (0.05, 0.05), 22)
    z = np.random.default_rng(23).standard_normal((600, 1))
    found = SpectralCIT(random_state=0).test(x, y, z, **said).pvalue
    order = np.random.default_rng(24).permutation(600)
    moved = {name: values[order] for name, values in said.items()}
    for again in ((x[order], y[order], z[order], moved), (y, x, z, said)):
        *data, rows = again
        assert abs(np.log10(SpectralCIT(random_state=0).test(*data, **rows).pvalue / found)) < 0.02


@pytest.mark.parametrize("d_z", [0, 1])
def test_rows_of_few_weights_in_any_order(d_z):
    """Strata have one weight each, so rows agree in all that orders them but rounding."""
    rng = np.random.default_rng(27)
    (x,), y = events(300, (0.05,), 28), rng.standard_normal(300)
    z = rng.integers(3, size=(300, d_z)) if d_z else None
    weights, order = rng.choice([1.0, 2.0, 3.7], size=300), rng.permutation(300)
    found = SpectralCIT(random_state=0).test(x, y, z, weights=weights).pvalue
    moved = (x[order], y[order], None if z is None else z[order])
    again = SpectralCIT(random_state=0).test(*moved, weights=weights[order]).pvalue
    assert again == pytest.approx(found, rel=1e-9)


def test_weights_that_follow_a_rare_event():
    """Cases weighed a tenth hid a strong effect; of cases weighed four times 13 of 60 nulls were rejected."""
    seen, rejected = [], []
    for seed in range(30):
        rng = np.random.default_rng([seed, 29])
        noise = rng.standard_normal(1000)
        cases = rng.uniform(size=1000) < 0.1
        seen.append(
            SpectralCIT(random_state=seed)
            .test(cases.astype(float), noise + 0.5 * cases, weights=np.where(cases, 0.1, 1.0))
            .pvalue
        )
        cases = rng.uniform(size=1000) < 0.015
        rejected.append(
            SpectralCIT(random_state=seed)
            .test(cases.astype(float), noise, weights=np.where(cases, 4.0, 1.0))
            .pvalue
        )
    assert np.mean(np.array(seen) <= 0.05) > 0.9
    assert np.mean(np.array(rejected) <= 0.05) < 0.17


def test_variances_given_z_add_up_to_the_squares_in_a_weighted_sum():
    rng = np.random.default_rng(30)
    (x,) = events(1000, (0.1,), 31)
    data = prepare(x, rng.standard_normal(1000), rng.standard_normal(1000), weights=np.where(x > 0, 0.1, 1.0))
    side = dictionary_sides(data, "kernel_ridge", rng, 0).x
    square, weights = np.square(side.linear), side.fit.design.weights[:, None]
    given = expected_variance(square, side.fit)
    np.testing.assert_allclose((weights * given).sum(axis=0), (weights * square).sum(axis=0))


def test_a_column_is_as_alike_within_clusters_whatever_stands_beside_it():
    """An event of one large cluster alone is more alike there than its variance over all rows allows."""
    rng = np.random.default_rng(32)
    groups = np.concatenate([np.zeros(100, int), np.repeat(np.arange(1, 91), 10)])
    alike = rng.standard_normal(91)[groups] + rng.standard_normal(1000)
    event = ((groups == 0) & (rng.uniform(size=1000) < 0.5)).astype(float)
    columns = np.column_stack([alike, event]) - [alike.mean(), event.mean()]
    data = prepare(alike, event, groups=groups)
    fit = dictionary_sides(data, "kernel_ridge", rng, 0).x.fit
    shared = [
        rows_of_independent(some, columns, fit, np.arange(1000)).shared[0]
        for some in (columns[:, :1], columns)
    ]
    assert shared[1] == pytest.approx(shared[0], rel=0.02)


def variance_of_sums(x, y, draws):
    """Of the sum of products, over draws of whole clusters of X in front of Y as it is."""
    return np.var([float((x[order] * y).sum()) for order in draws])


def test_variances_of_sums_count_correlated_rows_of_a_cluster_together():
    rng = np.random.default_rng(25)
    groups = np.repeat(np.arange(200), 5)
    x, y = (rng.standard_normal(200)[groups] + rng.standard_normal(1000) for _ in range(2))
    data = prepare(x, y, groups=groups)
    rows = rows_of_independent(
        *(side[:, None] - side.mean() for side in (x, y)),
        dictionary_sides(data, "kernel_ridge", rng, 0).x.fit,
        np.arange(1000),
    )
    draws = [(rng.permutation(200)[:, None] * 5 + np.arange(5)).ravel() for _ in range(2000)]
    by_hand = variance_of_sums(x - x.mean(), y - y.mean(), draws)
    assert float(rows.variances_of_sums()[0, 0]) == pytest.approx(by_hand, rel=0.1)
    assert float(np.square(sums_by_group(rows.left * rows.right, groups)).sum()) == pytest.approx(
        by_hand, rel=0.3
    )


def test_variances_of_weighted_sums():
    """Of independent columns the sum of weighted products has the sum of the squared weights as variance."""
    rng = np.random.default_rng(26)
    weights = rng.exponential(size=2000) + 0.05
    x, y = rng.standard_normal((2, 2000))
    data = prepare(x, y, weights=weights)
    root = data.design.root[:, None]
    fit = dictionary_sides(data, "kernel_ridge", rng, 0).x.fit
    rows = rows_of_independent(root * x[:, None], root * y[:, None], fit, np.arange(2000))
    assert float(rows.variances_of_sums()[0, 0]) == pytest.approx(
        np.square(data.design.weights).sum(), rel=0.15
    )
