"""Risk sets against textbook formulas."""

import numpy as np
import pytest

from spectralcit.survival import RiskSets


def censored(n=120, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    time, limit = rng.exponential(size=(2, n))
    observed = np.minimum(time, limit) + 0.01
    return (observed if decimals is None else np.round(observed, decimals) + 0.05), time <= limit


@pytest.mark.parametrize("decimals", [None, 1])
def test_martingale_residuals_add_up_to_zero_in_every_interval(decimals):
    sets = RiskSets(*censored(decimals=decimals))
    risk = np.exp(np.random.default_rng(1).normal(size=sets.events.shape))
    residuals = sets.events - risk * sets.exposure(risk)
    np.testing.assert_allclose(residuals.sum(axis=0), 0.0, atol=1e-10)


def test_equal_risks_give_the_nelson_aalen_estimate():
    time, event = censored(n=60)
    sets = RiskSets(time, event)
    total = sets.exposure(np.ones(sets.events.shape)).sum(axis=1)
    by_hand = [sum(1.0 / np.sum(time >= t) for t in time[event] if t <= own) for own in time]
    np.testing.assert_allclose(total, by_hand)


def test_nobody_is_exposed_who_is_not_at_risk():
    sets = RiskSets(*censored())
    exposure = sets.exposure(np.ones(sets.events.shape))
    assert sets.n_intervals > 2
    assert (exposure[~sets.at_risk] == 0.0).all()
    assert (exposure[sets.at_risk] > 0.0).all()
    assert (sets.events <= sets.at_risk).all()


def test_only_the_order_of_times_matters():
    time, event = censored()
    one, two = RiskSets(time, event), RiskSets(np.exp(3 * time), event)
    np.testing.assert_array_equal(one.events, two.events)
    risk = np.ones(one.events.shape)
    np.testing.assert_array_equal(one.exposure(risk), two.exposure(risk))
