"""Results that know their question: names, effect, sign, Monte-Carlo error, frames, pictures and warnings."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from spectralcit import CITestResult, NullDistribution, SpectralCIT, ci_test
from spectralcit.errors import ParameterError, ResultWarning
from spectralcit.inputs import prepare
from spectralcit.verdict import pvalue_text

N = 200


def study(slope=0.0, curve=0.0, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.normal(size=N)
    gene = age + rng.normal(size=N)
    outcome = age + slope * gene + curve * (gene - age) ** 2 + rng.normal(size=N)
    return pd.DataFrame({"gene": gene, "outcome": outcome, "age": age, "sex": rng.choice(["f", "m"], N)})


def ask(frame, **more):
    return ci_test("outcome ~ gene | age + sex", data=frame, random_state=0, **more)


def test_names_are_in_every_form_of_the_result():
    result = ask(study(slope=0.5))
    verdict = "Evidence that gene and outcome depend on each other given age and sex."
    assert str(result).startswith(f"spectral: {verdict}")
    assert verdict in result._repr_html_()
    assert repr(result).startswith("<spectral: gene ⫫ outcome | age and sex, p ")
    assert len(repr(result)) < 150
    row = result.to_frame().iloc[0]
    assert (row.x, row.y, row.z) == ("gene", "outcome", "age, sex")
    back = CITestResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert back == result
    assert str(back) == str(result)


def test_arrays_are_called_by_their_roles():
    frame = study()
    x, y, z = (frame[["gene", "age"]].to_numpy(), list(frame.outcome), frame[["age"]].to_numpy() + 1)
    question = prepare(x[:, :1], y, z).question
    assert (question.x, question.y, question.z) == (("X",), ("Y",), ("Z",))
    assert "X and Y depend on each other." in str(ci_test(x[:, 0], y, method="fisher-z"))


def test_results_stored_before_questions_were_can_be_read():
    old = CITestResult(1.0, 0.5, "toy", 30, NullDistribution("normal")).to_dict()
    del old["question"]
    assert CITestResult.from_dict(old).question is None


@pytest.mark.parametrize("method", ["spectral", "fisher-z", "gcm"])
def test_the_sign_is_that_of_the_slope(method):
    up, down = (ask(study(slope=slope), method=method) for slope in (0.5, -0.5))
    assert (up.sign, down.sign) == (1, -1)
    assert ", negative" in str(down)
    assert ", positive" in up._repr_html_()
    assert up.to_frame("polars")["sign"].to_list() == [1]


def test_no_sign_without_a_linear_part_nor_for_vectors():
    curved = ask(study(curve=0.6))
    assert curved.reject()
    assert curved.sign is None
    assert "positive" not in str(curved) + repr(curved)
    assert "negative" not in str(curved) + repr(curved)
    assert ask(study()).sign is None
    frame = study(slope=0.5)
    assert ci_test("outcome ~ gene + age", data=frame, method="fisher-z").sign is None


def test_the_effect_has_its_interval():
    result = ask(study(slope=0.5))
    low, high = result.diagnostics["effect_interval"]
    assert f"(95 % interval {low:.2g} to {high:.2g})" in str(result)
    assert result.to_frame().iloc[0][["effect", "effect_low", "effect_high"]].tolist() == [
        result.effect_size,
        low,
        high,
    ]


def test_frames_of_several_results_stack():
    frame = study()
    found = pd.concat([ask(frame).to_frame(), ask(frame, method="fisher-z").to_frame()])
    assert found.method.tolist() == ["spectral", "fisher-z"]
    assert np.isnan(found.pvalue_error.iloc[1])
    assert ask(frame).to_frame("pyarrow").num_rows == 1


# --- the p-value and its Monte-Carlo error ------------------------------------------------------------------


def test_two_digits_and_no_more_than_means_something():
    assert [pvalue_text(p) for p in (1.0, 0.04567, 1.234e-7, 1e-11, 2e-308)] == [
        "1",
        "0.046",
        "1.2e-07",
        "< 1e-10",
        "< 1e-10",
    ]
    assert "p-value     < 1e-10 (level" in str(ask(study(slope=5.0)))


def test_the_error_is_the_spread_over_seeds():
    """The seed of the default draws signs only, so p-values of other seeds differ by that error."""
    test = SpectralCIT()
    for slope in (0.0, 0.12):
        frame = study(slope=slope, seed=7)[:50]
        data = prepare(frame.gene, frame.outcome, frame.age)
        found = [test.run(data, seed) for seed in range(12)]
        spread = np.std([result.pvalue for result in found], ddof=1)
        # With 12 seeds the ratio of standard deviations is within 0.4 and 1.7 in all but one of 1000 cases.
        assert 0.4 < spread / np.mean([result.pvalue_error for result in found]) < 1.7


def test_the_error_of_counted_draws_is_binomial():
    result = ci_test(data=study(), x="gene", y="outcome", z="age", method="local-permutation", random_state=0)
    n = result.null.parameters["n_draws"]
    assert result.pvalue_error == pytest.approx(np.sqrt(result.pvalue * (1 - result.pvalue) / n))
    assert ask(study(), method="fisher-z").pvalue_error is None


# --- what is kept -------------------------------------------------------------------------------------------


def test_report_and_plot_use_the_data_of_the_test(tmp_path):
    result = ask(study(slope=0.5), n_draws=500)
    page = result.report(tmp_path / "a.html", alpha=0.01).read_text(encoding="utf-8")
    assert "Is gene independent of outcome once age and sex are known?" in page
    assert "n_draws" in page
    drawn = result.plot().axes
    assert any(ax.get_title().startswith("kinds of dependence") for ax in drawn)
    points = [len(one.get_offsets()) for ax in drawn for one in ax.collections if hasattr(one, "get_offsets")]
    assert N in points  # the rows themselves
    without_data = pickle.loads(pickle.dumps(result)).plot().axes
    assert len(without_data) == 2


def test_copies_and_pickles_do_without_the_data(tmp_path):
    result = ask(study())
    assert result.kept.data.n == N
    small = pickle.dumps(result)
    assert len(small) < 10_000
    back = pickle.loads(small)
    assert back == result
    assert back.kept is None
    with pytest.raises(ParameterError, match="no longer has its data"):
        back.report(tmp_path / "a.html")
    assert back.plot().axes


def test_large_data_are_not_kept(monkeypatch):
    monkeypatch.setattr("spectralcit.base._MOST_KEPT", 100)
    assert ask(study(), method="fisher-z").kept is None


# --- warnings -----------------------------------------------------------------------------------------------


def swapped():
    frame = study()
    return frame.gene, frame.outcome.iloc[::-1]


@pytest.mark.filterwarnings("default::spectralcit.errors.ResultWarning")
@pytest.mark.parametrize("call", [lambda x, y: ci_test(x, y, method="fisher-z"), SpectralCIT().test])
def test_warnings_of_a_result_point_at_the_caller(call):
    with pytest.warns(ResultWarning, match="same pandas index in another order") as caught:
        result = call(*swapped())
    assert [str(one.message) for one in caught] == list(result.warnings)
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.filterwarnings("error::spectralcit.errors.ResultWarning")
def test_insiders_do_not_warn():
    from spectralcit import test_many as run_many
    from spectralcit.discovery import QueryTester

    x, y = swapped()
    with pytest.raises(ResultWarning):
        ci_test(x, y, method="fisher-z")
    test = SpectralCIT()
    assert test.run(test.prepare(x, y)).warnings
    assert run_many([(x, y)], test="fisher-z")[0].warnings
    frame = study().drop(columns="sex")
    frame["visit"] = ["1,5", "2,5"] * (N // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < QueryTester(frame, test="gcm").pvalue("gene", "outcome", ["visit"]) <= 1


def test_polars_names_too():
    result = ask(pl.from_pandas(study()))
    assert result.question.z == ("age", "sex")
