from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from spectralcit import ci_test, list_tests
from spectralcit.discovery import register_tests
from spectralcit.discovery.causal_learn import CausalLearnTest
from spectralcit.discovery.queries import QueryTester
from spectralcit.errors import LengthMismatchError, MissingValuesError, ParameterError, UnknownTestError

from .graphs import EIGHT_NODES, TWO_PARTS, additive_noise, skeleton_f1

pytestmark = pytest.mark.adapters

cit = pytest.importorskip("causallearn.utils.cit")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(cit, "_custom_ci_tests", {})
    return register_tests()


@pytest.fixture
def chain():
    """Columns 0 -> 1 -> 2, nonlinear."""
    return additive_noise([(0, 1), (1, 2)], 3, 150, seed=4)


def skeleton(graph: np.ndarray) -> set[tuple[int, int]]:
    return {(i, j) for i, j in combinations(range(len(graph)), 2) if graph[i, j] or graph[j, i]}


def run_pc(data, alpha, test, **options):
    from causallearn.search.ConstraintBased.PC import pc

    return skeleton(pc(data, alpha, test, show_progress=False, **options).G.graph)


@pytest.mark.usefixtures("remembered")
def test_pc_recovers_a_nonlinear_skeleton_of_eight_nodes():
    data = additive_noise(TWO_PARTS, 8, 2000, seed=0)
    assert skeleton_f1(run_pc(data, 0.01, "spectral"), TWO_PARTS) >= 0.9
    assert skeleton_f1(run_pc(data, 0.01, "fisherz"), TWO_PARTS) < 0.8  # correlations do not suffice


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_pc_recovers_a_connected_skeleton(seed):
    data = additive_noise(EIGHT_NODES, 8, 2000, seed=seed)
    assert skeleton_f1(run_pc(data, 0.01, "spectral"), EIGHT_NODES) >= 0.9


def test_fci_finds_a_chain():
    from causallearn.search.ConstraintBased.FCI import fci

    graph, _ = fci(additive_noise([(0, 1), (1, 2)], 3, 400, seed=4), "spectral", 0.01, show_progress=False)
    assert skeleton(graph.graph) == {(0, 1), (1, 2)}


def test_every_registered_test_has_a_name_in_causal_learn(registered):
    assert set(registered) == {info.name for info in list_tests()}
    assert [name for name, there in registered.items() if there != name] == ["rcit"]
    assert registered["rcit"] == "spectralcit-rcit"
    assert set(cit._custom_ci_tests) == set(registered.values())


@pytest.mark.parametrize("name", ["fisher-z", "gcm", "chi2", "rcit", "kcit"])
def test_pvalues_are_those_of_our_tests(name, registered, chain):
    data = np.sign(chain - np.median(chain, axis=0)) if name == "chi2" else chain
    test = cit.CIT(data, registered[name], random_state=7)
    seed = QueryTester(data, test=name, random_state=7).result(0, 2, [1]).seed
    expected = ci_test(data[:, 0], data[:, 2], data[:, [1]], method=name, random_state=seed).pvalue
    assert test(2, 0, {1}) == test(np.int64(0), [2], np.array([1])) == expected
    assert test(0, 2) == test(0, 2, None) == test(0, 2, ())


def test_fisher_z_agrees_with_that_of_causal_learn():
    data = np.random.default_rng(0).normal(size=(80, 4)) @ np.triu(np.ones((4, 4)))
    ours, theirs = cit.CIT(data, "fisher-z"), cit.CIT(data, "fisherz")
    for i, j in combinations(range(4), 2):
        rest = [k for k in range(4) if k not in (i, j)]
        # Ours uses Student's distribution, theirs Fisher's transformation: close, not equal.
        assert ours(i, j, rest) == pytest.approx(theirs(i, j, rest), abs=0.02)


def test_tests_of_causal_learn_stay_what_they_are(chain):
    for name in ("fisherz", "kci", "rcit", "gsq"):
        assert not isinstance(cit.CIT(chain, name), CausalLearnTest)


def test_a_test_registered_by_somebody_else_stays_theirs(chain):
    class Foreign(cit.CIT_Base):
        pass

    cit.register_ci_test("gcm", Foreign)
    assert register_tests(["gcm"]) == {"gcm": "spectralcit-gcm"}
    assert type(cit.CIT(chain, "gcm")) is Foreign


