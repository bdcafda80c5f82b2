"""Whether what Z explains was learned: known cases on both sides, and the warning that follows."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import SpectralCIT
from spectralcit.inputs import Block
from spectralcit.nuisance import KernelRidge, Projection
from spectralcit.nuisance.learning import _predicted, shared_remainder

WORDS = "learned"


def fitted(z, target, seed=0):
    d = z.shape[1]
    block = Block(z, tuple(f"z{j}" for j in range(d)), ("continuous",) * d, tuple(range(d)))
    nuisance = KernelRidge(block, len(z), np.random.default_rng(seed))
    return nuisance, nuisance.fit_location(target[:, None])


def bilinear(rng, n, d=30):
    z = rng.standard_normal((n, d))
    return z, np.einsum("ni,ij,nj->n", z, rng.standard_normal((d, d)) / d, z)


def test_predictions_at_the_known_rows_are_the_fitted_values():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((150, 2))
    target = np.sin(2 * z[:, 0]) + 0.2 * rng.standard_normal(150)
    nuisance, fit = fitted(z, target)
    chosen = fit.chosen
    rows = nuisance.search.z
    expected = fit.targets - chosen.smoother.residuals(fit.targets, chosen.best_penalty)
    np.testing.assert_allclose(_predicted(chosen, rows, rows, fit.targets), expected, atol=1e-8)


def test_a_line_is_learned_and_a_bilinear_form_of_thirty_columns_is_not():
    rng = np.random.default_rng(1)
    z, form = bilinear(rng, 400)
    noise = 0.5 * rng.standard_normal(400)
    gap, error = fitted(z, z[:, 0] + noise)[1].gap()
    assert gap < 0.1 or gap < 2.5 * error
    gap, error = fitted(z, form + noise)[1].gap()
    assert gap > 0.2
    assert gap > 2.5 * error


def test_many_coefficients_are_variance_and_no_gap():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((400, 120))
    gap, error = fitted(z, z @ rng.standard_normal(120) / 10 + rng.standard_normal(400))[1].gap()
    assert gap < 2.5 * error


def test_least_squares_leaves_nothing_of_itself():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((200, 3))
    fits = [Projection(z).fit_location(z[:, :1] + rng.standard_normal((200, 1))) for _ in range(2)]
    assert shared_remainder(*fits) == pytest.approx(0.0, abs=1e-6)


def test_the_warning_comes_with_the_false_rejections_and_not_with_true_ones():
    warned, rejected = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        z, form = bilinear(rng, 400)
        result = SpectralCIT(random_state=seed).test(
            form + 0.5 * rng.standard_normal(400), form + 0.5 * rng.standard_normal(400), z
        )
        rejected += result.reject()
        warned += result.reject() and any(WORDS in text for text in result.warnings)
    assert rejected >= 4  # else these data sets ask nothing
    assert warned >= rejected / 3  # two thirds of the rejections are warned of, on average
    rng = np.random.default_rng(9)
    z = rng.standard_normal((400, 2))
    x = np.sin(z[:, 0]) + rng.standard_normal(400)
    result = SpectralCIT(random_state=0).test(x, x + rng.standard_normal(400), z)
    assert result.reject()
    assert not any(WORDS in text for text in result.warnings)
