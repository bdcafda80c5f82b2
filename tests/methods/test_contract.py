"""What every classical test owes its users: seeds, manners, mixed data, degenerate inputs, a docs page."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from spectralcit import get_test, list_tests
from spectralcit.errors import SpectralCITError
from spectralcit.numeric.streams import generator

CLASSICAL = [info for info in list_tests() if info.target.startswith("spectralcit.methods.")]
CONDITIONAL = [info for info in CLASSICAL if info.tags.conditional]
# A draw less does not change what is checked here, and the suite stays quick.
QUICK = {
    "n_bootstrap": 49,
    "n_permutations": 49,
    "n_draws": 49,
    "n_steps": 20,
    "n_samples": 10,
    "n_functions": 10,
    "n_splits": 1,
}
# Tests that train trees for each draw make even fewer.
QUICKER = {
    "ccit": {"n_bootstrap": 2, "n_trees": 5},
    "nnlscit": {"n_permutations": 19, "n_trees": 3, "learning_rate": 0.3},
}
DOCS = Path(__file__).parents[2] / "docs" / "tests"
PAGES = {path: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md")}


def make(info, **params):
    cls = get_test(info.name)
    quick = {k: v for k, v in QUICK.items() if k in cls._get_param_names()}
    return cls(**(quick | QUICKER.get(info.name, {}) | params))


def draw(info, seed=0, n=80):
    rng = np.random.default_rng(seed)
    if info.tags.discrete:
        z = rng.integers(0, 2, n)
        return (z + rng.integers(0, 2, n)) % 3, (z + rng.integers(0, 3, n)) % 3, z
    z = rng.normal(size=n)
    return z + rng.normal(size=n), z**2 + rng.normal(size=n), z


def blocks(info, *data):
    return data if info.tags.conditional else data[:2]


all_tests = pytest.mark.parametrize("info", CLASSICAL, ids=lambda info: info.name)
conditional_tests = pytest.mark.parametrize("info", CONDITIONAL, ids=lambda info: info.name)


def test_the_whole_list_is_here():
    names = {info.name for info in CLASSICAL}
    assert names >= {
        "fisher-z",
        "spearman-z",
        "gcm",
        "wgcm",
        "pcm",
        "kcit",
        "rcit",
        "rcot",
        "hsic",
        "chi2",
        "g2",
    }
    assert names >= {"kpc", "lpcit", "circe", "split-kci"}
    assert names >= {"cmi-knn", "cmi-knn-mixed", "ccit", "nnlscit"}
    assert names >= {"local-permutation", "crt", "cpt"}


@all_tests
def test_same_seed_same_result_and_json(info):
    data = blocks(info, *draw(info))
    first, second = (make(info, random_state=11).test(*data) for _ in range(2))
    assert first.pvalue == second.pvalue
    assert first.statistic == second.statistic
    assert first.method == info.name
    assert first.effect_size is not None
    json.dumps(first.to_dict(), allow_nan=False)


@all_tests
def test_clone_keeps_the_parameters(info):
    test = make(info, random_state=3)
    assert clone(test).get_params() == test.get_params()


@all_tests
def test_has_a_page_in_the_docs(info):
    # A page may be that of a family; its title names every member.
    [page] = [path for path, text in PAGES.items() if f'`"{info.name}"`' in text.splitlines()[0]]
    for word in ("Null hypothesis", "Assumes", "Costs", "Fails", "Effect size", "Reference"):
        assert word in PAGES[page], f"{page.name} does not say: {word}"


# "rcot" draws other features when x and y change places, "local-permutation" permutes the other one.
DRAWS_ANEW = ("rcot", "local-permutation")
SYMMETRIC = [info for info in CLASSICAL if info.tags.symmetric and info.name not in DRAWS_ANEW]


@pytest.mark.parametrize("info", SYMMETRIC, ids=lambda info: info.name)
def test_symmetric_tests_do_not_care_which_is_x(info):
    x, y, *z = blocks(info, *draw(info))
    forth, back = make(info, random_state=5).test(x, y, *z), make(info, random_state=5).test(y, x, *z)
    assert back.pvalue == pytest.approx(forth.pvalue, abs=1e-6)


@pytest.mark.parametrize("info", [i for i in CONDITIONAL if i.tags.mixed], ids=lambda info: info.name)
def test_mixed_columns(info):
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 90)
    x = np.array(["red", "green", "blue"])[(group + rng.integers(0, 2, 90)) % 3]
    y = group + rng.normal(size=90)
    z = group.astype(str)
    assert 0 < make(info, random_state=0).test(list(x), y, list(z)).pvalue <= 1


@all_tests
def test_duplicate_rows_give_a_result(info):
    data = [np.concatenate([v, v]) for v in draw(info, n=40)]
    assert 0 < make(info, random_state=0).test(*blocks(info, *data)).pvalue <= 1


@conditional_tests
def test_more_columns_than_rows_is_a_result_or_a_clear_error(info):
    rng = np.random.default_rng(2)
    z = rng.integers(0, 2, (40, 60)) if info.tags.discrete else rng.normal(size=(40, 60))
    x, y, _ = draw(info, n=40)
    message = ""
    try:
        pvalue = make(info, random_state=0).test(x, y, z).pvalue
    except SpectralCITError as error:
        pvalue, message = 1.0, str(error)
    assert 0 < pvalue <= 1
    assert message == "" or "rows" in message


@conditional_tests
def test_singular_z_is_a_result(info):
    x, y, z = draw(info)
    three = np.column_stack([z, 2 * z, -z])
    assert 0 < make(info, random_state=0).test(x, y, three).pvalue <= 1


@conditional_tests
def test_z_that_determines_x_is_a_result_not_a_crash(info):
    _, y, z = draw(info)
    result = make(info, random_state=0).test(z * 3 + 1, y, z)
    assert 0 < result.pvalue <= 1
    assert result.pvalue > 1e-4  # nothing of x is left, so nothing can be found


def test_streams_differ_from_those_of_the_user_and_from_each_other():
    values = [generator(0, name).random() for name in ("a", "b")] + [np.random.default_rng(0).random()]
    assert len(set(values)) == 3
    assert generator(4, "a").random() == generator(4, "a").random()
