from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from spectralcit import plots, prepare

N = 120
RNG = np.random.default_rng(0)


def axes():
    return Figure().subplots()


def offsets(ax):
    return np.vstack([points.get_offsets() for points in ax.collections])


def test_the_points_are_the_data_coloured_by_the_column_that_says_most():
    z = pd.DataFrame({"weak": RNG.normal(size=N), "strong": RNG.normal(size=N)})
    x, y = 2 * z["strong"] + RNG.normal(size=N), z["strong"] ** 2 + 0.1 * RNG.normal(size=N)
    ax = plots.plot_data(prepare(x.to_numpy(), y.to_numpy(), z), axes())
    np.testing.assert_allclose(offsets(ax), np.column_stack([x, y]))
    assert ax.get_title() == "y by x, coloured by strong"
    # From blue to orange: the reddest points have the largest values.
    red = ax.collections[0].get_facecolors()[:, 0]
    assert np.corrcoef(red, z["strong"])[0, 1] > 0.9


@pytest.mark.parametrize("n_levels", [2, 3, 9])
def test_levels_have_colours_and_markers_and_many_share_one(n_levels):
    levels = np.array([f"$l{k}" for k in range(n_levels)])
    ward = levels[np.arange(N) % n_levels]
    ax = plots.plot_data(
        prepare(RNG.normal(size=N), RNG.normal(size=N), pd.DataFrame({"ward": ward})), axes()
    )
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(texts) == min(n_levels, 6)
    assert (texts[-1] == "4 others") == (n_levels == 9)
    assert len(offsets(ax)) == N


def test_repeated_values_are_spread_around_where_they_belong():
    x = pd.DataFrame({"sex": np.where(np.arange(N) % 2, "m", "f")})
    ax = plots.plot_data(prepare(x, np.arange(N) % 5), axes())
    across, up = offsets(ax).T
    np.testing.assert_array_equal(np.round(across), np.arange(N) % 2)
    np.testing.assert_array_equal(np.round(up), np.arange(N) % 5)
    assert len(np.unique(across)) == N
    assert [text.get_text() for text in ax.get_xticklabels()] == ["not m", "m"]


def test_rows_without_the_event_are_crosses():
    event = np.arange(N) % 3 > 0
    time = RNG.exponential(size=N)
    ax = plots.plot_data(prepare(RNG.normal(size=N), (time, event)), axes())
    assert [len(points.get_offsets()) for points in ax.collections] == [event.sum(), (~event).sum()]


def test_a_wanted_column_is_drawn_by_either_of_its_names():
    frame = pd.DataFrame({"a": RNG.normal(size=N), "b": np.array(["u", "v", "w"])[np.arange(N) % 3]})
    data = prepare(frame, RNG.normal(size=N))
    assert {plots.plot_data(data, axes(), x=name).get_xlabel() for name in ("b", "b[v]")} == {"b"}
