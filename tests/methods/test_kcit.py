"""KCIT against causal-learn on the same widths, dense linear algebra, and its own exact spectrum."""

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import ParameterError, TooLargeError
from spectralcit.nuisance.gaussian_process import marginal_likelihood_kernel
from spectralcit.numeric import memory
from spectralcit.numeric.kernels import center, gaussian_gram, median_width, ridge_residual_gram, standardize


def problem(seed):
    rng = np.random.default_rng(seed)
    n, dz = int(rng.integers(60, 250)), int(rng.integers(1, 5))
    z = rng.normal(size=(n, dz))
    x = np.tanh(z @ rng.normal(size=(dz, 1 + seed % 2))) + 0.7 * rng.normal(size=(n, 1 + seed % 2))
    y = (z @ rng.normal(size=dz)) ** 2 / 2 + 0.7 * rng.normal(size=n) + 0.3 * (seed % 3) * x[:, 0]
    return x, y[:, None], z


@pytest.mark.adapters
@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_causal_learn(seed):
    kci = pytest.importorskip("causallearn.utils.KCI.KCI")
    x, y, z = problem(seed)
    expected_p, expected = kci.KCI_CInd(est_width="empirical").compute_pvalue(x, y, z)
    result = ci_test(x, y, z, method="kcit")
    assert result.statistic == pytest.approx(expected, rel=1e-6)
    assert result.pvalue == pytest.approx(expected_p, abs=1e-3)
    manual = kci.KCI_CInd(est_width="manual", kwidthx=0.8, kwidthy=1.1, kwidthz=1.5)
    expected_p, expected = manual.compute_pvalue(x, y, z)
    result = ci_test(x, y, z, method="kcit", width=(0.8, 1.1, 1.5))
    assert result.statistic == pytest.approx(expected, rel=1e-6)
    assert result.pvalue == pytest.approx(expected_p, abs=1e-3)


@pytest.mark.adapters
@pytest.mark.parametrize("seed", range(5))
def test_simulated_null_and_unconditional_test_agree_with_causal_learn(seed):
    kci = pytest.importorskip("causallearn.utils.KCI.KCI")
    x, y, z = problem(seed)
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002  (causal-learn has no other way to be seeded)
    simulated, _ = kci.KCI_CInd(approx=False, nullss=20_000).compute_pvalue(x, y, z)
    simulated_unconditional, _ = kci.KCI_UInd(approx=False, null_ss=20_000).compute_pvalue(x, y)
    np.random.set_state(state)  # noqa: NPY002
    assert ci_test(x, y, z, method="kcit", null="spectrum").pvalue == pytest.approx(simulated, abs=0.015)
    unconditional = ci_test(x, y, method="kcit", null="spectrum")
    assert unconditional.pvalue == pytest.approx(simulated_unconditional, abs=0.015)
    expected_p, expected = kci.KCI_UInd().compute_pvalue(x, y)
    gamma = ci_test(x, y, method="kcit")
    assert gamma.statistic == pytest.approx(expected, rel=1e-9)
    assert gamma.pvalue == pytest.approx(expected_p, abs=1e-9)


def test_statistic_and_moments_by_dense_linear_algebra():
    # Explicit inverse and explicit feature products: slow and plain, the definition in the paper.
    x, y, z = problem(3)
    x, y, z = standardize(x), standardize(y), standardize(z)
    n, width = len(x), 1.3
    h = np.eye(n) - 1 / n
    kx, ky, kz = (h @ gaussian_gram(v, width) @ h for v in (np.hstack([x, z / 2]), y, z))
    r = 1e-2 * np.linalg.inv(kz + 1e-2 * np.eye(n))
    kx, ky = r @ kx @ r, r @ ky @ r
    wx, vx = np.linalg.eigh(kx)
    wy, vy = np.linalg.eigh(ky)
    psi, phi = vx * np.sqrt(np.clip(wx, 0, None)), vy * np.sqrt(np.clip(wy, 0, None))
    products = np.einsum("ia,ib->iab", psi, phi).reshape(n, -1)
    gram = products @ products.T
    result = ci_test(x, y, z, method="kcit", width=width, ridge=1e-2)
    assert result.statistic == pytest.approx(np.trace(kx @ ky), rel=1e-7)
    shape, scale = result.null.parameters["shape"], result.null.parameters["scale"]
    assert shape * scale == pytest.approx(np.trace(gram), rel=1e-7)
    assert shape * scale**2 == pytest.approx(2 * np.trace(gram @ gram), rel=1e-7)


def test_median_width_and_centring():
    points = np.array([[0.0], [0.0], [1.0], [4.0]])
    assert median_width(points) == pytest.approx(np.median([1, 4, 1, 4, 3]))
    rng = np.random.default_rng(0)
    few = rng.normal(size=(80, 3))
    many = np.hstack([few, np.zeros((80, 30))])  # the same distances by the other algorithm
    assert median_width(many) == pytest.approx(median_width(few), rel=1e-12)
    assert median_width(np.ones((5, 1))) == 1.0
    gram = gaussian_gram(points, 1.0)
    assert np.allclose(center(gram).sum(axis=0), 0)
    h = np.eye(4) - 0.25
    assert np.allclose(center(gram), h @ gram @ h)


