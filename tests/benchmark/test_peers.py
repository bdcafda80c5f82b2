"""Other libraries' own programs: known answers come back, seeds hold, and nothing registers by itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from spectralcit.benchmark import Suite, run_suite
from spectralcit.benchmark.peers import PEERS, PeerTest, register_all
from spectralcit.benchmark.store import Store
from spectralcit.errors import MissingExtraError, ParameterError
from spectralcit.registry import list_tests, unregister

# Partial correlations, whose p-values have a closed form, by the name of the peer.
PARTIAL = ("causal-learn-fisherz", "tigramite-parcorr", "pingouin-partial-corr")
MODULES = {"causal-learn": "causallearn", "tigramite": "tigramite", "pingouin": "pingouin", "pgmpy": "pgmpy"}
BY_NAME = {peer.name: peer for peer in PEERS}


@pytest.fixture
def registered():
    register_all()
    yield
    for peer in PEERS:
        unregister(peer.name)


def sample(effect, n=150):
    rng = np.random.default_rng(0)
    z = rng.standard_normal((n, 2))
    own, other = rng.standard_normal((2, n))
    return z[:, 0] + own, z.sum(axis=1) + other + effect * own, z


def closed_form(x, y, z):
    basis = np.column_stack([np.ones(len(x)), z])
    left, right = (v - basis @ np.linalg.lstsq(basis, v, rcond=None)[0] for v in (x, y))
    r = np.corrcoef(left, right)[0, 1]
    freedom = len(x) - z.shape[1] - 2
    fisher = 2 * stats.norm.sf(abs(np.arctanh(r)) * np.sqrt(len(x) - z.shape[1] - 3))
    return fisher, 2 * stats.t.sf(abs(r) * np.sqrt(freedom / (1 - r**2)), freedom)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PARTIAL)
def test_partial_correlations_are_what_they_are_by_hand(name):
    pytest.importorskip(MODULES[BY_NAME[name].packages[0]])
    x, y, z = sample(0.2)
    fisher, student = closed_form(x, y, z)
    expected = fisher if name == "causal-learn-fisherz" else student
    assert BY_NAME[name](random_state=0).test(x, y, z).pvalue == pytest.approx(expected, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["causal-learn-kci", "causal-learn-rcit", "pgmpy-gcm"])
def test_a_strong_effect_is_seen_the_seed_holds_and_the_old_generator_is_put_back(name):
    pytest.importorskip(MODULES[BY_NAME[name].packages[0]])
    x, y, z = sample(1.5)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (BY_NAME[name](random_state=3).test(x, y, z).pvalue for _ in range(2))
    assert first == second < 1e-4
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_only_register_all_registers():
    assert not {peer.name for peer in PEERS} & {info.name for info in list_tests()}


@pytest.mark.filterwarnings("ignore")
def test_a_suite_that_imports_them_runs_them_and_stores_their_versions(tmp_path, registered):
    pytest.importorskip("causallearn")
    suite = Suite.define(
        name="peers",
        imports=["spectralcit.benchmark.peers"],
        tests=["causal-learn-fisherz", "fisher-z"],
        datasets=[{"name": "linear-gaussian"}],
        n=60,
        replicates=2,
    )
    run_suite(suite, tmp_path / "peers.sqlite", backend="serial")
    with Store(tmp_path / "peers.sqlite", read_only=True) as store:
        found = {(r.test, r.dependent, r.replicate): r for r in store.records()}
    assert len(found) == 8
    for (test, dependent, replicate), record in found.items():
        assert ("causal-learn" in record.versions) == (test == "causal-learn-fisherz")
        assert record.pvalue == pytest.approx(found["fisher-z", dependent, replicate].pvalue, rel=0.1)


def test_what_is_missing_and_what_is_too_wide_are_said():
    class Absent(PeerTest):
        name, packages = "absent", ("no-such-package",)

        def _ask(self, x, y, z, seed):
            import no_such_package

            return no_such_package.test(x, y, z)

    x, y, z = sample(0.0)
    with pytest.raises(MissingExtraError, match="no-such-package"):
        Absent(random_state=0).test(x, y, z)
    with pytest.raises(ParameterError, match="with a z"):
        Absent(random_state=0).test(x, y)
    with pytest.raises(ParameterError, match="one column"):
        BY_NAME["causal-learn-fisherz"](random_state=0).test(z, y, x)
