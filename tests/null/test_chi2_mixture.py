"""The exact tail against closed forms, convolution, simulation; approximations against the exact tail."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from spectralcit.errors import ParameterError
from spectralcit.null import chi2_mixture_sf
from spectralcit.null.chi2_mixture import _collapse, _log_tail

LEVELS = [1e-3, 0.1, 1.0, 5.0, 30.0, 200.0, 1200.0]


def direct(q, weights):
    """The contour integral itself, past the shortcut for equal weights."""
    w = np.asarray(weights, dtype=float)
    upper = q >= w.sum()
    log_tail = _log_tail(q, w, np.ones(len(w)), upper)
    return math.exp(log_tail) if upper else -math.expm1(log_tail)


@pytest.mark.parametrize("df", [1, 2, 3, 10, 200])
@pytest.mark.parametrize("q", LEVELS)
def test_equal_weights_are_chi_squared(df, q):
    expected = stats.chi2.sf(q, df)
    assert direct(q, np.ones(df)) == pytest.approx(expected, rel=1e-10)
    assert chi2_mixture_sf(3 * q, np.full(df, 3.0)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("q", LEVELS)
@pytest.mark.parametrize("ratio", [0.9, 0.1, 1e-4])
def test_paired_weights_are_hypoexponential(q, ratio):
    # weights (1, 1, r, r): the sum of two exponentials with means 2 and 2r
    expected = (math.exp(-q / 2) - ratio * math.exp(-q / (2 * ratio))) / (1 - ratio)
    assert chi2_mixture_sf(q, [1, ratio, ratio, 1]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("q", [0.05, 1.0, 6.0, 25.0])
@pytest.mark.parametrize("ratio", [0.8, 0.2, 0.01])
def test_two_weights_equal_the_convolution(q, ratio):
    # Q = U + r V; with V = t^2 the density of V loses its singularity: P(V in dt) = 2 phi(t) dt
    edge = math.sqrt(q / ratio)
    inner, _ = integrate.quad(
        lambda t: 2 * stats.norm.pdf(t) * stats.chi2.sf(q - ratio * t * t, 1),
        0,
        edge,
        epsabs=1e-13,
        limit=400,
    )
    expected = inner + 2 * stats.norm.sf(edge)
    assert chi2_mixture_sf(q, [1.0, ratio]) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("q", [-900.0, -4.0, -1e-9, 0.0, 1e-9, 4.0, 900.0])
def test_signed_weights_give_the_laplace_distribution(q):
    expected = stats.laplace.sf(q, scale=2)
    assert chi2_mixture_sf(q, [1, 1, -1, -1]) == pytest.approx(expected, rel=1e-10)


def test_simulation():
    rng = np.random.default_rng(0)
    weights = np.array([3.0, 1.5, 1.0, 0.7, 0.7, 0.2, -0.5])
    draws = rng.chisquare(1, (400_000, len(weights))) @ weights
    for q in (-1.0, 2.0, 6.0, 15.0):
        p = chi2_mixture_sf(q, weights)
        assert np.mean(draws > q) == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / len(draws)))


def test_collapsing_many_small_weights_changes_nothing_that_matters():
    rng = np.random.default_rng(1)
    weights = rng.exponential(size=3000) ** 5
    weights /= weights.max()
    scale, df = _collapse(weights)
    assert len(scale) < 1500
    assert scale @ df == pytest.approx(weights.sum(), rel=1e-12)
    assert scale**2 @ df == pytest.approx(weights @ weights, rel=1e-12)
    for factor in (0.7, 1.0, 1.5, 4.0):
        q = factor * weights.sum()
        assert chi2_mixture_sf(q, weights) == pytest.approx(direct(q, weights), rel=1e-6)


def test_rounding_noise_among_eigenvalues_is_harmless():
    weights = np.array([1.0, 0.5, 0.1])
    noise = 1e-17 * np.random.default_rng(2).normal(size=2000)
    noisy = np.append(weights, noise)
    assert chi2_mixture_sf(4.0, noisy) == pytest.approx(chi2_mixture_sf(4.0, weights), rel=1e-9)


@given(
    st.lists(st.floats(1e-12, 1e6), min_size=1, max_size=30),
    st.floats(1e-6, 1e3),
    st.floats(1.0, 50.0),
)
def test_range_scale_and_monotonicity(weights, relative_q, factor):
    q = relative_q * sum(weights)
    p = chi2_mixture_sf(q, weights)
    assert 0 < p <= 1
    assert chi2_mixture_sf(factor * q, weights) <= p * (1 + 1e-9)
    assert chi2_mixture_sf(q * 1e-150, np.array(weights) * 1e-150) == pytest.approx(p, rel=1e-9)


@given(
    st.lists(st.floats(-10, 10).filter(lambda w: abs(w) > 1e-6), min_size=1, max_size=12), st.floats(-50, 50)
)
def test_reflection(weights, q):
    # P(Q > q) + P(-Q > -q) = 1 for a continuous Q
    total = chi2_mixture_sf(q, weights) + chi2_mixture_sf(-q, -np.array(weights))
    assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("q", [1e-182, 5e-324, 1e-99])
def test_a_hair_above_zero_is_zero(q):
    assert chi2_mixture_sf(q, [2.0, 1.0]) == pytest.approx(1.0, abs=1e-12)
    assert 0.0 < chi2_mixture_sf(-q, [-2.0, -1.0]) < 1e-12


def test_underflow_stays_positive():
    assert 0 < chi2_mixture_sf(1e6, [1.0, 0.5]) < 1e-300
    assert chi2_mixture_sf(-1.0, [1.0, 0.5]) == 1.0
    assert chi2_mixture_sf(0.0, [1.0, 0.5]) == 1.0


@pytest.mark.parametrize("method, tolerance", [("sw", 0.02), ("hbe", 0.01), ("lpb", 0.002)])
def test_moment_approximations_are_near_in_the_body(method, tolerance):
    weights = 0.8 ** np.arange(25)
    for level in (0.5, 0.2, 0.05, 0.01):
        q = stats.gamma.isf(
            level, weights.sum() ** 2 / (2 * weights @ weights), scale=2 * weights @ weights / weights.sum()
        )
        exact = chi2_mixture_sf(q, weights)
        assert chi2_mixture_sf(q, weights, method) == pytest.approx(exact, abs=tolerance)


@pytest.mark.parametrize("method", ["sw", "hbe", "lpb"])
def test_moment_approximations_are_exact_for_equal_weights(method):
    assert chi2_mixture_sf(7.0, np.ones(4), method) == pytest.approx(stats.chi2.sf(7.0, 4), rel=1e-10)


def test_hbe_follows_the_sign_of_the_skewness():
    weights = np.array([1.0, 0.5, 0.2])
    p = chi2_mixture_sf(3.0, weights, "hbe")
    assert chi2_mixture_sf(-3.0, -weights, "hbe") == pytest.approx(1 - p, rel=1e-12)
    assert chi2_mixture_sf(0.0, [1.0, -1.0], "hbe") == pytest.approx(0.5)


@pytest.mark.adapters
@pytest.mark.parametrize("method", ["sw", "hbe", "lpb"])
def test_moment_approximations_agree_with_momentchi2(method, monkeypatch):
    momentchi2 = pytest.importorskip("momentchi2")
    monkeypatch.setattr(np, "math", math, raising=False)  # momentchi2 0.1.8 expects NumPy 1
    cdf = {"sw": momentchi2.sw, "hbe": momentchi2.hbe, "lpb": momentchi2.lpb4}[method]
    weights = np.array([0.9, 0.6, 0.31, 0.2, 0.11, 0.05])
    for q in (0.7, 2.0, 5.0):
        assert chi2_mixture_sf(q, weights, method) == pytest.approx(
            1 - float(cdf(coeff=weights, x=q)), abs=1e-6
        )


@pytest.mark.parametrize(
    "q, weights, method",
    [(1.0, [], "auto"), (1.0, [0.0], "auto"), (math.nan, [1.0], "auto"), (1.0, [1.0, math.inf], "auto"),
     (1.0, [1.0, -1.0], "sw"), (1.0, [1.0, -1.0], "lpb"), (1.0, [1.0], "imaginary")],
)  # fmt: skip
def test_bad_arguments(q, weights, method):
    with pytest.raises(ParameterError):
        chi2_mixture_sf(q, weights, method)