def test_ridge_residuals_solve_the_regression():
    rng = np.random.default_rng(0)
    z, f = rng.normal(size=(50, 2)), rng.normal(size=(50, 3))
    kz = gaussian_gram(z, 1.0)
    left = f - kz @ np.linalg.solve(kz + 0.1 * np.eye(50), f)
    assert np.allclose(ridge_residual_gram(f @ f.T, kz, 0.1), left @ left.T)


def test_gp_regression_removes_a_wiggly_confounder_that_the_default_width_leaves():
    rng = np.random.default_rng(1)
    z = rng.uniform(-3, 3, size=300)
    x, y = (np.sin(4 * z) + 0.2 * rng.normal(size=300) for _ in range(2))
    fixed = ci_test(x, y, z, method="kcit", width=(1.0, 1.0, 2.0), ridge=1.0)
    gp = ci_test(x, y, z, method="kcit", width=(1.0, 1.0, 2.0), regression="gp")
    assert fixed.pvalue < 1e-6
    assert gp.pvalue > 0.01
    assert gp.diagnostics["width_z_for_x"] < 1.0


def test_marginal_likelihood_finds_noise_and_width():
    rng = np.random.default_rng(2)
    z = rng.normal(size=(300, 1))
    signal = np.linalg.cholesky(gaussian_gram(z, 0.5) + 1e-9 * np.eye(300)) @ rng.normal(size=(300, 12))
    targets = signal + 0.3 * rng.normal(size=signal.shape)
    width, ridge = marginal_likelihood_kernel(z, targets @ targets.T)
    assert 0.25 <= width <= 1.0
    assert 0.03 <= ridge <= 0.3


def test_scale_shift_and_row_order_do_not_matter():
    x, y, z = problem(4)
    p = ci_test(x, y, z, method="kcit").pvalue
    order = np.random.default_rng(0).permutation(len(x))
    assert ci_test(1e6 * x[order] + 3, y[order], -1e-3 * z[order], method="kcit").pvalue == pytest.approx(
        p, rel=1e-6
    )


def test_degenerate_inputs():
    x, y, z = problem(5)
    constant = ci_test(x, y, z, method="kcit", width=1e9)
    assert constant.pvalue == 1.0
    assert any("constant" in w for w in constant.warnings)
    twice = np.vstack([x, x]), np.vstack([y, y]), np.vstack([z, z])  # duplicate rows: K_Z is singular
    assert 0 < ci_test(*twice, method="kcit").pvalue <= 1
    wide = np.random.default_rng(0).normal(size=(30, 80))
    assert 0 < ci_test(x[:30], y[:30], wide, method="kcit").pvalue <= 1
    with pytest.raises(ParameterError, match="width"):
        ci_test(x, y, z, method="kcit", width="silverman")
    with pytest.raises(ParameterError, match="ridge"):
        ci_test(x, y, z, method="kcit", ridge=0.0)
    with pytest.raises(ParameterError, match="null"):
        ci_test(x, y, z, method="kcit", null="beta")


def test_sizes_that_do_not_fit_are_refused_with_an_alternative(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**5)
    x, y, z = problem(6)
    with pytest.raises(TooLargeError, match=r"GiB.*method='rcit'"):
        ci_test(x, y, z, method="kcit")


@pytest.mark.parametrize("regression", ["ridge", "gp"])
@pytest.mark.parametrize("null", ["gamma", "spectrum"])
@pytest.mark.parametrize("width", [1e-9, 1e9, (1e-9, 1e9, 1.0)])
def test_the_ends_of_the_range_of_widths_give_a_result(width, null, regression):
    result = ci_test(*problem(7), method="kcit", width=width, null=null, regression=regression)
    assert 0 < result.pvalue <= 1
    assert bool(result.warnings) == (width != 1e-9)


def test_a_ridge_that_drowns_in_rounding_is_named():
    gram = np.full((30, 30), 1e12)
    with pytest.raises(ParameterError, match="ridge must be larger"):
        ridge_residual_gram(np.eye(30), gram - 1e-3 * np.eye(30), 1e-9)


def test_warns_where_both_sides_have_several_columns_and_names_a_test_that_holds_there():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(100, 2))
    wide, narrow = z + rng.normal(size=(100, 2)), z[:, 0] + rng.normal(size=100)
    warned = ci_test(wide, wide[::-1], z, method="kcit").warnings
    assert any("several columns" in text and "'spectral'" in text for text in warned)
    assert not ci_test(wide, narrow, z, method="kcit").warnings
    assert not ci_test(narrow, wide, z, method="kcit").warnings
