import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.base import clone

from spectralcit import CITestResult, ci_test, get_test, prepare
from spectralcit.errors import ParameterError, TooFewRowsError
from spectralcit.inputs import train_test_rows
from spectralcit.many import test_many as run_many
from spectralcit.paper.bilevel import train
from spectralcit.paper.features import SpectralMaps
from spectralcit.paper.statistic import spectral_statistic
from spectralcit.paper.test import PaperSpectralCIT

# One architecture and one shape wherever possible: the loop is compiled once.
SMALL = {
    "output_dim": 3,
    "n_hidden_u": 1,
    "n_hidden_v": 1,
    "n_hidden_w": 1,
    "layer_size_u": 16,
    "layer_size_v": 16,
    "layer_size_w": 16,
    "n_epochs": 30,
    "lr_inner": 3e-3,
    "lr_outer": 1e-2,
    "reg_str_outer": 0.5,
}


def small(**changes):
    return PaperSpectralCIT(**(SMALL | {"random_state": 0} | changes))


def triple(n=500, link=0.0, seed=0):
    """Y depends on Z, and on X with strength `link`."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=(n, 2))
    return x, link * x + 0.5 * z[:, 0] + rng.normal(size=n), z


def test_dependence_is_found_and_independence_is_not_rejected():
    assert small().test(*triple(link=2.0)).pvalue < 1e-6
    assert small().test(*triple(link=0.0)).pvalue > 0.01


def test_unconditional_test_with_the_same_machinery():
    x, y, _ = triple(link=2.0)
    dependent, independent = small().test(x, y), small().test(x, np.random.default_rng(9).normal(size=500))
    assert dependent.pvalue < 1e-6
    assert independent.pvalue > 0.01
    assert set(dependent.diagnostics["e_val"]) == {"u", "v", "max"}
    assert dependent.diagnostics["loss_inner"] == {"update": [], "loss": []}


def test_result_says_what_was_done():
    result = small().test(*triple())
    assert result.method == "spectral-paper"
    assert (result.n, result.n_train, result.n_test) == (500, 400, 100)
    assert result.null.name == "chi2"
    assert result.null.parameters == {"df": 9}
    assert result.seed == 0
    assert result.pvalue == pytest.approx(stats.chi2.sf(result.statistic, 9))
    diagnostics = result.diagnostics
    assert stats.chi2.sf(diagnostics["critical_value_0.05"], 9) == pytest.approx(0.05)
    assert result.reject(0.05) == (result.statistic >= diagnostics["critical_value_0.05"])
    singular_values = diagnostics["singular_values"]
    assert singular_values == sorted(singular_values, reverse=True)
    assert result.statistic == pytest.approx(100 * sum(s**2 for s in singular_values))
    for network in "uvw":
        assert diagnostics["condition_before_whitening"][network] >= 1
        # Whitening helps unless the features are degenerate beyond its ridge.
        before, after = (diagnostics[f"condition_{when}_whitening"][network] for when in ("before", "after"))
        assert after <= before
        assert 0 <= diagnostics["e_val"][network] <= diagnostics["e_val"]["max"]
    outer = diagnostics["loss_outer"]
    assert len(outer["loss"]) == len(outer["update"]) == 30
    assert outer["update"][-1] == 30
    assert len(diagnostics["loss_inner"]["loss"]) == 100
    assert diagnostics["loss_inner"]["update"][-1] == 130


def test_result_survives_json():
    result = small().test(*triple())
    assert CITestResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_statistic_is_that_of_maps_fitted_on_the_training_part():
    test, data = small(), prepare(*triple())
    split_seed, _ = np.random.SeedSequence(0).spawn(2)
    train_rows, test_rows = train_test_rows(500, 0.2, np.random.default_rng(split_seed))
    pending = test._begin(data, 0)
    assert sorted(pending.train[0][:, 0]) == sorted(data.x.values[train_rows, 0])
    model = train([pending.problem], test.config)[0]
    maps = SpectralMaps.fit(model, *pending.train)
    blocks = (data.x.values[test_rows], data.y.values[test_rows], data.z.values[test_rows])
    expected = spectral_statistic(*maps(*blocks))
    result = test.test(*triple())
    assert result.statistic == pytest.approx(expected.value, rel=1e-9)
    np.testing.assert_allclose(pending.problem.x.mean(), 0.0, atol=1e-12)


def test_projector_statistic_uses_the_same_features():
    plain, projector = small().test(*triple()), small(statistic="projector").test(*triple())
    assert plain.diagnostics["loss_outer"] == projector.diagnostics["loss_outer"]
    assert plain.statistic != projector.statistic


def test_pruning_lowers_the_rank_of_the_null_and_warns():
    full, pruned = small().test(*triple()), small(perc_dim_prune=0.7).test(*triple())
    assert pruned.null.parameters == {"df": 4}
    assert pruned.diagnostics["retained_rank"] == 2
    assert pruned.diagnostics["singular_values"] == full.diagnostics["singular_values"]
    assert pruned.statistic < full.statistic
    assert "perc_dim_prune" in pruned.warnings[0]
    assert full.warnings == ()


def test_row_order_matters_only_through_the_split():
    x, y, z = triple(link=0.3)
    split_seed, _ = np.random.SeedSequence(0).spawn(2)
    parts = train_test_rows(500, 0.2, np.random.default_rng(split_seed))
    order = np.arange(500)
    for part in parts:
        order[part] = np.random.default_rng(1).permutation(part)
    base = small().test(x, y, z)
    assert small().test(x[order], y[order], z[order]).pvalue == base.pvalue
    elsewhere = np.random.default_rng(2).permutation(500)
    assert small().test(x[elsewhere], y[elsewhere], z[elsewhere]).pvalue != base.pvalue


def test_units_do_not_matter():
    x, y, z = triple(link=0.3)
    # Powers of two are exact, so even the last bit must agree.
    assert small().test(4 * x, 0.25 * y, 1024 * z).pvalue == small().test(x, y, z).pvalue


def test_same_seed_same_pvalue_and_another_seed_another():
    x, y, z = triple()
    assert small().test(x, y, z).pvalue == small().test(x, y, z).pvalue
    assert small(random_state=1).test(x, y, z).pvalue != small().test(x, y, z).pvalue


PROCESS_SCRIPT = """
import json, sys
import numpy as np
from spectralcit.paper.test import PaperSpectralCIT
rng = np.random.default_rng(0)
x, z = rng.normal(size=500), rng.normal(size=(500, 2))
y = 0.0 * x + 0.5 * z[:, 0] + rng.normal(size=500)
print(PaperSpectralCIT(**json.loads(sys.argv[1]), random_state=0).test(x, y, z).pvalue.hex())
"""


def test_two_processes_agree_to_the_last_bit():
    done = subprocess.run(
        [sys.executable, "-c", PROCESS_SCRIPT, json.dumps(SMALL)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.strip() == small().test(*triple()).pvalue.hex()


def test_categories_and_several_columns_are_welcome():
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b", "c"], size=400)
    x = np.column_stack([rng.normal(size=400), rng.normal(size=400)])
    y = np.where(group == "a", 1.0, -1.0) + rng.normal(size=400)
    result = small().test(x, y, group)
    assert 0 < result.pvalue <= 1
    assert small(n_epochs=60).test(group, y).pvalue < 1e-3


def test_few_rows_are_refused_with_the_numbers():
    with pytest.raises(TooFewRowsError, match=r"20 training and 5 test rows.*more than 6"):
        small().test(*triple(n=25))
    with pytest.raises(TooFewRowsError, match="smaller output_dim"):
        PaperSpectralCIT().test(*triple(n=100))


AWKWARD = {
    "normal": lambda rng: rng.normal(size=80),
    "heavy tails": lambda rng: rng.standard_cauchy(size=80) ** 3,
    "rare": lambda rng: (rng.permutation(80) < 2).astype(float),
    "one row": lambda rng: (rng.permutation(80) < 1).astype(float),
    "huge": lambda rng: 1e90 * rng.normal(size=80),
    "tiny": lambda rng: 1e-90 * rng.normal(size=80),
    "far away": lambda rng: 1e12 + rng.normal(size=80),
    "three values": lambda rng: rng.integers(0, 3, size=80),
    "exponential scale": lambda rng: np.exp(20 * rng.normal(size=80)),
}


@given(
    *[st.sampled_from(sorted(AWKWARD))] * 3,
    st.integers(0, 1000),
    st.sampled_from(["frobenius", "projector"]),
)
@settings(max_examples=40)
def test_awkward_columns_give_a_valid_result(x, y, z, seed, statistic):
    rng = np.random.default_rng(seed)
    columns = [AWKWARD[kind](rng) for kind in (x, y, z)]
    result = small(n_epochs=5, statistic=statistic).test(*columns)
    assert 0 < result.pvalue <= 1
    assert np.isfinite(result.statistic)
    assert 0 <= result.effect_size <= 1


@pytest.mark.parametrize("bad", [{"output_dim": 0}, {"statistic": "trace"}, {"regularizer": "l1"}])
def test_bad_parameters_are_refused_when_testing_not_before(bad):
    test = small(**bad)
    with pytest.raises(ParameterError, match=next(iter(bad))):
        test.test(*triple())


def test_scikit_learn_manners():
    test = small(output_dim=2, progress=print)
    copy = clone(test)
    assert copy.get_params() == test.get_params()
    assert copy.set_params(output_dim=4).config.output_dim == 4
    assert "output_dim=2" in repr(test)


def test_registered_under_its_name():
    assert get_test("spectral-paper") is PaperSpectralCIT
    by_name = ci_test(*triple(), method="spectral-paper", random_state=0, **SMALL)
    assert by_name.pvalue == small().test(*triple()).pvalue


def test_progress_is_called():
    seen = []
    small(progress=lambda done, total: seen.append(done / total)).test(*triple())
    assert seen[-1] == 1.0


@pytest.mark.slow
def test_known_null_is_valid():
    rng = np.random.default_rng(20_240_601)
    problems = [(rng.normal(size=500), rng.normal(size=500), rng.normal(size=(500, 3))) for _ in range(300)]
    test = PaperSpectralCIT(**(SMALL | {"n_epochs": 50}))
    pvalues = [result.pvalue for result in run_many(problems, test=test, random_state=1, n_jobs=2)]
    assert np.mean(np.array(pvalues) <= 0.05) <= 0.08
    # One-sided: p-values may be larger than uniform, not smaller.
    assert stats.kstest(pvalues, "uniform", alternative="greater").pvalue > 0.01


def test_pruning_afterwards_is_pruning_from_the_start():
    x, y, z = np.random.default_rng(4).normal(size=(3, 300))
    whole, half = small().test(x, y, z), small(perc_dim_prune=0.7)
    restated, fresh = half.restate(whole), half.test(x, y, z)
    values = np.array(whole.diagnostics["singular_values"])
    expected = stats.chi2.sf(whole.n_test * np.sum(values[:2] ** 2), 4)
    assert restated.pvalue == pytest.approx(expected, rel=1e-12)
    assert restated.to_dict() | {"seconds": 0} == fresh.to_dict() | {"seconds": 0}
    back = small().restate(restated)
    assert (back.pvalue, back.warnings) == (pytest.approx(whole.pvalue), whole.warnings)
    with pytest.raises(ParameterError, match="3 singular values and this test 2"):
        small(output_dim=2).restate(whole)
    grouped = small().test(x, y, z, groups=np.arange(300) // 3)
    with pytest.raises(ParameterError, match="chi-square"):
        half.restate(grouped)
