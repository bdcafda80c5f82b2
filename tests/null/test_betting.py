"""Wealth of bets: exact on enumerated outcomes, and nobody gets rich under the null hypothesis."""

import itertools

import numpy as np
import pytest

from spectralcit.null.betting import Wealth, kelly_stakes


def test_wealth_has_mean_one_over_all_outcomes_of_a_fair_game():
    totals = []
    for signs in itertools.product([-1.0, 1.0], repeat=6):
        wealth = Wealth(np.array([0.7, 0.3]))
        for sign in signs:
            wealth.multiply(np.array([[0.5 * sign, -0.9 * sign]]))
        totals.append(wealth.total)
    assert np.mean(totals) == pytest.approx(1.0)


def test_the_largest_wealth_never_falls():
    wealth = Wealth(np.ones(1))
    wealth.multiply(np.array([[1.0]]))
    wealth.multiply(np.array([[-0.9]]))
    assert wealth.largest == pytest.approx(2.0)
    assert wealth.total == pytest.approx(0.2)


def test_wealth_beyond_all_numbers_stays_a_number():
    wealth = Wealth(np.ones(1))
    wealth.multiply(np.ones((2000, 1)))
    assert np.isfinite(wealth.total)


def test_stakes_follow_the_mean_and_vanish_where_chance_explains_it():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(2000, 5))
    noise -= noise.mean(axis=0)
    stakes = kelly_stakes(noise + np.array([0.2, 0, 0, 0, -0.1]), search=5.0)
    np.testing.assert_allclose(stakes, [0.2, 0, 0, 0, -0.1], atol=0.04)  # shrunk by a few per cent
    assert (kelly_stakes(noise + 0.01, search=5.0) == 0.0).all()
