"""Real tables drawn again: the null is true by an oracle that knows the law, and a planted effect is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from spectralcit.datasets import Plasmode
from spectralcit.datasets.real.catalogue import real_info
from spectralcit.datasets.real.laws import fit_law, own_part
from spectralcit.datasets.real.plasmode import fitted_table
from spectralcit.errors import ParameterError, UnknownDatasetError

pytest.importorskip("pandas")


def oracle(dataset, n, seed, dependent):
    """P-value of one who knows the law of Y given Z and the own part of X: a mean of known variance."""
    rng = np.random.default_rng(seed)
    fitted = fitted_table(dataset.table, dataset.question)
    rows = np.random.default_rng(seed).choice(fitted.n, n, replace=False)
    x, y, z = dataset.draw(n, rng, dependent)
    np.testing.assert_array_equal(x, fitted.x[rows])  # real X and Z
    np.testing.assert_array_equal(z, fitted.z[rows])
    centre, own = fitted.y.centre[rows], fitted.effect(dataset.effect)[rows]
    spread = np.sqrt(centre * (1 - centre)) if fitted.y.binary else fitted.y.spread[rows]
    score = np.sum(own * (y - centre) / spread) / np.sqrt(np.sum(own**2))
    return 2 * stats.norm.sf(abs(score))


@pytest.mark.parametrize("effect", ["linear", "square"])
def test_the_oracle_has_uniform_pvalues_under_the_null_and_small_ones_else(effect):
    dataset = Plasmode(table="wdbc", question="nuclei", effect=effect, strength=0.4)
    null = [oracle(dataset, 200, seed, dependent=False) for seed in range(400)]
    assert stats.kstest(null, "uniform").pvalue > 0.01
    assert np.mean(np.array(null) <= 0.05) < 0.085
    found = [oracle(dataset, 200, seed, dependent=True) for seed in range(40)]
    assert np.mean(np.array(found) <= 0.05) > 0.9


def test_a_zero_one_outcome_too():
    if not real_info("breast-cancer").installed:
        pytest.skip("scikit-survival is not installed")
    dataset = Plasmode(table="breast-cancer", question="gene", strength=1.5)
    _, y, _ = dataset.draw(180, 0, dependent=False)
    assert set(y) == {0.0, 1.0}
    null = [oracle(dataset, 180, seed, dependent=False) for seed in range(400)]
    assert stats.kstest(null, "uniform").pvalue > 0.01
    found = [oracle(dataset, 180, seed, dependent=True) for seed in range(40)]
    assert np.mean(np.array(found) <= 0.05) > 0.9


def test_x_and_y_stay_confounded_under_the_null():
    x, y, _ = Plasmode(table="wdbc", question="nuclei").draw(500, 0, dependent=False)
    assert abs(stats.spearmanr(x[:, 0], y).statistic) > 0.1


def test_a_column_of_z_that_is_constant_in_a_sample_is_left_out(monkeypatch):
    whole = fitted_table("wdbc", "nuclei")
    rare = np.zeros((whole.n, 1))
    rare[:3] = 1.0
    with_rare = replace(whole, z=np.hstack([whole.z, rare]))
    monkeypatch.setattr("spectralcit.datasets.real.plasmode.fitted_table", lambda *_: with_rare)
    dataset = Plasmode(table="wdbc", question="nuclei")
    widths = [dataset.draw(100, seed, dependent=False)[2].shape[1] for seed in range(20)]
    assert set(widths) == {whole.z.shape[1], whole.z.shape[1] + 1}


def test_a_law_is_fitted_with_its_mean_and_its_spread():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1500, 2))
    mean, spread = np.sin(2 * z[:, 0]) + z[:, 1], np.where(z[:, 1] > 0, 1.0, 0.5)
    law = fit_law(mean + spread * rng.standard_normal(1500), z)
    assert not law.binary
    assert np.corrcoef(law.centre, mean)[0, 1] > 0.98
    draws = law.draw(np.arange(1500), np.zeros(1500), rng)
    left = draws - law.centre
    assert left[z[:, 1] > 0.3].std() > 1.5 * left[z[:, 1] < -0.3].std()
    assert left.std() == pytest.approx(np.sqrt(np.mean(spread**2)), rel=0.1)


def test_the_law_of_zeros_and_ones_is_a_probability():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((1500, 2))
    chance = 1 / (1 + np.exp(-1.5 * z[:, 0]))
    law = fit_law((rng.uniform(size=1500) < chance).astype(float), z)
    assert law.binary
    assert np.abs(law.centre - chance).mean() < 0.04
    draws = law.draw(np.arange(1500), np.zeros(1500), rng)
    assert set(draws) == {0.0, 1.0}
    assert np.corrcoef(draws, chance)[0, 1] == pytest.approx(2 * chance.std(), abs=0.06)


def test_residuals_of_a_row_do_not_stay_with_the_row():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((800, 1))
    noise = rng.standard_normal(800)
    draws = fit_law(z[:, 0] + noise, z).draw(np.arange(800), np.zeros(800), rng)
    assert abs(np.corrcoef(draws - z[:, 0], noise)[0, 1]) < 0.1


def test_the_own_part_knows_nothing_of_z():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((800, 2))
    noise = rng.standard_normal(800)
    own = own_part(z[:, 0] ** 2 + noise, z)
    assert np.corrcoef(own, noise)[0, 1] > 0.9
    assert abs(np.corrcoef(own, z[:, 0] ** 2)[0, 1]) < 0.1


def test_questions_that_cannot_be_drawn_are_refused_at_once():
    with pytest.raises(ParameterError, match="censored"):
        Plasmode(table="rotterdam", question="censored")
    with pytest.raises(ParameterError, match="nuclei"):
        Plasmode(table="wdbc", question="nucleus")
    with pytest.raises(UnknownDatasetError):
        Plasmode(table="wisconsin")
    with pytest.raises(ParameterError, match="569 complete rows"):
        Plasmode(table="wdbc").draw(1000, 0, dependent=False)
