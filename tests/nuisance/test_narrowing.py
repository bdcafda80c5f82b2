import numpy as np
import pytest

from spectralcit.datasets import get_dataset
from spectralcit.inputs import Block
from spectralcit.nuisance import KernelRidge, narrowing
from spectralcit.nuisance.maps import GaussianFeatures
from spectralcit.nuisance.sums import SumOfMaps

NOISE = 0.4


def location(z, truth, seed, noise=NOISE):
    """Fit a column that follows a known function of Z; return the fit, and what it leaves of the function."""
    rng = np.random.default_rng([seed, 1])
    block = Block(z, tuple(f"z{j}" for j in range(z.shape[1])), ("continuous",) * z.shape[1], (0,))
    target = (truth + noise * rng.standard_normal(len(z)))[:, None]
    fit = KernelRidge(block, len(z), np.random.default_rng(0)).fit_location(target)
    return fit, fit.remove((truth - truth.mean())[:, None])[:, 0]


def standard_errors(left, noise=NOISE):
    """What two such remainders would shift a sum of products of noise by."""
    return float(left @ left) / noise**2 / np.sqrt(len(left))


@pytest.mark.parametrize(
    ("d_z", "length", "waves"), [(1, 0.02, "matern"), (2, 0.2, "matern"), (1, 0.01, "gauss")]
)
def test_little_is_left_of_rough_fields(d_z, length, waves):
    field = get_dataset("attack-field", d_z=d_z, length=length, waves=waves)
    shifts = []
    for seed in range(3):
        z, truth = field.confounder(800, np.random.default_rng(seed))
        shifts.append(standard_errors(location(z, truth, seed)[1]))
    assert np.mean(shifts) < 0.7


def test_smooth_functions_get_smooth_kernels():
    for seed in range(3):
        z = np.random.default_rng(seed).standard_normal((500, 2))
        fit, _ = location(z, np.sin(z[:, 0]) + z[:, 1] ** 2 / 2, seed)
        assert "rough" not in fit.name
        assert fit.degrees_of_freedom < 50


def test_kernels_with_kinks_leave_less_of_a_maximum(monkeypatch):
    def shift():
        fits = []
        for seed in range(4):
            z = np.random.default_rng(seed).standard_normal((500, 3))
            fits.append(location(z, 1.6 * z.max(axis=1), seed))
        assert all(fit.degrees_of_freedom < 125 for fit, _ in fits)
        return np.mean([standard_errors(left) for _, left in fits])

    with_kinks = shift()
    monkeypatch.setattr(narrowing.NarrowKernels, "_allow_kinks", lambda self, chosen, targets: chosen)
    assert with_kinks < 0.5 * shift()


def test_kinks_are_for_functions_that_have_some():
    for seed in range(2):
        z = np.random.default_rng(seed).standard_normal((1200, 3))
        for truth, kinked in ((1.6 * z.max(axis=1), True), (np.sin(z[:, 0]) * z[:, 1] + z[:, 2], False)):
            assert ("kinks" in location(z, truth, seed)[0].name) == kinked


def test_a_kernel_that_uses_up_its_landmarks_gets_more():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((1100, 5))
    fit, _ = location(z, 1.5 * z.max(axis=1), 0, noise=0.2)
    used = fit.chosen.smoother.feature_map
    gaussian = used.second if isinstance(used, SumOfMaps) else used
    assert isinstance(gaussian, GaussianFeatures)
    assert len(gaussian.landmarks) > 300


def test_more_landmarks_of_the_same_kernel():
    z = np.random.default_rng(1).standard_normal((400, 2))
    few = GaussianFeatures.fit(z, np.eye(2), 0.5, 50, np.random.default_rng(2))
    all_rows = few.with_landmarks(z, 400, np.random.default_rng(2))
    features = all_rows(z)
    distances = np.square(z[:, None] - z[None]).sum(axis=2)
    assert np.allclose(features @ features.T, np.exp(-distances / (2 * few.width_squared)), atol=1e-5)


def test_few_relevant_columns_of_many_get_narrow_kernels():
    rng = np.random.default_rng(3)
    z = rng.uniform(size=(1000, 5))
    truth = np.sin(9 * z[:, 0]) * np.sin(9 * z[:, 1])
    _, left = location(z, truth, 3)
    assert np.square(left).mean() < 0.02


@pytest.mark.parametrize("outside", [False, True])
def test_balls_and_shells(outside):
    rng = np.random.default_rng(4)
    z = rng.standard_normal((1200, 5))
    radius = np.square(z - 0.2).sum(axis=1)
    _, left = location(z, np.where(radius < 4.5, 0.0 if outside else 2.0, 2.0 if outside else 0.0), 4)
    assert np.square(left).mean() < 0.15


def test_thresholds_of_heavy_tailed_columns_in_wide_z():
    rng = np.random.default_rng(5)
    z = rng.standard_t(3, size=(800, 50))
    fit, left = location(z, 1.5 * (z[:, 3] > 0.5) - (z[:, 40] < -0.3), 5)
    assert "jumps" in fit.name
    assert np.square(left).mean() < 0.06


def test_few_rows_are_spent_sparingly():
    freedom = []
    for seed in range(40):
        z = np.random.default_rng([seed, 2]).standard_normal((60, 3))
        freedom.append(location(z, z[:, 0], seed, noise=1.0)[0].degrees_of_freedom)
    assert np.mean(freedom) < 6.5
    assert max(freedom) < 31


def test_kernels_that_are_kept_change_nothing(monkeypatch):
    """X and Y ask for the same narrow kernels; a search that keeps none of them finds the same."""
    field = get_dataset("attack-field", d_z=2, length=0.1, waves="matern")
    z, truth = field.confounder(400, np.random.default_rng(5))
    targets = truth[:, None] + NOISE * np.random.default_rng(6).standard_normal((400, 2))
    block = Block(z, ("a", "b"), ("continuous",) * 2, (0, 1))

    def both():
        ridge = KernelRidge(block, 400, np.random.default_rng(0))
        return ridge, [ridge.fit_location(target[:, None]).studentised for target in targets.T]

    ridge, kept = both()
    assert len(ridge.search._narrow_kernels) > 1
    monkeypatch.setattr(narrowing, "_KEPT_CELLS", 0)
    ridge, forgotten = both()
    assert len(ridge.search._narrow_kernels) == 1
    np.testing.assert_array_equal(kept, forgotten)