def test_a_test_of_the_user_joins_after_another_call(toy, chain):
    assert register_tests(["toy"]) == {"toy": "toy"}
    expected = ci_test(chain[:, 0], chain[:, 1], method="toy", offset=1.0, random_state=0).pvalue
    assert cit.CIT(chain, "toy", offset=1.0)(0, 1) == expected
    with pytest.raises(UnknownTestError, match="Did you mean 'toy'"):
        register_tests(["toi"])


def test_parameters_and_missing_values(chain):
    chain[:5, 0] = np.nan
    with pytest.raises(MissingValuesError):
        cit.CIT(chain, "gcm")
    dropped = cit.CIT(chain, "gcm", missing="drop")(0, 1)
    assert dropped == ci_test(chain[5:, 0], chain[5:, 1], method="gcm", random_state=0).pvalue
    with pytest.raises(ParameterError, match="no parameter 'kernelX'"):
        cit.CIT(chain, "gcm", kernelX="Gaussian")


def count_computed(monkeypatch):
    computed = []
    compute = QueryTester._compute

    def counted(self, query):
        computed.append(query)
        return compute(self, query)

    monkeypatch.setattr(QueryTester, "_compute", counted)
    return computed


def test_pvalues_are_kept_under_the_bytes_of_the_data(chain, monkeypatch):
    computed = count_computed(monkeypatch)
    big = np.vstack([chain] * 10)  # printed with an ellipsis: causal-learn's key is the printed text
    first = cit.CIT(big, "gcm")
    before = first(0, 1)
    assert cit.CIT(big.copy(), "gcm")(1, 0) == before
    assert len(computed) == 1
    changed = big.copy()
    changed[700, 0] += 3.0
    assert str(changed) == str(big)
    assert cit.CIT(changed, "gcm")(0, 1) != before
    big[700, 0] += 3.0  # in place: noticed by the instance that exists already
    assert first(0, 1) == cit.CIT(changed, "gcm")(0, 1)
    assert len(computed) == 2


def test_pvalues_in_a_file_serve_the_next_process(chain, monkeypatch, tmp_path):
    computed = count_computed(monkeypatch)
    path = str(tmp_path / "pvalues.jsonl")
    first = run_pc(chain, 0.01, "gcm", cache_path=path)
    asked = len(computed)
    assert asked >= 3
    assert run_pc(chain, 0.01, "gcm", cache_path=path) == first
    assert len(computed) == asked
    run_pc(chain, 0.01, "gcm", cache_path=path, random_state=1)
    assert len(computed) > asked


def test_nodes_of_several_columns():
    rng = np.random.default_rng(8)
    pose = rng.normal(size=(300, 2))
    middle = np.column_stack([pose[:, 0] * pose[:, 1], pose[:, 0]]) + 0.3 * rng.normal(size=(300, 2))
    end = middle[:, 0] + 0.5 * rng.normal(size=300)
    table = np.column_stack([pose, middle, end])
    nodes = [[0, 1], [2, 3], [4]]
    found = run_pc(table[:, [0, 2, 4]], 0.01, "spectral", table=table, nodes=nodes)
    assert found == {(0, 1), (1, 2)}
    test = cit.CIT(table[:, [0, 2, 4]], "gcm", table=table, nodes=nodes)
    assert (
        test(2, 0, [1])
        == ci_test(
            table[:, :2],
            end,
            middle,
            method="gcm",
            random_state=QueryTester(table, test="gcm", nodes=nodes).result(0, 2, [1]).seed,
        ).pvalue
    )
    with pytest.raises(LengthMismatchError, match="5 columns, one for each node, but there are 3 nodes"):
        run_pc(table, 0.01, "gcm", table=table, nodes=nodes)
    with pytest.raises(ParameterError, match=r"no node \[0, 1\]"):
        test([0, 1], 2)


def test_names_as_people_type_them(chain):
    assert register_tests(["Fisher_Z", "KCI", "RCIT"]) == {
        "Fisher_Z": "fisher-z",
        "KCI": "kcit",
        "RCIT": "spectralcit-rcit",
    }
    assert cit.CIT(chain, "fisher-z").method == "fisher-z"
    assert not isinstance(cit.CIT(chain, "kci"), CausalLearnTest)  # that one is causal-learn's own
