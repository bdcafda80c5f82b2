"""The hazard given Z: it finds what is there, and its residuals have nothing of Z left."""

import numpy as np
import pytest
from scipy import optimize

from spectralcit import prepare
from spectralcit.survival import RiskSets, fit_hazard
from spectralcit.survival.likelihood import PenalisedLikelihood, Space


def draw(log_hazard, seed=0):
    rng = np.random.default_rng(seed)
    n = len(log_hazard)
    time = rng.exponential(size=n) * np.exp(-log_hazard)
    limit = rng.exponential(size=n) * 3.0
    return RiskSets(np.minimum(time, limit) + 1e-9, time <= limit)


def block(z):
    return prepare(np.arange(len(z)) + 0.5, np.sqrt(np.arange(len(z)) + 1.0), z).z


@pytest.mark.parametrize("shape", [lambda z: z, lambda z: 1.5 * np.sin(2 * z), lambda z: 1.5 * (z > 0.2)])
def test_log_risks_follow_the_true_ones(shape):
    left = []
    for seed in range(3, 7):
        z = np.random.default_rng(seed).normal(size=(600, 2))
        truth = shape(z[:, 0])
        fit = fit_hazard(draw(truth), block(z), np.random.default_rng(0))
        assert np.corrcoef(np.log(fit.risk).mean(axis=1), truth)[0, 1] > 0.9
        left.append(np.corrcoef(fit.residuals.sum(axis=1), truth)[0, 1])
    assert abs(np.mean(left)) < 0.1  # 0.08 of a step: at 600 rows two standard errors


def test_without_z_the_residuals_are_those_of_nelson_and_aalen():
    sets = draw(np.zeros(100))
    fit = fit_hazard(sets, None, np.random.default_rng(0))
    np.testing.assert_allclose(fit.residuals.sum(), 0.0, atol=1e-10)
    assert (fit.risk == 1.0).all()


def test_newton_finds_the_maximum_of_the_penalised_likelihood():
    rng = np.random.default_rng(1)
    functions, events = rng.normal(size=(80, 3)), (rng.random((80, 2)) < 0.3).astype(float)
    exposure = rng.uniform(0.1, 0.5, size=(80, 2))
    penalties, over_time = np.ones((3, 2)), np.array([[1.0, 0.5], [1.0, -0.5]])
    fit = PenalisedLikelihood(Space(functions, penalties, over_time, "test"), events, exposure)
    fit.maximise(2.0)

    def minus_objective(coefficients):
        risk = functions @ coefficients.reshape(3, 2) @ over_time.T
        profile = risk + np.log(events.sum(axis=0) / (exposure * np.exp(risk)).sum(axis=0))
        return -(events * profile).sum() + np.square(coefficients).sum()

    best = optimize.minimize(minus_objective, np.zeros(6))
    risk = functions @ best.x.reshape(3, 2) @ over_time.T
    centred = fit.log_risk - fit.log_risk.mean(axis=0)
    np.testing.assert_allclose(centred, risk - risk.mean(axis=0), atol=0.02)
    assert 2.0 < fit.degrees_of_freedom(2.0) < 8.0
    assert fit.degrees_of_freedom(1e9) == pytest.approx(2.0, abs=1e-3)


def test_what_a_hazard_spends_on_independent_rows_is_its_degrees_of_freedom():
    """Takeuchi's penalty is Akaike's where rows are independent and the hazard is right; not among copies."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(1500, 1))
    sets = RiskSets(rng.exponential(size=1500) * np.exp(-0.5 * z[:, 0]), np.ones(1500, dtype=bool))
    space = Space(np.hstack([z, z**2 - 1]), np.zeros((2, 1)), np.ones((sets.n_intervals, 1)), "square")
    fit = PenalisedLikelihood(space, sets.events, sets.exposure(np.ones(sets.events.shape)))
    fit.maximise(0.0)
    likelihood = fit.criterion(0.0) - 2 * fit.degrees_of_freedom(0.0)
    spent = (fit.criterion(0.0, np.arange(1500)) - likelihood) / 2
    assert spent == pytest.approx(2.0, abs=0.4)  # the two slopes; baselines are free in every space
    rows = np.repeat(np.arange(1500), 3)
    again = PenalisedLikelihood(
        space.on(rows), sets.events[rows], sets.exposure(np.ones(sets.events.shape))[rows]
    )
    again.maximise(0.0)
    likelihood = again.criterion(0.0) - 2 * again.degrees_of_freedom(0.0)
    assert (again.criterion(0.0, rows) - likelihood) / 2 == pytest.approx(3 * spent, rel=1e-3)
