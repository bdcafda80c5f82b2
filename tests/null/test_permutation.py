"""Permutation p-values: exact counts, ties, validity, and the sequential rule."""

import itertools

import numpy as np
import pytest

from spectralcit.errors import ParameterError
from spectralcit.null import permutation_pvalue, sequential_permutation_pvalue


def test_counts_ties_and_itself():
    assert permutation_pvalue(5.0, [1.0, 2.0, 3.0]) == 0.25
    assert permutation_pvalue(2.0, [1.0, 2.0, 3.0]) == 0.75
    assert permutation_pvalue(0.0, [0.0, 0.0]) == 1.0
    # a tie up to rounding is a tie
    assert permutation_pvalue(0.3, [0.1 + 0.2, 0.1 * 3, 0.3]) == 1.0


def test_valid_on_every_ordering():
    # With exchangeable values every level k/m is attained with probability at most k/m.
    for values in ([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 2.0]):
        pvalues = [permutation_pvalue(order[0], order[1:]) for order in itertools.permutations(values)]
        for level in (0.25, 0.5, 0.75, 1.0):
            assert np.mean(np.array(pvalues) <= level) <= level + 1e-12


def test_sequential_stop_agrees_with_its_definition():
    draws = np.array([0.1, 2.0, 0.3, 3.0, 0.2, 4.0, 5.0])
    for batch in (1, 2, 3, 7):
        stream = iter(draws)
        pvalue, used = sequential_permutation_pvalue(
            1.0, lambda k, s=stream: [next(s) for _ in range(k)], max_draws=7, stop_after=3, batch=batch
        )
        assert (pvalue, used) == (3 / 6, 6)


def test_sequential_without_stop_is_the_ordinary_pvalue():
    draws = np.random.default_rng(0).normal(size=99)
    pvalue, used = sequential_permutation_pvalue(
        2.0, lambda k: draws[:k], max_draws=99, stop_after=50, batch=99
    )
    assert used == 99
    assert pvalue == permutation_pvalue(2.0, draws)


def test_sequential_pvalue_is_valid():
    rng = np.random.default_rng(1)
    pvalues = np.array(
        [
            sequential_permutation_pvalue(
                rng.normal(), lambda k: rng.normal(size=k), max_draws=99, stop_after=5
            )[0]
            for _ in range(4000)
        ]
    )
    for level in (0.05, 0.1, 0.3):
        assert np.mean(pvalues <= level) <= level + 4 * np.sqrt(level / 4000)


def test_bad_arguments():
    with pytest.raises(ParameterError):
        permutation_pvalue(1.0, [])
    with pytest.raises(ParameterError):
        permutation_pvalue(np.nan, [1.0])
    with pytest.raises(ParameterError):
        sequential_permutation_pvalue(1.0, lambda k: [np.nan] * k)
    with pytest.raises(ParameterError):
        sequential_permutation_pvalue(1.0, lambda k: [1.0] * k, stop_after=0)
