"""The default test: what it must not depend on, must find and must refuse, and that parts exchange."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression

from spectralcit import CITestResult, SpectralCIT, ci_test
from spectralcit.datasets import HARD_CASES, sin_cos
from spectralcit.errors import ParameterError, SpectralCITError
from spectralcit.paper.config import PaperConfig

SMALL = PaperConfig(output_dim=3, n_epochs=20, layer_size_u=16, layer_size_v=16, layer_size_w=16)


def confounded(n=400, seed=0, dependent=False):
    return HARD_CASES["nonlinear_2"](n, np.random.default_rng(seed), dependent=dependent, strength=0.5)


def pvalue(x, y, z, **parameters):
    return SpectralCIT(random_state=0, **parameters).test(x, y, z).pvalue


def test_same_seed_same_pvalue_in_another_process():
    x, y, z = confounded()
    code = (
        "import numpy as np\n"
        "from spectralcit import SpectralCIT\n"
        "from spectralcit.datasets import HARD_CASES\n"
        "d = HARD_CASES['nonlinear_2'](400, np.random.default_rng(0), dependent=False, strength=0.5)\n"
        "print(repr(SpectralCIT(random_state=0).test(*d).pvalue))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(other.stdout) == pvalue(x, y, z)


def test_default_does_not_import_jax():
    code = (
        "import sys, numpy as np; from spectralcit import SpectralCIT\n"
        "SpectralCIT(random_state=0).test(*np.random.default_rng(0).standard_normal((3, 50)))\n"
        "print('jax' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "False\n"
    )


def test_units_of_the_columns_do_not_matter():
    x, y, z = confounded()
    assert pvalue(1e6 * x - 3, y / 1e4, z * [1e-3, 1e3] + 7) == pytest.approx(pvalue(x, y, z), rel=1e-3)


def vectors(n=350, seed=3):
    rng = np.random.default_rng(seed)
    z, x, y = rng.standard_normal((n, 3)), rng.standard_normal((n, 4)), rng.exponential(size=(n, 2))
    return x + np.sin(z[:, :1]), y + z[:, 1:], z


@pytest.mark.parametrize("draw", [confounded, vectors], ids=["scalars", "vectors"])
def test_order_of_rows_and_columns_and_roles_do_not_matter(draw):
    x, y, z = (block.reshape(len(block), -1) for block in draw())
    expected = pvalue(x, y, z)
    rng = np.random.default_rng(1)
    for order in (rng.permutation(len(x)), np.argsort(z[:, 0])):
        assert pvalue(x[order], y[order], z[order]) == pytest.approx(expected, rel=1e-6)
    mixed = (block[:, rng.permutation(block.shape[1])] for block in (x, y, z))
    assert pvalue(*mixed) == pytest.approx(expected, rel=1e-6)
    assert pvalue(y, x, z) == pytest.approx(expected, rel=1e-6)


def test_order_and_roles_do_not_matter_without_z_or_with_a_discrete_one():
    rng = np.random.default_rng(2)
    x, y, levels = *rng.standard_normal((2, 300)), rng.integers(0, 4, 300)
    order = rng.permutation(300)
    for z, reordered in ((None, None), (levels, levels[order])):
        expected = pvalue(x, y, z)
        assert pvalue(x[order], y[order], reordered) == pytest.approx(expected, rel=0.03)
        assert pvalue(y, x, z) == pytest.approx(expected, rel=1e-6)


def test_exchanged_roles_exchange_the_names_of_the_blocks():
    x, y, z = vectors()
    first, second = (SpectralCIT(random_state=0).test(*data).diagnostics for data in ((x, y, z), (y, x, z)))
    tables = first["block_pvalues"], second["block_pvalues"]
    assert tables[0]["nonlinear × linear"] == pytest.approx(tables[1]["linear × nonlinear"])
    assert tables[0]["learned square × linear"] == pytest.approx(tables[1]["learned linear × square"])
    assert first["learned_pair"]["x"]["shape"] == second["learned_pair"]["y"]["shape"]


def test_the_seed_is_no_lottery():
    x, y, z = vectors()
    logs = [np.log10(SpectralCIT(random_state=seed).test(x, y, z).pvalue) for seed in range(5)]
    assert np.std(logs) < 0.2


@pytest.mark.parametrize(
    "effect",
    [
        lambda x, z, noise: 0.5 * x,
        lambda x, z, noise: 0.4 * x**2,
        lambda x, z, noise: 0.6 * np.sign(z[:, 0]) * x,
        lambda x, z, noise: x * noise,
    ],
    ids=["linear", "quadratic", "interaction with Z", "variance"],
)
def test_each_kind_of_dependence_is_found(effect):
    rng = np.random.default_rng(2)
    z = rng.standard_normal((800, 2))
    own, noise = rng.standard_normal((2, 800))
    base = np.sin(z[:, 0]) + z[:, 1]
    assert pvalue(base + own, base + noise + effect(own, z, noise), z) < 1e-3
    assert pvalue(base + own, base + noise, z) > 0.01


def test_linear_effect_size_is_the_partial_correlation():
    rng = np.random.default_rng(3)
    z = rng.standard_normal((4000, 1))
    own, noise = rng.standard_normal((2, 4000))
    result = SpectralCIT(random_state=0).test(
        (own > 0).astype(float), (0.5 * own + noise > 0).astype(float), z
    )
    truth = 2 / np.pi * np.arcsin(0.5 / np.sqrt(1.25))  # correlation of two signs of normals
    low, high = result.diagnostics["effect_interval"]
    assert low < truth < high
    assert result.effect_size == pytest.approx(truth, abs=0.04)


def test_interval_covers_the_effect_size():
    hits = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        own, noise = rng.standard_normal((2, 300))
        x, y = (own > 0).astype(float), (0.5 * own + noise > 0).astype(float)
        low, high = SpectralCIT(random_state=0).test(x, y).diagnostics["effect_interval"]
        hits += low < 2 / np.pi * np.arcsin(0.5 / np.sqrt(1.25)) < high
    assert hits >= 52


def test_small_sample_pvalues_are_uniform_under_independence():
    rng = np.random.default_rng(5)
    found = [SpectralCIT(random_state=i).test(*rng.standard_normal((3, 60))).pvalue for i in range(300)]
    assert stats.kstest(found, "uniform").pvalue > 0.001
    assert np.mean(np.array(found) <= 0.05) <= 0.09


def test_strong_confounding_does_not_look_like_dependence():
    found = [
        pvalue(*draw(500, np.random.default_rng([6, k]), dependent=False))
        for k, draw in enumerate(HARD_CASES.values())
    ]
    assert sum(p < 0.01 for p in found) <= 2  # thresholds on a trend need more rows
    assert np.median(found) > 0.1


PARTS = [
    {"statistic": "witness"},
    {"statistic": "frobenius"},
    {"statistic": "frobenius", "null": "chi2"},
    {"statistic": "combined"},
    {"null": "mixture"},
    {"nuisance": LinearRegression()},
    {"features": "bilevel", "config": SMALL},
    {"features": "bilevel", "config": SMALL, "nuisance": "projection"},
    {"features": "bilevel", "config": SMALL, "statistic": "frobenius"},
    {"features": "bilevel", "config": SMALL, "statistic": "witness", "nuisance": LinearRegression()},
]


@pytest.mark.parametrize(
    "parts", PARTS, ids=lambda p: " ".join(f"{k}={v}" for k, v in p.items() if k != "config")[:60]
)
def test_parts_exchange(parts):
    """Every combination finds a strong dependence, is silent on independent data, and explains itself."""
    rng = np.random.default_rng(7)
    z = rng.standard_normal((600, 2))
    own, noise = rng.standard_normal((2, 600))
    found = SpectralCIT(random_state=0, **parts).test(own, own + 0.3 * noise, z)
    assert found.pvalue < 0.01
    assert SpectralCIT(random_state=0, **parts).test(own, noise, z).pvalue > 0.001
    assert CITestResult.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_unconditional_parts_exchange():
    rng = np.random.default_rng(8)
    own, noise = rng.standard_normal((2, 400))
    for parts in ({}, {"statistic": "combined"}, {"features": "bilevel", "config": SMALL}):
        assert SpectralCIT(random_state=0, **parts).test(own, own**2 + 0.3 * noise).pvalue < 0.01


def test_classifier_as_nuisance():
    x, y, z = HARD_CASES["binary_y"](600, np.random.default_rng(9), dependent=True, strength=2.0)
    assert pvalue(x, y, z, nuisance=LogisticRegression()) < 1e-3


@pytest.mark.parametrize(
    "parameters",
    [
        {"features": "fourier"},
        {"statistic": "max"},
        {"null": "chi2"},
        {"statistic": "witness", "null": "bootstrap"},
        {"n_draws": 10},
        {"nuisance": "projection"},
        {"nuisance": "forest"},
        {"nuisance": 3},
    ],
)
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ParameterError):
        SpectralCIT(random_state=0, **parameters).test(*np.random.default_rng(0).standard_normal((3, 60)))


def test_a_function_of_z_is_independent_of_everything():
    rng = np.random.default_rng(10)
    z = rng.standard_normal((200, 2))
    result = SpectralCIT(random_state=0).test(z @ [1.0, -2.0], rng.standard_normal(200), z)
    assert result.pvalue == 1.0
    assert "function of Z" in result.warnings[-1]


def test_wide_z_warns():
    rng = np.random.default_rng(11)
    result = SpectralCIT(random_state=0).test(*rng.standard_normal((2, 60)), rng.standard_normal((60, 80)))
    assert any("80 columns for 60 rows" in text for text in result.warnings)


def test_data_frames_with_every_kind_of_column():
    rng = np.random.default_rng(12)
    n = 300
    stage = rng.choice(["I", "II", "III"], n)
    age = rng.normal(60, 10, n)
    frame = pd.DataFrame(
        {
            "gene": rng.standard_normal(n) + (stage == "III") + age / 20,
            "outcome": rng.uniform(size=n) < 1 / (1 + np.exp(-(age - 60) / 10 - (stage == "III"))),
            "visits": rng.poisson(2, n),
            "age": age,
            "stage": pd.Categorical(stage),
        }
    )
    result = ci_test(data=frame, x="gene", y=["outcome", "visits"], z=["age", "stage"], random_state=0)
    assert result.method == "spectral"
    assert result.pvalue > 0.001
    frame["gene"] += 2.0 * frame["visits"]
    assert ci_test(data=frame, x="gene", y="visits", z=["age", "stage"], random_state=0).pvalue < 1e-6


def test_scikit_learn_manners():
    test = SpectralCIT(statistic="witness", random_state=3)
    assert clone(test).get_params() == test.get_params()
    assert "witness" in repr(test)
    assert type(SpectralCIT.paper(output_dim=4)).__name__ == "PaperSpectralCIT"


def test_diagnostics_name_what_carries_the_dependence():
    x, y, z = sin_cos(800, np.random.default_rng(13), dependent=True, d_z=10)
    result = SpectralCIT(random_state=0).test(x, y, z)
    blocks = result.diagnostics["block_pvalues"]
    assert min(blocks, key=blocks.get) in ("nonlinear × linear", "nonlinear × nonlinear", "direct × all")
    assert max(blocks["nonlinear × linear"], blocks["nonlinear × nonlinear"]) < 1e-6
    assert blocks["linear × linear"] > 0.05
    assert "order 2" in next(iter(result.diagnostics["directions"]["x"][0]))
    assert result.diagnostics["singular_values"][0] > 0.3
    assert 0.0 < result.diagnostics["x"]["degrees_of_freedom"] < 800


COLUMNS = st.sampled_from(
    ["normal", "cauchy", "binary", "counts", "two rare values", "huge", "zero-inflated", "copy"]
)


@settings(max_examples=40)
@given(COLUMNS, COLUMNS, st.lists(COLUMNS, min_size=0, max_size=4), st.integers(20, 80), st.integers(0, 1000))
def test_any_columns_give_a_pvalue_or_a_documented_error(x_kind, y_kind, z_kinds, n, seed):
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal(n)

    def draw(kind):
        return {
            "normal": rng.standard_normal(n),
            "cauchy": rng.standard_cauchy(n),
            "binary": rng.integers(0, 2, n).astype(float),
            "counts": rng.poisson(1.5, n).astype(float),
            "two rare values": (rng.uniform(size=n) < 0.05) + 2.0 * (rng.uniform(size=n) < 0.05),
            "huge": 1e200 * rng.standard_normal(n),
            "zero-inflated": np.where(rng.uniform(size=n) < 0.6, 0.0, rng.standard_normal(n)),
            "copy": shared + 1e-9 * rng.standard_normal(n),
        }[kind]

    z = np.column_stack([draw(kind) for kind in z_kinds]) if z_kinds else None
    try:
        result = SpectralCIT(random_state=0).test(draw(x_kind), draw(y_kind), z)
    except SpectralCITError:
        return
    assert 0.0 < result.pvalue <= 1.0
    assert np.isfinite(result.statistic)
    assert 0.0 <= result.effect_size <= 1.0


@pytest.mark.parametrize(
    "mean", [lambda z: z.sum(axis=1), lambda z: z[:, 0] * z[:, 1]], ids=["linear", "product"]
)
def test_p_values_hardly_move_when_z_is_mixed(mean):
    rng = np.random.default_rng(8)
    z = rng.standard_normal((300, 4))
    x, y = (mean(z) + 0.7 * rng.standard_normal(300) for _ in range(2))
    copies = np.column_stack([z[:, 0], z[:, 0] + 0.01 * z[:, 1], z[:, 2:]])
    p, *others = (
        SpectralCIT(random_state=0).test(x, y, v).pvalue for v in (z, z @ rng.standard_normal((4, 4)), copies)
    )
    assert np.abs(np.log10(np.array(others) / p)).max() < 0.3
