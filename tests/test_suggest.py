from __future__ import annotations

import numpy as np
import pytest

from spectralcit import TestTags, get_test, register, suggest_tests
from spectralcit.errors import SpectralCITError
from spectralcit.inputs import prepare
from spectralcit.registry import list_tests, unregister
from spectralcit.suggest import Profile, profile_of, rank_tests


def verdicts(profile):
    return {one.name: one.verdict for one in rank_tests(profile)}


def test_every_test_has_a_verdict_with_a_reason():
    ranked = rank_tests(Profile(n=500, z=3))
    assert {one.name for one in ranked} == {info.name for info in list_tests()}
    assert all(one.reasons and all(one.reasons) for one in ranked)
    order = [one.verdict for one in ranked]
    assert order == sorted(order, key=["good", "care", "no"].index)


def test_continuous_data_ask_for_the_default_and_not_for_tables():
    found = verdicts(Profile(n=500, z=3))
    assert rank_tests(Profile(n=500, z=3))[0].name == "spectral"
    assert found["chi2"] == found["g2"] == "no"
    assert found["hsic"] == "no"
    assert found["fisher-z"] == "care"


def test_discrete_data_ask_for_tables_while_the_cells_are_filled():
    filled = Profile(n=1000, z=1, categories=True, discrete=True, cells=12)
    assert rank_tests(filled)[0].name == "chi2"
    sparse = Profile(n=1000, z=8, categories=True, discrete=True, cells=400)
    assert verdicts(sparse)["chi2"] == "care"
    assert rank_tests(sparse)[0].name == "spectral"


@pytest.mark.parametrize("n, expected", [(1000, "good"), (5000, "care"), (200_000, "no")])
def test_cubic_tests_end_with_many_rows(n, expected):
    assert verdicts(Profile(n=n, z=2))["kcit"] == expected
    assert verdicts(Profile(n=n, z=2))["spectral"] == "good"


def test_splitting_needs_rows_and_distances_need_few_columns():
    assert verdicts(Profile(n=100, z=2))["pcm"] == "care"
    assert verdicts(Profile(n=1000, z=2))["pcm"] == "good"
    assert verdicts(Profile(n=1000, z=40))["kpc"] == "care"
    assert verdicts(Profile(n=90, z=40))["spectral"] == "care"


def test_tags_of_a_users_own_test_are_obeyed():
    @register("one-by-one", tags=TestTags(multivariate=False))
    class OneByOne(get_test("fisher-z")):
        pass

    try:
        assert verdicts(Profile(n=500, x=2))["one-by-one"] == "no"
        # It can be used, but nothing is known about it.
        assert verdicts(Profile(n=500, x=1))["one-by-one"] == "care"
    finally:
        unregister("one-by-one")


def test_the_profile_of_data():
    rng = np.random.default_rng(0)
    n = 200
    group = rng.choice(["a", "b", "c"], n)
    code = rng.integers(0, 4, n)
    flag = rng.random(n) < 0.5
    profile = profile_of(prepare(list(group), flag, code))
    assert profile == Profile(n=n, x=3, y=1, z=1, categories=True, discrete=True, cells=3 * 2 * 4)
    mixed = profile_of(prepare(rng.normal(size=n), flag, None))
    assert mixed == Profile(n=n, categories=True)


def test_what_is_called_impossible_is_and_what_is_good_runs():
    rng = np.random.default_rng(1)
    x, y, z = rng.normal(size=(3, 60))
    for one in suggest_tests(x, y, z):
        if one.verdict == "no":
            with pytest.raises(SpectralCITError):
                get_test(one.name)(random_state=0).test(x, y, z)
    assert suggest_tests(x, y, z)[0].name == "spectral"
    best = suggest_tests(x, y)[0]
    assert best.name == "spectral"
