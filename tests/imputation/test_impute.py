"""``missing="impute"`` from the outside: when nothing changes, what the result tells, and its error rate."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import ci_test, prepare
from spectralcit.errors import MissingValuesError
from spectralcit.many import test_many as run_many

N = 200


def case(seed, n=N):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 2))
    x, y = z[:, 0] + rng.normal(size=n), z[:, 0] + rng.normal(size=n)
    return x, y, z, rng


def without_z(seed, n=N):
    """Z is missing where x and y are both large: complete rows show a tie that is not there."""
    x, y, z, rng = case(seed, n)
    z[x + y + 0.5 * rng.logistic(size=n) > 0.5, 0] = np.nan
    return x, y, z


def test_complete_data_give_the_same_result_bit_for_bit():
    x, y, z, _ = case(0)
    plain, imputed = (ci_test(x, y, z, random_state=1, missing=policy) for policy in ("raise", "impute"))
    assert plain.pvalue == imputed.pvalue
    assert plain.warnings == imputed.warnings


def test_the_result_is_that_of_the_middle_draw_and_says_so():
    result = ci_test(*without_z(1), method="gcm", random_state=3, missing="impute")
    drawn = result.diagnostics["imputation"]
    assert len(drawn["pvalues"]) == 5
    assert result.pvalue == sorted(drawn["pvalues"])[2]
    assert set(drawn["share"]) == {"z[0]"}
    assert result.n == N
    (text,) = (text for text in result.warnings if "drawn" in text)
    assert f"z[0]: {drawn['share']['z[0]']:.0%}" in text
    assert "no imputation repairs it" in text
    again = ci_test(*without_z(1), method="gcm", random_state=3, missing="impute")
    assert again.pvalue == result.pvalue


def test_rows_without_x_are_left_out_as_if_dropped():
    x, y, z, rng = case(2)
    x[rng.random(N) < 0.2] = np.nan
    dropped, imputed = (ci_test(x, y, z, random_state=0, missing=policy) for policy in ("drop", "impute"))
    assert dropped.pvalue == imputed.pvalue
    assert any("say nothing about how the two are tied" in text for text in imputed.warnings)


def test_rows_without_x_are_drawn_when_each_side_is_missing_because_of_the_other():
    x, y, z, rng = case(3, n=600)
    turn = rng.random(600) < 0.5
    spoiled_x = np.where(turn & (y > 0.5), np.nan, x)
    spoiled_y = np.where(~turn & (x > 0.5), np.nan, y)
    data = prepare(spoiled_x, spoiled_y, z, missing="impute")
    assert data.n == 600
    assert data.incomplete is not None


def test_many_problems_with_and_without_gaps():
    x, y, z, _ = case(4)
    problems = [(x, y, z), without_z(5), (x, y)]
    from spectralcit.methods.gcm import GCM

    results = run_many(problems, test=GCM(missing="impute"), random_state=0)
    for problem, result in zip(problems, results, strict=True):
        alone = ci_test(*problem, method="gcm", missing="impute", random_state=result.seed)
        assert alone.pvalue == result.pvalue


def test_too_few_values_to_learn_from_are_an_error():
    x, y, z, _ = case(6)
    z[5:, 1] = np.nan
    with pytest.raises(MissingValuesError, match="5 values that are not missing"):
        prepare(x, y, z, missing="impute")


def test_the_error_rate_is_kept_where_dropping_breaks_it():
    """Twelve nulls: dropping rows rejects most, drawing hardly any."""
    rejected = {"drop": 0, "impute": 0}
    for seed in range(12):
        for policy in rejected:
            result = ci_test(
                *without_z(300 + seed, 400), method="fisher-z", missing=policy, random_state=seed
            )
            rejected[policy] += result.reject()
    assert rejected["drop"] >= 5
    assert rejected["impute"] <= 2
