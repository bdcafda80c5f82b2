"""Features that do not carry over to the test part, and statistics that few rows decide, are warned of."""

import numpy as np
import pytest

from spectralcit.inputs import train_test_rows
from spectralcit.numeric.whiten import Whitener
from spectralcit.paper.held_out import held_out
from spectralcit.paper.statistic import row_shares, spectral_statistic
from spectralcit.paper.test import PaperSpectralCIT

CONDITION = {"u": 2.0, "v": 3.0, "w": 4e9}


def white(n=60, d=10, seed=0):
    """Features of independent rows as they should be."""
    rng = np.random.default_rng(seed)
    return {"u": rng.normal(size=(n, d)), "v": rng.normal(size=(n, d)), "w": rng.normal(size=(n, 2 * d))}


@pytest.mark.parametrize("kind", ["frobenius", "projector"])
@pytest.mark.parametrize("conditional", [True, False])
def test_shares_of_rows_add_up_to_the_mean_under_random_signs(kind, conditional):
    u, v, w = white(n=40, d=2).values()
    w = w if conditional else None
    shares = row_shares(u, v, w, kind=kind)
    assert shares.sum() == pytest.approx(1.0)
    if kind == "frobenius":
        left, right = u - u.mean(axis=0), v - v.mean(axis=0)
        if w is not None:
            third = w - w.mean(axis=0)
            left, right = (side - third @ (third.T @ side / 40) for side in (left, right))
        products = np.einsum("ij,ik->ijk", left, right)
        signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(4000, 40))
        drawn = np.square(np.tensordot(signs, products, axes=1)).sum(axis=(1, 2)).mean()
        parts = np.square(products).sum(axis=(1, 2))
        assert drawn == pytest.approx(parts.sum(), rel=0.1)
        np.testing.assert_allclose(shares, parts / parts.sum())


def test_a_row_that_is_the_statistic_has_all_of_it():
    u, v, _ = white(n=50, d=2).values()
    u[7], v[7] = 300.0, 300.0
    shares = row_shares(u, v)
    assert np.argmax(shares) == 7
    assert shares[7] == pytest.approx(1.0, abs=0.05)


def test_features_without_any_covariance_have_no_shares():
    assert not row_shares(np.zeros((30, 2)), np.ones((30, 2))).any()


@pytest.mark.parametrize("n", [60, 200, 1000])
def test_white_features_bring_no_warning(n):
    for seed in range(20):
        assert held_out(white(n, seed=seed), "frobenius").warnings(CONDITION) == ()


def test_features_that_extrapolate_are_named_with_their_condition():
    features = white()
    features["w"][:, 0] *= 4.0
    [warning] = held_out(features, "frobenius").warnings(CONDITION)
    assert "features w" in warning
    assert "condition number 4e+09" in warning
    assert "60 test rows" in warning


def test_few_rows_that_decide_are_counted():
    features = white(n=400, d=2)
    for name in "uv":
        features[name][:3, 0] = 20.0
    found = held_out(features, "frobenius")
    assert found.n_few == 20
    assert any("20 of 400 test rows make up" in warning for warning in found.warnings(CONDITION))


def test_a_direction_that_the_training_rows_hardly_have_is_warned_of():
    """Two columns of Z are one column twice, except in test rows: linear features of it explode there."""
    n, seed = 300, 0
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, n))
    split_seed, _ = np.random.SeedSequence(seed).spawn(2)
    _, test_rows = train_test_rows(n, 0.2, np.random.default_rng(split_seed))
    twice = z + 1e-3 * rng.normal(size=n)
    linear = dict.fromkeys(("n_hidden_u", "n_hidden_v", "n_hidden_w"), 0)
    test = PaperSpectralCIT(output_dim=2, n_epochs=20, random_state=seed, **linear)
    calm = test.test(x, y, np.column_stack([z, twice]))
    twice[test_rows] += rng.normal(size=len(test_rows))
    wild = test.test(x, y, np.column_stack([z, twice]))
    assert wild.pvalue < 1e-6 < calm.pvalue
    assert any("features w" in warning for warning in wild.warnings)
    assert calm.warnings == ()
    assert wild.diagnostics["spread_on_test_rows"]["w"] > 100 * calm.diagnostics["spread_on_test_rows"]["w"]


def test_the_pvalue_is_the_published_one_whatever_is_warned_of():
    u, v, w = (Whitener.fit(each).transform(each) for each in white().values())
    before = spectral_statistic(u, v, w).pvalue
    held_out({"u": u, "v": v, "w": w}, "frobenius")
    assert spectral_statistic(u, v, w).pvalue == before
