"""Groups, times and weights of rows mean in a screen what they mean in `ci_test`."""

import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test, screen
from spectralcit.errors import ParameterError, UnknownColumnError

N = 120


@pytest.fixture(scope="module")
def visits():
    """Four visits of each of thirty patients, who are alike in everything."""
    rng = np.random.default_rng(300_210)
    patient = np.repeat(np.arange(N // 4), 4)
    own = rng.normal(size=(3, N // 4))[:, patient]
    age, noise = rng.normal(size=(2, N))
    return pd.DataFrame(
        {
            "a": own[0] + age + rng.normal(size=N),
            "b": np.where(np.arange(N) % 30 == 7, np.nan, own[1] + rng.normal(size=N)),
            "c": rng.normal(size=N),
            "y": own[2] + np.sin(age) + noise,
            "age": age,
            "site": np.array(["u", "v", "w"])[rng.integers(0, 3, N)],
            "patient": [f"p{k}" for k in patient],
            "day": pd.date_range("2024-01-01", periods=N),
            "weight": rng.uniform(0.5, 2.0, size=N),
            "count": rng.integers(0, 3, size=N),
        }
    )


@pytest.mark.parametrize("given", [["age"], ["site"]], ids=["numbers", "rows that agree in Z"])
@pytest.mark.parametrize(
    "rows",
    [
        {"groups": "patient"},
        {"weights": "weight", "groups": "patient"},
        {"time": "day"},
        {"weights": "count", "weight_kind": "frequency"},
    ],
    ids=lambda rows: " and ".join(rows),
)
def test_every_row_is_that_of_ci_test(visits, rows, given):
    found = screen(visits, ["a", "b", "c"], "y", given, missing="drop", random_state=4, **rows)
    assert {row.stage for row in found.rows} == {"full"}
    for row in found.rows:
        direct = ci_test(row.x, "y", given, data=visits, missing="drop", random_state=4, **rows)
        assert (row.pvalue, row.effect, row.n) == (direct.pvalue, direct.effect_size, direct.n), row.x
    assert found.about_rows == {name: repr(value) for name, value in rows.items()}


def test_columns_about_rows_are_not_tested(visits):
    found = screen(visits.drop(columns=["b", "day"]), y="y", z=["age"], groups="patient", weights="weight")
    assert {row.x for row in found.rows} == {"a", "c", "site", "count"}


def test_what_is_stored_for_other_groups_is_not_used(visits, tmp_path):
    def run(rows):
        return screen(visits, ["a"], "y", "age", store=tmp_path / "s.sqlite", **rows)

    run({"groups": "patient"})
    assert run({"groups": "patient"}).n_computed == 0
    other = run({"groups": np.arange(N) // 6})
    assert other.n_computed == 1
    assert run({}).rows[0].pvalue != other.rows[0].pvalue


def test_mistakes_are_errors_at_once(visits):
    with pytest.raises(UnknownColumnError, match="Did you mean 'patient'"):
        screen(visits, ["a"], "y", "age", groups="patients")
    with pytest.raises(ParameterError, match="groups"):
        screen(visits, ["a"], "y", "age", groups="patient", test="hsic")
    with pytest.raises(ParameterError, match="weights must be numbers"):
        screen(visits, ["a"], "y", "age", weights="site")
