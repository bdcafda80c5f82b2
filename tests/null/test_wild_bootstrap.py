"""Wild bootstrap against the enumeration of all signs, whole and in blocks."""

import itertools

import numpy as np
import pytest

from spectralcit.null.wild_bootstrap import off_diagonal_mean, wild_bootstrap


def test_wild_bootstrap_has_the_moments_of_all_sign_patterns():
    rng = np.random.default_rng(2)
    gram = rng.normal(size=(6, 6))
    gram = gram + gram.T
    patterns = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    exact = [off_diagonal_mean(gram * np.outer(s, s)) for s in patterns]
    draws = wild_bootstrap(gram, 20_000, rng)
    assert set(np.round(draws, 9)) <= set(np.round(exact, 9))
    assert draws.mean() == pytest.approx(np.mean(exact), abs=0.02)
    assert draws.std() == pytest.approx(np.std(exact), rel=0.03)


def test_wild_bootstrap_draws_the_same_in_blocks(monkeypatch):
    gram = np.add.outer(np.arange(6.0), np.arange(6.0))
    whole = wild_bootstrap(gram, 50, np.random.default_rng(3))
    monkeypatch.setattr("spectralcit.null.wild_bootstrap._CELLS_PER_BLOCK", 20)
    assert np.allclose(wild_bootstrap(gram, 50, np.random.default_rng(3)), whole, rtol=1e-12)
