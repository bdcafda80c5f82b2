from __future__ import annotations

import pickle

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.errors import ParameterError

pytestmark = pytest.mark.adapters

pytest.importorskip("tigramite")
from tigramite.data_processing import DataFrame  # noqa: E402
from tigramite.independence_tests.parcorr import ParCorr  # noqa: E402
from tigramite.pcmci import PCMCI  # noqa: E402

from spectralcit.discovery import TigramiteTest  # noqa: E402


@pytest.fixture
def series():
    """Two series with memory; the first drives the second one step later, through its square."""
    rng = np.random.default_rng(3)
    values = np.zeros((400, 2))
    for t in range(1, 400):
        x, y = values[t - 1]
        values[t] = 0.4 * x + rng.normal(), 0.4 * y + 0.5 * (x**2 - 1) + 0.7 * rng.normal()
    return values


def links(test, series, method="run_pcmci"):
    options = {"alpha_level": 0.01} if method == "run_pcmci" else {}  # the other one has a single level
    results = getattr(PCMCI(DataFrame(series), test), method)(tau_max=1, pc_alpha=0.01, **options)
    graph = results["graph"]
    return {(int(i), int(j), int(lag)) for i, j, lag in np.argwhere(graph == "-->")}, results


def test_pcmci_finds_a_nonlinear_link_that_parcorr_misses(series):
    found, results = links(TigramiteTest(), series)
    assert found == {(0, 0, 1), (1, 1, 1), (0, 1, 1)}
    assert results["p_matrix"][0, 1, 1] < 1e-4
    assert (0, 1, 1) not in links(ParCorr(), series)[0]


def test_pcmciplus_finds_it_too(series):
    assert (0, 1, 1) in links(TigramiteTest(), series, "run_pcmciplus")[0]


def test_the_pvalue_is_that_of_our_test(series):
    test = TigramiteTest(test="gcm")
    test.set_dataframe(DataFrame(series))
    value, pvalue = test.run_test(X=[(0, -1)], Y=[(1, 0)], Z=[(1, -1)], tau_max=1, cut_off="max_lag")
    (seed,) = (result.seed for result in test._tester.cache.values())
    x, y, z = series[:-1, 0], series[1:, 1], series[:-1, 1]
    # Which side comes first is decided by the values; the test is nearly, not exactly, symmetric.
    direct = [ci_test(*sides, z, method="gcm", random_state=seed, time=True) for sides in ((x, y), (y, x))]
    assert (value, pvalue) in {(result.effect_size, result.pvalue) for result in direct}
    assert test.run_test(X=[(0, -1)], Y=[(1, 0)], tau_max=1, alpha_or_thres=0.5)[2] in (True, False)
    assert test.measure == "spectralcit gcm"


def test_sides_and_history_do_not_matter(series):
    first, second = TigramiteTest(test="rcit"), TigramiteTest(test="rcit")
    x, y, z = series[:-1, [0]], series[1:, [1]], series[:-1, [1]]
    second.run_test_raw(x, z)
    assert first.run_test_raw(x, y, z) == second.run_test_raw(y, x, z)


def test_vectors_and_discrete_variables(series):
    x, y = series[:-1], np.digitize(series[1:, [1]], [-1.0, 0.0, 2.0])
    test = TigramiteTest(test="spectral")
    _, pvalue = test.run_test_raw(x, y, y_type=np.ones(y.shape, dtype=int))
    labels = np.array(["0", "1", "2", "3"])[y.ravel()]
    (result,) = test._tester.cache.values()
    orders = [pair for block in (x, x[:, ::-1]) for pair in ((block, labels), (labels, block))]
    assert pvalue in {ci_test(*pair, random_state=result.seed, time=True).pvalue for pair in orders}
    assert pvalue < 0.01


def test_a_pickled_instance_gives_the_same_answers(series):
    test = TigramiteTest(test="rcit", random_state=2)
    x, y = series[:-1, [0]], series[1:, [1]]
    assert pickle.loads(pickle.dumps(test)).run_test_raw(x, y) == test.run_test_raw(x, y)


def test_what_is_not_available_is_refused(series):
    with pytest.raises(ParameterError, match="significance is not an option"):
        TigramiteTest(significance="analytic")
    with pytest.raises(ParameterError, match="no parameter 'n_knn'"):
        TigramiteTest(params={"n_knn": 3})
    with pytest.raises(ParameterError, match="null distribution"):
        TigramiteTest().get_shuffle_significance(series.T, np.array([0, 1]), 0.0, return_null_dist=True)


@pytest.mark.parametrize("typed", ["fisherz", "Fisher_Z"])
def test_names_as_people_type_them(typed):
    assert TigramiteTest(test=typed).measure == "spectralcit fisher-z"
