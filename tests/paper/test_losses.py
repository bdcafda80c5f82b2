import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit.paper.losses import (
    frobenius_penalty,
    inner_loss,
    log_frobenius_penalty,
    outer_loss,
    penalty,
)


def centre(a):
    return a - a.mean(axis=0)


def literal_outer(u, v, w, m):
    """The paper's double sums, literally."""
    u, v, w = centre(u), centre(v), centre(w)
    b = len(u)
    pairs = [(i, j) for i in range(b) for j in range(b) if i != j]
    first = sum((u[i] @ m @ v[j]) ** 2 for i, j in pairs) / (b * (b - 1))
    second = -2 / b * sum(u[i] @ m @ v[i] for i in range(b))
    third = 2 * sum((u[i] @ m @ v[j]) * (w[i] @ w[j]) for i, j in pairs) / (b * (b - 1))
    return first + second + third


def literal_inner(u, v, w, m, n):
    u, v, w = centre(u), centre(v), centre(w)
    b = len(u)
    pairs = [(i, j) for i in range(b) for j in range(b) if i != j]
    squares = sum((w[i] @ n @ w[j]) ** 2 for i, j in pairs)
    products = sum((u[i] @ m @ v[j]) * (w[i] @ n @ w[j]) for i, j in pairs)
    return (squares - 2 * products) / (b * (b - 1))


def quadratic_outer(u, v, w, m):
    """The same double sums over the table of all pairs, for gradients."""
    u, v, w = centre(u), centre(v), centre(w)
    b = len(u)
    table = u @ m @ v.T
    off = 1 - jnp.eye(b)
    fit = jnp.sum(off * table**2) / (b * (b - 1)) - 2 * jnp.trace(table) / b
    return fit + 2 * jnp.sum(off * table * (w @ w.T)) / (b * (b - 1))


def quadratic_inner(u, v, w, m, n):
    u, v, w = centre(u), centre(v), centre(w)
    b = len(u)
    table = w @ n @ w.T
    return jnp.sum((1 - jnp.eye(b)) * (table**2 - 2 * (u @ m @ v.T) * table)) / (b * (b - 1))


@st.composite
def problems(draw):
    # Few shapes and any values: each shape is compiled once.
    b, d = draw(st.sampled_from([(2, 1), (3, 2), (7, 3)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scale = draw(st.sampled_from([0.1, 1.0, 3.0]))
    u, v = scale * rng.normal(size=(2, b, d)) + draw(st.floats(-2, 2))
    w = rng.normal(size=(b, 2 * d))
    half = rng.normal(size=(2 * d, 2 * d))
    return u, v, w, rng.normal(size=(d, d)), (half + half.T) / 2


def compiled(function, n_arguments):
    return jax.jit(jax.value_and_grad(function, argnums=tuple(range(n_arguments))))


OUTER = compiled(outer_loss, 4), compiled(quadratic_outer, 4)
INNER = compiled(inner_loss, 5), compiled(quadratic_inner, 5)


def check(pair, literal, arguments):
    # Double precision for these checks only.
    with jax.enable_x64(True):
        (value, gradients), (expected, expected_gradients) = (f(*arguments) for f in pair)
    np.testing.assert_allclose(value, literal(*arguments), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(value, expected, rtol=1e-8, atol=1e-8)
    for ours, theirs in zip(gradients, expected_gradients, strict=True):
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@given(problems())
def test_outer_loss_and_gradients_equal_the_double_sums(problem):
    check(OUTER, literal_outer, problem[:4])


@given(problems())
def test_inner_loss_and_gradients_equal_the_double_sums(problem):
    check(INNER, literal_inner, problem)


def test_without_z_the_third_term_is_absent():
    rng = np.random.default_rng(0)
    u, v, m = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.normal(size=(2, 2))
    with jax.enable_x64(True):
        ours = outer_loss(*map(jnp.asarray, (u, v)), None, jnp.asarray(m))
    assert float(ours) == pytest.approx(literal_outer(u, v, np.zeros((5, 4)), m), abs=1e-10)


def test_linear_time_form_on_a_realistic_batch():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 128, 4))
    w, m, n = rng.normal(size=(128, 8)), rng.normal(size=(4, 4)), rng.normal(size=(8, 8))
    n = n + n.T
    b, off = 128, ~np.eye(128, dtype=bool)
    uc, vc, wc = centre(u), centre(v), centre(w)
    pair, inner, pair_n = uc @ m @ vc.T, wc @ wc.T, wc @ n @ wc.T
    outer = (pair[off] ** 2).sum() / (b * (b - 1)) - 2 * np.trace(pair) / b
    outer += 2 * (pair * inner)[off].sum() / (b * (b - 1))
    inner_expected = ((pair_n[off] ** 2).sum() - 2 * (pair * pair_n)[off].sum()) / (b * (b - 1))
    with jax.enable_x64(True):
        ours = outer_loss(*map(jnp.asarray, (u, v, w, m))), inner_loss(*map(jnp.asarray, (u, v, w, m, n)))
    np.testing.assert_allclose(ours, (outer, inner_expected), rtol=1e-10)


def test_outer_loss_at_the_truth_is_minus_the_squared_operator_norm():
    # Gaussian pair with correlation r: u = x, v = y, M = r minimises the loss at -r**2.
    rng = np.random.default_rng(1)
    x = rng.normal(size=200_000)
    y = 0.6 * x + 0.8 * rng.normal(size=200_000)
    loss = outer_loss(jnp.asarray(x[:, None]), jnp.asarray(y[:, None]), None, jnp.array([[0.6]]))
    # 200 000 rows also show that single precision and 32-bit integers do not overflow on large batches.
    assert float(loss) == pytest.approx(-0.36, abs=0.01)


def test_frobenius_penalty_is_the_squared_distance_to_the_identity():
    features = np.random.default_rng(0).normal(size=(40, 3)) * 2
    expected = np.linalg.norm(np.cov(features.T, bias=True) - np.eye(3)) ** 2
    assert float(frobenius_penalty(jnp.asarray(features))) == pytest.approx(expected, rel=1e-4)


def test_log_frobenius_penalty_is_the_mean_over_eigenvalues():
    features = np.random.default_rng(0).normal(size=(40, 3)) * [0.5, 1.0, 2.0]
    eigenvalues = np.linalg.eigvalsh(np.cov(features.T, bias=True))
    expected = np.mean(-np.log(eigenvalues) + eigenvalues * (eigenvalues - 1))
    assert float(log_frobenius_penalty(jnp.asarray(features))) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("name", ["frobenius", "log-frobenius"])
def test_both_penalties_vanish_with_zero_gradient_at_white_features(name):
    raw = np.random.default_rng(2).normal(size=(64, 3))
    q = np.linalg.qr(raw - raw.mean(axis=0))[0] * 8.0
    with jax.enable_x64(True):
        value, gradient = jax.value_and_grad(lambda a: penalty(a, name))(jnp.asarray(q))
    # Up to the ridge under the logarithm.
    assert float(value) == pytest.approx(0.0, abs=2e-5)
    np.testing.assert_allclose(gradient, 0.0, atol=2e-5)


def test_log_frobenius_penalty_survives_dependent_features():
    column = np.random.default_rng(0).normal(size=(50, 1)).astype(np.float32)
    value, gradient = jax.value_and_grad(log_frobenius_penalty)(jnp.asarray(np.repeat(column, 4, axis=1)))
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
