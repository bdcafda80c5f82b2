"""What looks at rows need of Z, of Y and of labels is computed once for many columns, and changes nothing."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from spectralcit import prepare
from spectralcit.inputs import functions, together
from spectralcit.inputs.left import Left, orthonormal
from spectralcit.inputs.together import Together, runs, sharing

N = 200


def forget():
    functions._remembered_basis.cache_clear()
    together._remembered_groups.cache_clear()


@pytest.fixture
def decompositions(monkeypatch):
    """How many times columns were made orthonormal."""
    made, qr = [], np.linalg.qr
    monkeypatch.setattr(np.linalg, "qr", lambda columns: made.append(columns.shape) or qr(columns))
    forget()
    return made


def table(rng, n=N):
    subject = np.arange(n) // 5
    z = np.column_stack([rng.normal(size=(n, 2)), rng.permutation(n)[subject]])
    return rng.normal(size=subject.max() + 1)[subject] + rng.normal(size=n), z


def test_z_is_decomposed_once_for_many_columns(decompositions):
    rng = np.random.default_rng(0)
    y, z = table(rng)
    prepare(rng.normal(size=N), y, z)
    first = len(decompositions)
    assert first > 0
    for _ in range(10):
        prepare(rng.normal(size=N), y, z)
    assert len(decompositions) == first


def test_of_sorted_rows_only_functions_of_the_new_column_are_decomposed(decompositions):
    rng = np.random.default_rng(1)
    y, z = np.sort(rng.normal(size=N)), rng.normal(size=(N, 2))
    prepare(rng.normal(size=N), y, z)
    first = len(decompositions)
    for _ in range(10):
        prepare(rng.normal(size=N), y, z)
    assert len(decompositions) == first + 10


@pytest.mark.parametrize("order", ["given", "shuffled", "sorted by y"])
def test_notes_are_the_same_whatever_was_looked_at_before(order):
    rng = np.random.default_rng(2)
    y, z = table(rng)
    rows = {"given": np.arange(N), "shuffled": rng.permutation(N), "sorted by y": np.argsort(y)}[order]
    y, z = y[rows], z[rows]
    columns = [table(np.random.default_rng(seed))[0][rows] for seed in range(10, 18)]
    one_after_another = [prepare(x, y, z).notes for x in columns]
    alone = []
    for x in columns:
        forget()
        alone.append(prepare(x, y, z).notes)
    assert one_after_another == alone
    assert order == "sorted by y" or any(alone)


def test_columns_changed_in_place_are_looked_at_again():
    """Rows are alike in what z explains, until it no longer does."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=40)[np.arange(N) // 5] + 0.01 * rng.normal(size=N)
    x, y = z + rng.normal(size=(2, N))
    assert prepare(x, y, z).notes == ()
    z[:] = rng.normal(size=N)
    assert prepare(x, y, z).notes != ()


def direct(columns, basis, codes):
    """Mean correlation within codes by matrices of all pairs of rows, and the pairs that it is worth."""
    n, width = basis.shape
    left = columns - basis @ (basis.T @ columns)
    variance = np.square(left).sum(axis=0) / (n - width)
    same = (codes[:, None] == codes).astype(float)
    kept = np.eye(n) - basis @ basis.T
    mean, square = np.trace(same @ kept), np.trace(same @ kept @ same @ kept)
    excess = np.mean([column @ same @ column for column in (left / np.sqrt(variance)).T]) - mean
    return excess / (square - mean), (square - mean) / 2


def test_correlations_beside_several_bases_are_those_of_all_columns_at_once():
    rng = np.random.default_rng(4)
    codes, columns = rng.permutation(np.repeat(np.arange(12), 5)), rng.normal(size=(60, 2))
    groups, first, second = Together(codes), rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    of_codes = np.polynomial.legendre.legvander(2 * codes / 11 - 1, 3)[:, 1:]
    basis = np.linalg.qr(np.hstack([np.ones((60, 1)), first, second, of_codes]))[0]
    left = Left.of(columns, orthonormal(first).beside(second)).without_codes(groups, 3)
    for _ in range(2):  # once computed, once known
        assert left.within(groups) == pytest.approx(direct(columns, basis, codes), rel=1e-9)
    rest, lags = columns - basis @ (basis.T @ columns), range(1, 5)
    unit = rest / np.sqrt(np.square(rest).sum(axis=0) / (60 - basis.shape[1]))
    expected = [(unit[:-k] * unit[k:]).sum() / 2 + (basis[:-k] * basis[k:]).sum() for k in lags]
    np.testing.assert_allclose(left.at_lags(4), np.array(expected) / 60, atol=1e-12)


def test_equal_values_are_one_object_and_in_their_order():
    values = np.array([3.0, 1.0, 3.0, 2.0])
    assert sharing(values).codes.tolist() == [2, 0, 2, 1]
    assert sharing(values.copy()) is sharing(values)
    assert sharing(values + 1) is not sharing(values)
    assert runs(7, 3).codes.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert sharing(values).sums(np.eye(4)).tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 1, 0]]


def test_a_basis_forgets_groups_that_nobody_knows():
    basis, groups = orthonormal(np.arange(20.0)[:, None]), Together(np.arange(20) // 4)
    basis.beside_codes(groups, 1).lost(groups)
    lost = weakref.ref(basis.lost(groups))
    del groups
    gc.collect()
    assert lost() is None
