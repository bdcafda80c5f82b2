"""What a rejection says about a Z of which nothing was seen."""

import numpy as np
import pytest

from spectralcit import ci_test

SENTENCE = "Z was not seen to explain anything"


def said(x, y, z):
    result = ci_test(x, y, z, random_state=0)
    return result.reject(), any(SENTENCE in warning for warning in result.warnings)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_a_fast_function_of_many_columns_is_rejected_but_not_in_silence(rng):
    z = rng.standard_normal((400, 30))
    hidden = np.sin(4.0 * z.sum(axis=1) / np.sqrt(30))
    x, y = hidden + 0.3 * rng.standard_normal((2, 400))
    assert said(x, y, z) == (True, True)


def test_nothing_is_said_where_z_explains_something_or_has_few_columns(rng):
    z, x, noise = rng.standard_normal((400, 30)), rng.standard_normal(400), rng.standard_normal(400)
    y = x + noise
    assert said(x, y, z) == (True, True)
    assert said(x, y + z[:, 0], z) == (True, False)
    assert said(x, y, z[:, :5]) == (True, False)


def test_nothing_is_said_where_nothing_is_rejected(rng):
    x, y = rng.standard_normal((2, 300))
    z = rng.standard_normal((300, 25))
    result = ci_test(x, y, z, random_state=0)
    assert result.pvalue > 0.05
    assert not any(SENTENCE in warning for warning in result.warnings)


def test_a_rejection_after_rough_fits_on_both_sides_says_so(rng):
    z = rng.uniform(size=(600, 1))
    waves, phases = rng.standard_normal(300) / 0.004, rng.uniform(0.0, 2.0 * np.pi, 300)
    field = np.sqrt(2.0 / 300) * np.cos(z * waves + phases).sum(axis=1)
    x, y = field + 0.3 * rng.standard_normal((2, 600))
    silent = ci_test(x, y, z, random_state=0)
    told = ci_test(x, y + 0.5 * (x - field), z, random_state=0)
    assert silent.pvalue > 0.05 or silent.warnings
    assert told.pvalue < 0.05
    assert any("degrees of freedom on either side" in warning for warning in told.warnings)


def random_network(rng, n):
    """Eight steep units of ten columns: more than a thousand rows can teach."""
    z = rng.standard_normal((n, 10))
    directions, places = rng.standard_normal((10, 8)) / np.sqrt(10), 0.5 * rng.standard_normal(8)
    hidden = np.tanh(2.0 * z @ directions + places) @ rng.standard_normal(8)
    return z, hidden / hidden.std()


def test_what_is_still_being_learned_of_both_sides_is_said_without_a_hint_from_rows_alike():
    rejected = said = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        z, hidden = random_network(rng, 1000)
        x, y = hidden + 0.5 * rng.standard_normal((2, 1000))
        result = ci_test(x, y, z, random_state=0)
        rejected += result.reject()
        said += result.reject() and any("learned" in warning for warning in result.warnings)
    assert rejected >= 2
    assert said >= 0.6 * rejected


@pytest.mark.parametrize("n", [300, 1000])
def test_nothing_is_said_of_dependence_where_z_is_learned(n):
    said = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        z = rng.standard_normal((n, 3))
        x = np.sin(1.5 * z[:, 0]) + z[:, 1] + 0.5 * rng.standard_normal(n)
        result = ci_test(x, z[:, 1] ** 2 + 0.3 * x + 0.5 * rng.standard_normal(n), z, random_state=0)
        assert result.reject()
        said += bool(result.warnings)
    assert said <= 1
