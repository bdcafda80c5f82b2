from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from spectralcit import SpectralCIT, prepare
from spectralcit.spectral.pair import leading_pair

N = 500


def table(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=list("abcd"))
    frame["site"] = rng.choice(["u", "v", "w"], size=N)
    frame["z"] = rng.normal(size=N)
    return frame, rng.normal(size=N)


def views(frame, y, x=("a", "b", "c", "d", "site"), n=N):
    data = prepare(frame[list(x)], y, frame["z"])
    return leading_pair(SpectralCIT(), data, seed=0)


def test_the_most_dependent_column_is_first_drawn_and_signed():
    frame, noise = table()
    y = frame["z"] - 0.6 * frame["c"] + noise
    pair = views(frame, y)
    first, *others = pair.columns["x"]
    assert (first.name, pair.x.name) == ("c", "c")
    assert {view.name for view in others} == {"a", "b", "d", "site"}
    # The partial correlation by least squares, an oracle of its own.
    design = np.column_stack([np.ones(N), frame["z"]])
    left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (frame["c"], y)]
    assert first.correlation == pytest.approx(np.corrcoef(*left)[0, 1], abs=0.02)
    assert first.pvalue < 1e-10
    assert "y" not in pair.columns  # a single column needs no table


def test_a_column_that_acts_through_a_curve_is_found():
    frame, noise = table(1)
    pair = views(frame, frame["b"] ** 2 + noise)
    assert pair.columns["x"][0].name == "b"
    assert pair.columns["x"][0].pvalue < 1e-6


def test_a_category_counts_as_one_column():
    frame, noise = table(2)
    pair = views(frame, (frame["site"] == "v") + noise)
    assert pair.columns["x"][0].name == "site"
    assert pair.x.name.startswith("site[")


def test_columns_without_a_tie_have_uniform_pvalues():
    pvalues = []
    for seed in range(12):
        frame, noise = table(seed)
        pvalues += [view.pvalue for view in views(frame[:120], noise[:120]).columns["x"]]
    # Twice the smaller of two p-values is larger than uniform, never smaller.
    assert stats.kstest(pvalues, "uniform", alternative="greater").pvalue > 0.01
