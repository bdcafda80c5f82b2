"""What Z predicts of a side explains functions of it, however many columns Z has."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.inputs import Block
from spectralcit.nuisance import AugmentedFit, KernelRidge
from spectralcit.spectral.predicted import beside_prediction

ONE = np.array([True])


def index_of_many(n=1000, d=20, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, d))
    return z, z.sum(axis=1) / np.sqrt(d), rng


def fitted(z, target):
    names = tuple(f"z{j}" for j in range(z.shape[1]))
    block = Block(z, names, ("continuous",) * z.shape[1], tuple(range(z.shape[1])))
    return KernelRidge(block, len(z), np.random.default_rng(0)).fit_location(target[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_a_fast_function_of_the_mean_is_no_dependence(seed):
    z, index, rng = index_of_many(seed=40 + seed)
    x = 1.5 * index + 0.5 * rng.standard_normal(len(z))
    y = np.cos(3.0 * index) + 0.5 * rng.standard_normal(len(z))
    # Without functions of the prediction these p-values are below 1e-10.
    assert ci_test(x, y, z, random_state=0).pvalue > 0.01


def test_functions_of_the_mean_are_removed_and_noise_is_not():
    z, index, rng = index_of_many()
    location = fitted(z, index + 0.3 * rng.standard_normal(len(z)))
    both = beside_prediction(location, location, ONE)
    waves, noise = np.cos(3.0 * index)[:, None], rng.standard_normal((len(z), 1))
    assert location.remove(waves).var() > 0.8 * waves.var()
    assert both.remove(waves).var() < 0.1 * waves.var()
    assert both.remove(noise).var() > 0.95 * noise.var()


def test_columns_beside_a_fit_stay_beside_it():
    z, index, rng = index_of_many()
    location = fitted(z, index + 0.3 * rng.standard_normal(len(z)))
    other = rng.standard_normal((len(z), 1))
    both = beside_prediction(AugmentedFit(location, other), location, ONE)
    assert np.abs(both.remove(other)).max() < 1e-8
    assert both.remove(np.cos(3.0 * index)[:, None]).var() < 0.1


def test_nothing_is_added_where_z_predicts_nothing_or_rows_are_few():
    z, _, rng = index_of_many()
    noise = fitted(z, rng.standard_normal(len(z)))
    assert beside_prediction(noise, noise, ONE) is noise
    few = fitted(z[:40, :2], z[:40, 0] + 0.1 * rng.standard_normal(40))
    assert beside_prediction(few, few, ONE) is few
