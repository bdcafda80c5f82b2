"""Local permutations: exact uniformity by enumeration, cells, the statistic's definition, validity, power."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import spectralcit.methods.hsic as hsic_module
from spectralcit import ci_test
from spectralcit.errors import ParameterError
from spectralcit.inputs import prepare
from spectralcit.methods.hsic import HSIC
from spectralcit.methods.local_permutation import (
    LocalPermutation,
    kernel_evaluation,
    u_centred,
)


def orders(cells):
    """Every order that permutes rows within cells."""
    cells = np.asarray(cells)
    parts = [np.flatnonzero(cells == cell) for cell in np.unique(cells)]
    for choice in itertools.product(*(itertools.permutations(part) for part in parts)):
        order = np.empty(len(cells), dtype=int)
        for part, moved in zip(parts, choice, strict=True):
            order[part] = moved
        yield order


def assert_exactly_uniform(pvalues):
    """P(p <= v) = v for every value v that occurs, as fractions: exact, and no level is wasted."""
    counts = len(pvalues)
    fractions = [Fraction(p).limit_denominator(counts) for p in pvalues]
    for value in set(fractions):
        assert Fraction(sum(p <= value for p in fractions), counts) == value


def evaluation(x, y, z=None, **params):
    class Small(LocalPermutation):
        min_rows = 4

    data = prepare(x, y, z, min_rows=4)
    test = Small(**params)
    coarse, fine = test._cells(data)
    return test._evaluation(data, coarse, np.random.default_rng(0)), fine


@pytest.mark.parametrize("statistic", ["kernel", "discretised", "correlation", "distance-correlation"])
def test_unconditional_pvalue_is_exactly_uniform_by_enumeration(statistic):
    # Under independence all orders of x are equally likely. Run the test on each of them, with all the
    # permutations as its draws: the 120 p-values must be exactly uniform (up to ties of the statistic).
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5))
    everything = list(orders(np.zeros(5)))
    pvalues = []
    for start in everything:
        evaluate, _ = evaluation(x[start], y, statistic=statistic)
        values = np.array([evaluate(order) for order in everything])
        observed = evaluate(np.arange(5))
        pvalues.append(np.mean(values >= observed - 1e-9))
    assert_exactly_uniform(pvalues)
    assert len(set(pvalues)) >= (2 if statistic == "discretised" else 30)  # not because all are equal


def test_monte_carlo_pvalue_is_valid_on_every_draw_of_permutations():
    # Three independent orders, the first one the data: all 24**3 triples.
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 4))
    evaluate, _ = evaluation(x, y)
    values = np.array([evaluate(order) for order in orders(np.zeros(4))])
    observed, first, second = np.meshgrid(values, values, values, indexing="ij")
    large = (first >= observed - 1e-9).astype(int) + (second >= observed - 1e-9)
    for k in (1, 2, 3):
        assert np.mean(1 + large <= k) <= k / 3 + 1e-12


def test_conditional_pvalue_is_exactly_uniform_when_z_is_discrete():
    rng = np.random.default_rng(2)
    z = np.repeat([0.0, 1.0], 4)
    x, y = rng.normal(size=(2, 8)) + 5 * z
    _, fine = evaluation(x, y, z)
    assert fine.tolist() == z.astype(int).tolist()
    pool = list(orders(fine))
    evaluate, _ = evaluation(x, y, z)
    values = np.array([evaluate(order) for order in pool])  # of the 576 equally likely data sets
    assert_exactly_uniform([np.mean(values >= value - 1e-9) for value in values])


def test_permutation_hsic_is_exactly_uniform_by_enumeration(monkeypatch):
    class Small(HSIC):
        min_rows = 5

    class Everything:
        """Stands in for the generator: hands out every permutation but the identity, once."""

        def __init__(self):
            self.stream = itertools.permutations(range(5))
            next(self.stream)

        def permutation(self, n):
            return np.array(next(self.stream))

    monkeypatch.setattr(hsic_module, "generator", lambda seed, purpose: Everything())
    x, y = np.random.default_rng(3).normal(size=(2, 5))
    test = Small(null="permutation", n_permutations=119, random_state=0)
    pvalues = [test.test(x, y[list(order)]).pvalue for order in itertools.permutations(range(5))]
    assert_exactly_uniform(pvalues)


def test_kernel_statistic_against_the_u_statistic_of_order_four():
    # HSIC's unbiased estimate is the mean over quadruples of different rows of
    # k(1,2) [l(1,2) + l(3,4) - 2 l(1,3)].
    rng = np.random.default_rng(4)
    n = 7
    k, l = (a + a.T for a in rng.normal(size=(2, n, n)))  # noqa: E741
    expected = np.mean(
        [k[a, b] * (l[a, b] + l[c, d] - 2 * l[a, c]) for a, b, c, d in itertools.permutations(range(n), 4)]
    )
    rows = np.arange(n)
    evaluate = kernel_evaluation(lambda r: k[np.ix_(r, r)], lambda r: l[np.ix_(r, r)], [rows])
    assert evaluate(rows) == pytest.approx(n * expected)
    order = rng.permutation(n)
    moved = k[np.ix_(order, order)]
    assert evaluate(order) == pytest.approx(float((u_centred(moved) * u_centred(l)).sum()) / (n - 3))


def confounded(seed, n=200, effect=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = np.sin(2 * z) + 0.5 * rng.normal(size=n)
    return x, np.sin(2 * z) + 0.5 * rng.normal(size=n) + effect * (x - np.sin(2 * z)) ** 2, z


@pytest.mark.parametrize(
    "params, power",
    [
        ({}, 0.9),
        ({"statistic": "discretised"}, 0.4),
        ({"binning": "single"}, 0.4),
    ],
)
def test_valid_under_strong_confounding_and_powerful(params, power):
    test = LocalPermutation(n_permutations=99, random_state=0, **params)
    rejections = [test.test(*confounded(seed)).reject() for seed in range(40)]
    assert np.mean(rejections) <= 0.15  # 0.05 and three standard errors
    assert np.mean([test.test(*confounded(seed, effect=3.0)).reject() for seed in range(10)]) >= power


def test_same_pvalue_for_any_number_of_workers():
    one, two = (
        LocalPermutation(n_permutations=99, n_jobs=jobs, random_state=3).test(*confounded(0)).pvalue
        for jobs in (1, 2)
    )
    assert one == two


def test_warns_when_cells_are_wide():
    rng = np.random.default_rng(7)
    z = rng.normal(size=(80, 10))
    result = ci_test(
        z[:, 0] + rng.normal(size=80), rng.normal(size=80), z, method="local-permutation", random_state=0
    )
    assert any("wide" in text for text in result.warnings)


@pytest.mark.parametrize("bad", [{"binning": "triple"}, {"rows_per_cell": 1}, {"statistic": "mmd"}])
def test_bad_parameters(bad):
    with pytest.raises(ParameterError):
        LocalPermutation(**bad, random_state=0).test(*confounded(0))
