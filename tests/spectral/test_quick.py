"""The quick look at many columns says nearly what the whole test says, whatever else is in its batch."""

import numpy as np
import pytest
from scipy import stats

from spectralcit import SpectralCIT, prepare
from spectralcit.nuisance import KernelRidge
from spectralcit.nuisance.many import choose_each
from spectralcit.nuisance.smoother import Smoother
from spectralcit.numeric.linear import orthonormal_columns
from spectralcit.spectral.quick_features import expand_each
from spectralcit.spectral.shared import ConditioningSet

N = 400


def given(y, z):
    data = prepare(np.random.default_rng(1).normal(size=len(y)), y, z)
    return ConditioningSet(SpectralCIT(), {"y": data.y}, data.z, seed=0)


def blocks(columns, y, z):
    return [prepare(x, y, z).x for x in columns]


@pytest.fixture(scope="module")
def study():
    rng = np.random.default_rng(300_100)
    z = rng.normal(size=(N, 3))
    y = np.sin(2 * z[:, 0]) + rng.normal(size=N)
    return rng, y, z


def test_columns_that_depend_stand_out_and_noise_does_not(study):
    rng, y, z = study
    noise = y - np.sin(2 * z[:, 0])
    columns = {
        "linear": z[:, 1] + 0.4 * noise + rng.normal(size=N),
        "curved": z[:, 1] + 0.6 * noise**2 + rng.normal(size=N),
        "binary": (noise + rng.normal(size=N) > z[:, 2]).astype(float),
        "score": np.clip(np.round(noise + rng.normal(size=N)), -1, 1),
        "slope changes": np.sign(z[:, 1]) * noise + rng.normal(size=N),
        "follows Z": np.sin(2 * z[:, 0]) + rng.normal(size=N),
    }
    found = given(y, z).quick(blocks(columns.values(), y, z), "y")
    small = {name for name, answer in zip(columns, found, strict=True) if answer.pvalue < 0.01}
    assert small == set(columns) - {"follows Z"}
    by_name = dict(zip(columns, found, strict=True))
    curved = by_name["curved"].block_pvalues
    assert min(curved, key=curved.get) == "linear × nonlinear"  # x follows a curve of what is left of y
    assert by_name["linear"].partial_correlation > 0.2


def test_pvalues_of_null_columns_are_uniform(study):
    rng, y, z = study
    columns = [
        np.sin(2 * z[:, 0]) * (k % 2) + z @ rng.normal(size=3) + rng.normal(size=N) for k in range(300)
    ]
    found = given(y, z).quick(blocks(columns, y, z), "y")
    assert stats.kstest([answer.pvalue for answer in found], "uniform").pvalue > 1e-3


def test_effect_and_correlation_are_near_those_of_the_whole_test(study):
    rng, y, z = study
    x = z[:, 1] + 0.5 * y + rng.normal(size=N)
    (block,) = blocks([x], y, z)
    shared = given(y, z)
    quick, whole = shared.quick([block], "y")[0], shared.result(block, "y")
    assert quick.effect == pytest.approx(whole.effect_size, abs=0.05)
    correlation = whole.diagnostics["partial_correlation"]
    assert quick.partial_correlation == pytest.approx(correlation, abs=0.05)


def test_columns_that_need_the_whole_test_get_no_answer(study):
    rng, y, z = study
    data = [prepare(rng.normal(size=(N, 2)), y, z), prepare(z[:, :2] @ [1.0, 2.0], y, z)]
    assert given(y, z).quick([one.x for one in data], "y") == [None, None]


def test_without_z(study):
    rng, y, _ = study
    found = given(y, None).quick(blocks([y + rng.normal(size=N), rng.normal(size=N)], y, None), "y")
    assert found[0].pvalue < 1e-6 < 1e-3 < found[1].pvalue
    assert not any("Z" in name or "direct" in name for name in found[0].block_pvalues)


def test_generalised_cross_validation_is_its_definition():
    rng = np.random.default_rng(0)
    z, targets = rng.normal(size=(50, 2)), rng.normal(size=(50, 3))
    smoother = Smoother(
        orthonormal_columns(z), z, lambda rows: np.cos(rows @ np.ones((2, 4)) * [1, 2, 3, 4]), name=""
    )
    hat = np.eye(50) - smoother.residuals(np.eye(50), 0.1)
    left = targets - hat @ targets
    expected = np.square(left).mean(axis=0) / (1.0 - np.trace(hat) / 50) ** 2
    np.testing.assert_allclose(smoother.gcv_errors(targets, np.array([0.1]))[0], expected, rtol=1e-9)
    each = smoother.residuals_each(targets, np.array([0.1, 1.0, 10.0]))
    for j, penalty in enumerate((0.1, 1.0, 10.0)):
        np.testing.assert_allclose(each[:, j], smoother.residuals(targets, penalty)[:, j])


def test_each_column_chooses_for_itself():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(300, 1))
    curved = Smoother(orthonormal_columns(z), z, lambda rows: np.cos(rows * np.arange(1, 9)), name="curved")
    targets = np.column_stack([z[:, 0], np.cos(3 * z[:, 0])]) + 0.3 * rng.normal(size=(300, 2))
    fits = choose_each([Smoother(orthonormal_columns(z), name="linear"), curved], targets)
    assert fits.which.tolist() == [0, 1]
    left = fits.remove(targets[:, :, None])[:, :, 0]
    np.testing.assert_allclose(left[:, 1], curved.residuals(targets, fits.penalties[1])[:, 1])
    np.testing.assert_allclose(fits.adjoint(targets[:, 1])[:, 1], left[:, 1])
    missed = curved.leave_one_out(targets, fits.penalties[1])[:, 1]
    np.testing.assert_allclose(fits.out_of_sample(targets)[:, 1], missed)
    assert fits.errors[1] == pytest.approx(np.square(missed).mean() / targets[:, 1].var())


def test_a_spread_that_follows_z_is_divided_out(study):
    """And one that does not is left as it is, whatever else is in the batch."""
    rng, y, z = study
    noise = rng.normal(size=(2, N))
    columns = blocks([np.exp(z[:, 0]) * noise[0], z[:, 0] + noise[1]], y, z)
    nuisance = KernelRidge(prepare(y, noise[0], z).z, N, np.random.default_rng(0))
    both, alone = (expand_each(some, nuisance, direct=True).linear for some in (columns, columns[1:]))
    before, after, none = (
        stats.spearmanr(np.abs(column), z[:, 0]).statistic
        for column in (columns[0].values[:, 0], *both[:, :, 0].T)
    )
    assert (before > 0.6, after < 0.3, abs(none) < 0.1) == (True, True, True)
    np.testing.assert_allclose(both[:, 1], alone[:, 0])
