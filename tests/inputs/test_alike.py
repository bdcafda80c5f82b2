"""Warnings about rows that are not independent: loud on those that harm, quiet on those that do not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spectralcit import prepare
from spectralcit.inputs import select_columns
from spectralcit.inputs.alike import warnings_of
from spectralcit.inputs.left import Left, orthonormal
from spectralcit.inputs.together import Together

N = 400


def about_rows(*given):
    return [note for note in prepare(*given).notes if "groups=" in note]


def with_z(rng, left, right):
    z = rng.normal(size=(len(left), 2))
    return np.sin(2 * z[:, 0]) + z[:, 1] + left, z[:, 0] + right, z


def series(rng, memory, n=N):
    values = rng.normal(size=n)
    for k in range(1, n):
        values[k] = memory * values[k - 1] + np.sqrt(1 - memory**2) * values[k]
    return values


def subjects(rng, count=40, each=10, share=0.5):
    of_subject = np.repeat(rng.normal(size=count), each)
    return np.sqrt(share) * of_subject + np.sqrt(1 - share) * rng.normal(size=count * each)


def independent(rng):
    return with_z(rng, rng.normal(size=N), rng.normal(size=N))


def tied(rng):
    noise = rng.normal(size=N)
    return with_z(rng, noise, noise + rng.normal(size=N))


def sorted_by(role):
    def make(rng):
        x, y, z = tied(rng)
        order = np.argsort({"x": x, "y": y, "z": z[:, 0]}[role])
        return x[order], y[order], z[order]

    return make


def sorted_by_both(rng):
    x, y, z = tied(rng)
    x = np.round(x)
    order = np.lexsort([y, x])
    return x[order], y[order], z[order]


def rough_in_sorted_z(rng):
    z = np.sort(rng.uniform(size=N))
    steps = np.floor(10 * z) % 3
    return steps + 0.5 * rng.normal(size=N), steps + 0.5 * rng.normal(size=N), z


def few_values(rng):
    z = rng.integers(20, 70, N).astype(float)
    return (z / 30 + rng.normal(size=N) > 1.5).astype(float), rng.integers(0, 4, N) + (z > 40.0), z


QUIET = [
    independent,
    tied,
    sorted_by("x"),
    sorted_by("y"),
    sorted_by("z"),
    sorted_by_both,
    rough_in_sorted_z,
    few_values,
]


@pytest.mark.parametrize("make", QUIET)
def test_independent_rows_are_not_warned_of_whatever_their_order(make):
    warned = sum(bool(about_rows(*make(np.random.default_rng(seed)))) for seed in range(20))
    assert warned <= 1


LOUD = {
    "time series": lambda rng: with_z(rng, series(rng, 0.6), series(rng, 0.6)),
    "slow series": lambda rng: with_z(rng, series(rng, 0.9), series(rng, 0.9)),
    "subjects": lambda rng: with_z(rng, subjects(rng), subjects(rng)),
    "pairs": lambda rng: with_z(rng, subjects(rng, 200, 2, 0.7), subjects(rng, 200, 2, 0.7)),
}


@pytest.mark.parametrize("design", LOUD)
def test_rows_alike_on_both_sides_are_warned_of(design):
    warned = sum(bool(about_rows(*LOUD[design](np.random.default_rng(seed)))) for seed in range(20))
    assert warned >= 19


def test_a_shuffled_identifier_is_found_and_named():
    rng = np.random.default_rng(0)
    x, y, z = with_z(rng, subjects(rng), subjects(rng))
    frame = pd.DataFrame(
        {"x": x, "y": y, "z": z[:, 0], "w": z[:, 1], "patient": np.repeat(np.arange(40), 10)}
    )
    frame["age"] = rng.integers(20, 80, N)
    shuffled = frame.sample(frac=1, random_state=0)
    (note,) = about_rows(*select_columns(shuffled, "x", "y", ["z", "w"]))
    assert "groups='patient'" in note
    by_index = shuffled.set_index("patient")
    (note,) = about_rows(*select_columns(by_index, "x", "y", ["z", "w"]))
    assert "the index" in note


def test_a_covariate_of_whole_numbers_is_no_identifier():
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, N)
    frame = pd.DataFrame({"x": age / 20 + rng.normal(size=N), "y": (age - 50.0) ** 2 / 300, "age": age})
    frame["y"] += rng.normal(size=N)
    assert about_rows(*select_columns(frame, "x", "y", None)) == []


def test_declared_rows_are_not_warned_of():
    rng = np.random.default_rng(2)
    data = prepare(*LOUD["slow series"](rng))
    asked = (data.x, data.y, data.z)
    assert warnings_of(*asked, labels={})
    assert warnings_of(*asked, labels={}, declared=frozenset({"groups"})) == ()
    assert warnings_of(*asked, labels={}, declared=frozenset({"time"})) == ()


@pytest.mark.parametrize("copies", [200, 60])
def test_copies_are_counted(copies):
    rng = np.random.default_rng(3)
    x, y, z = with_z(rng, *rng.normal(size=(2, 200)))
    rows = rng.permutation(np.r_[np.arange(200), rng.permutation(200)[:copies]])
    (note,) = about_rows(x[rows], y[rows], z[rows])
    assert note.startswith(f"{copies} of {200 + copies} rows are copies")


def test_a_table_of_categories_given_twice_is_seen():
    rng = np.random.default_rng(4)
    z = rng.integers(0, 5, 300).astype(float)
    x, y = rng.integers(0, 2, 300) + z, rng.integers(0, 2, 300).astype(float)
    assert about_rows(x, y, z) == []
    assert about_rows(*(np.tile(each, 2) for each in (x, y, z)))[0].startswith("300 of 600")


def test_correlations_of_rows_are_not_biased_by_what_was_removed():
    """The columns removed go with the groups and with the order themselves, as a clustered Z does."""
    codes, n = np.repeat(np.arange(12), 10), 120
    within, at_lag = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        removed = orthonormal(rng.normal(size=(12, 6))[codes] + rng.normal(size=(n, 6)))
        noise = np.sqrt(0.3) * rng.normal(size=12)[codes] + np.sqrt(0.7) * rng.normal(size=n)
        within.append(Left.of(noise[:, None], removed).within(Together(codes))[0])
        at_lag.append(Left.of(rng.normal(size=(n, 1)), removed).at_lags(3))
    assert np.mean(within) == pytest.approx(0.3, abs=0.035)  # four standard errors
    assert np.abs(np.mean(at_lag, axis=0)).max() < 4 * 0.09 / np.sqrt(300)


def test_few_subjects_of_many_rows_are_found_by_their_label():
    warned = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, y, z = with_z(rng, subjects(rng, 10, 20, 0.5), subjects(rng, 10, 20, 0.5))
        frame = pd.DataFrame({"x": x, "y": y, "z": z[:, 0], "w": z[:, 1], "id": np.repeat(range(10), 20)})
        asked = select_columns(frame.sample(frac=1, random_state=seed), "x", "y", ["z", "w"])
        warned += any("groups='id'" in note for note in about_rows(*asked))
    assert warned >= 18
