import numpy as np
import pytest

from spectralcit import SpectralCIT, prepare
from spectralcit.spectral.shared import ConditioningSet, can_share


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    table = rng.normal(size=(330, 7))  # more rows than landmarks, so that landmarks are random
    table[:, 1] += np.sin(2 * table[:, 0])
    table[:, 2] += table[:, 1] ** 2
    table[:, 3] += table[:, 2] * table[:, 0]
    table[:, 5] = table[:, 5] > table[:, 0]
    return table


@pytest.mark.parametrize("given", [(), (0,), (0, 2)])
def test_every_pvalue_is_that_of_the_public_test(table, given):
    columns = {"a": [1], "b": [3], "pair": [4, 6], "binary": [5]}
    z = table[:, given] if given else None
    blocks = {name: prepare(table[:, members], table[:, 0]).x for name, members in columns.items()}
    z_block = None if z is None else prepare(table[:, 1], table[:, 3], z).z
    shared = ConditioningSet(SpectralCIT(), blocks, z_block, seed=11)
    # Backwards and twice: neither the order of the queries nor what is cached may matter.
    queries = [("a", "b"), ("a", "pair"), ("pair", "a"), ("b", "binary"), ("a", "binary"), ("pair", "b")]
    for x, y in [*reversed(queries), queries[0]]:
        direct = SpectralCIT(random_state=11).test(table[:, columns[x]], table[:, columns[y]], z)
        assert shared.pvalue(x, y) == direct.pvalue, (x, y)
    assert len(shared._sides) == 4  # each variable was expanded once, whatever its role


def test_a_function_of_z_gets_one(table):
    z = table[:, 0]
    data = prepare(3.0 * z - 1.0, table[:, 1], z)
    assert ConditioningSet(SpectralCIT(), {0: data.x, 1: data.y}, data.z, seed=0).pvalue(0, 1) == 1.0


def test_only_the_default_pipeline_is_shared():
    assert can_share(SpectralCIT(null="mixture", n_draws=200))
    assert not can_share(SpectralCIT(features="bilevel"))
    assert not can_share(SpectralCIT(statistic="combined"))


def told(result):
    """All that a result says but the time it took and the names, which callers of many tests add."""
    return {k: v for k, v in result.to_dict().items() if k not in ("seconds", "question")}


def test_results_are_those_of_the_public_test_and_given_blocks_are_not_kept(table):
    z = table[:, 0]
    cases = {"number": table[:, 3], "binary": table[:, 5], "pair": table[:, [4, 6]]}
    data = {name: prepare(x, table[:, 1], z) for name, x in cases.items()}
    one = data["number"]
    shared = ConditioningSet(SpectralCIT(), {"y": one.y}, one.z, seed=7)
    for name, x in cases.items():
        direct = SpectralCIT(random_state=7).test(x, table[:, 1], z)
        assert told(shared.result(data[name].x, "y")) == told(direct), name
    assert list(shared._sides) == ["y"]


def test_results_are_those_of_the_public_test_where_rows_agree_in_z(table):
    z = np.round(table[:, 0])
    data = prepare(table[:, 3], table[:, 1], z)
    shared = ConditioningSet(SpectralCIT(), {"y": data.y}, data.z, seed=7)
    direct = SpectralCIT(random_state=7).test(table[:, 3], table[:, 1], z)
    assert told(shared.result(data.x, "y")) == told(direct)
