"""Data sets by name: every registered one keeps its promises, and a user's own joins with one decorator."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from spectralcit.datasets import (
    Dataset,
    LinearCauchy,
    LinearGaussian,
    PostNonlinear,
    SachsQuery,
    SinCos,
    ZhangPostNonlinear,
    get_dataset,
    list_datasets,
    nonsmooth,
    post_nonlinear,
    register_dataset,
    sachs_query,
    sin_cos,
    unregister_dataset,
)
from spectralcit.datasets.base import LAWS, draw_noise
from spectralcit.datasets.post_nonlinear import NONLINEARITIES
from spectralcit.errors import ParameterError, UnknownDatasetError

CUBED = {"0750d8579049d872", "7b086b7aa84029c0"}  # the samples below whose model has a cube
NAMES = [info.name for info in list_datasets()]


def fingerprint(sample) -> str:
    digest = hashlib.sha256()
    for block in sample:
        digest.update(b"None" if block is None else np.ascontiguousarray(block).tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda rng: post_nonlinear(30, rng, dependent=True, d_z=7), "0750d8579049d872"),
        (lambda rng: sin_cos(30, rng, dependent=True, d_z=7), "737e2a7cfad05565"),
        (lambda rng: sachs_query(30, rng, dependent=True, d_z=7), "1fd14afc1c873b64"),
        (lambda rng: nonsmooth(30, rng, d_z=7), "7b086b7aa84029c0"),
    ],
)
def test_the_numbers_of_the_committed_study_stay_bit_for_bit(draw, expected):
    # Sine, cosine and tanh may differ in the last bit between builds of NumPy: compare where they agree.
    probe = np.random.default_rng(0).standard_normal(1000)
    if fingerprint([np.sin(probe), np.cos(probe), np.tanh(probe)]) != "47c9a40d7dd2e306":
        pytest.skip("another build of NumPy rounds sine, cosine or tanh differently")
    if expected in CUBED and fingerprint([probe**3]) != "9def440caa31eb2a":
        pytest.skip("a processor with wider vectors (AVX-512) rounds cubes differently")
    assert fingerprint(draw(np.random.default_rng(11))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_data_set_draws_documented_reproducible_finite_rows(name):
    dataset = get_dataset(name)
    info = next(info for info in list_datasets() if info.name == name)
    assert info.summary
    assert info.paper
    for dependent in (False, True)[: 1 + dataset.has_alternative]:
        first, second = (dataset.draw(40, 3, dependent) for _ in range(2))
        assert fingerprint(first) == fingerprint(second)
        assert all(block is None or (len(block) == 40 and np.isfinite(block).all()) for block in first)
        assert fingerprint(first) != fingerprint(dataset.draw(40, 4, dependent))


@pytest.mark.parametrize("name", ["post-nonlinear", "sachs", "hard-vector-20", "hard-no-z"])
def test_standardize_only_shifts_and_scales_the_same_draw(name):
    raw = get_dataset(name).draw(60, 5, False)
    scaled = get_dataset(name, standardize=True).draw(60, 5, False)
    for before, after in zip(raw, scaled, strict=True):
        if before is None:
            assert after is None
            continue
        np.testing.assert_allclose(after.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(after.std(axis=0), 1.0)
        np.testing.assert_allclose(after, (before - before.mean(axis=0)) / before.std(axis=0), atol=1e-10)


@pytest.mark.parametrize("name", sorted(NONLINEARITIES))
def test_nonlinearities_of_the_post_nonlinear_family(name):
    x, _, z = PostNonlinear(d_z=2, f=name, noise_scale=0.0).draw(50, 0, False)
    index = z.mean(axis=1)
    expected = {
        "linear": index,
        "square": index * index,
        "cube": index * index * index,
        "tanh": np.tanh(index),
        "sin": np.sin(index),
        "cos": np.cos(index),
    }
    np.testing.assert_allclose(x, expected[name], atol=1e-15)


def test_random_nonlinearities_are_drawn_anew():
    dataset = PostNonlinear(d_z=1, f="random", noise_scale=0.0)
    seen = set()
    for seed in range(40):
        x, _, z = dataset.draw(5, seed, False)
        seen |= {name for name, f in NONLINEARITIES.items() if np.array_equal(x, f(z[:, 0]))}
    assert seen == set(NONLINEARITIES)


@pytest.mark.parametrize("law", LAWS)
def test_noise_has_the_law_it_is_called_by(law):
    oracle = {
        "normal": stats.norm(),
        "laplace": stats.laplace(),
        "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
        "student": stats.t(3),
        "cauchy": stats.cauchy(),
    }
    values = draw_noise(np.random.default_rng(1), law, 4000)
    assert stats.kstest(values, oracle[law].cdf).pvalue > 1e-3


def test_the_partial_correlation_of_the_linear_gaussian_model_is_the_parameter():
    x, y, z = LinearGaussian(d_z=3, confounding=2.0, partial_correlation=0.4).draw(100_000, 0, True)
    precision = np.linalg.inv(np.corrcoef(np.column_stack([x, y, z]).T))
    assert -precision[0, 1] / np.sqrt(precision[0, 0] * precision[1, 1]) == pytest.approx(0.4, abs=0.01)


def test_cauchy_rows_without_confounding_are_cauchy():
    x, _, _ = LinearCauchy(confounding=0.0).draw(4000, 2, False)
    assert stats.kstest(x, "cauchy").pvalue > 1e-3


def test_only_effective_columns_of_zhang_matter():
    rng = np.random.default_rng(0)
    x, _, z = ZhangPostNonlinear(d_z=3, noise_scale=1e-9).draw(2000, rng, False)
    order = np.argsort(z[:, 0])
    # Without noise X is an increasing function of the first column, whatever the other columns do.
    assert np.all(np.diff(x[order]) >= -1e-6)


def test_sachs_query_three_and_nonsmooth_have_no_alternative():
    for dataset in (SachsQuery(query=3, d_z=2), get_dataset("nonsmooth", d_z=2)):
        assert not dataset.has_alternative
        with pytest.raises(ParameterError, match="no alternative"):
            dataset.draw(10, 0, True)


def test_data_sets_compare_hash_and_travel():
    assert SinCos(d_z=3) == SinCos(d_z=3) != SinCos(d_z=4)
    copy = pickle.loads(pickle.dumps(get_dataset("hard-no-z", strength=0.3)))
    assert fingerprint(copy.draw(9, 1, True)) == fingerprint(
        get_dataset("hard-no-z", strength=0.3).draw(9, 1, True)
    )


def test_a_function_and_a_class_of_the_user():
    @register_dataset("mine-function", has_alternative=False)
    def mine(n, rng, *, dependent, scale=2.0):
        """Noise."""
        x, y, z = scale * rng.standard_normal((3, n))
        return x, y, z[:, None]

    @register_dataset("mine-class")
    @dataclass(frozen=True, kw_only=True)
    class Mine(Dataset):
        """Noise."""

        scale: float = 2.0

        def _draw(self, n, rng, dependent):
            return mine(n, rng, dependent=dependent, scale=self.scale)

    try:
        first = get_dataset("mine-function", scale=3.0)
        second = get_dataset("mine-class", scale=3.0)
        assert fingerprint(first.draw(5, 1, False)) == fingerprint(second.draw(5, 1, False))
        assert (first.has_alternative, second.has_alternative) == (False, True)
        with pytest.raises(ParameterError, match="already registered"):
            register_dataset("mine-class")(mine)
    finally:
        unregister_dataset("mine-function")
        unregister_dataset("mine-class")


def test_errors_name_the_nearest():
    with pytest.raises(UnknownDatasetError, match="Did you mean 'sin-cos'"):
        get_dataset("sincos")
    with pytest.raises(ParameterError, match=r"no parameter 'dz'.* Did you mean 'd_z'"):
        get_dataset("sin-cos", dz=3)
    with pytest.raises(ParameterError, match="Did you mean 'laplace'"):
        SinCos(noise="laplacian")
    with pytest.raises(ParameterError, match="d_z must be an integer from 1"):
        SinCos(d_z=0)
    with pytest.raises(ParameterError, match="needs a default"):
        register_dataset("bad")(lambda n, rng, dependent, scale: None)
    with pytest.raises(ParameterError, match="n, rng"):
        register_dataset("bad")(lambda n: None)
