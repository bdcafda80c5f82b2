from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from spectralcit import CITestResult, NullDistribution, SpectralCIT, plots, prepare
from spectralcit.errors import ParameterError
from spectralcit.report.figures import svg
from spectralcit.verdict import kind_in_words
from spectralcit.views import BinnedMeans, SideView


def axes():
    return Figure().subplots()


def result_with(**diagnostics):
    return CITestResult(1.0, 0.5, "toy", 100, NullDistribution("normal"), diagnostics=diagnostics)


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(0)
    z, e, noise = rng.normal(size=(3, 400))
    return plots.leading_pair(SpectralCIT(), prepare(z + e, z**2 + e**2 + 0.3 * noise, z), seed=0)


def test_blocks_are_as_long_as_the_exponent_of_the_pvalue():
    table = {"nonlinear × linear": 0.01, "linear × linear": 1e-200}
    ax = plots.plot_blocks(result_with(block_pvalues=table), axes())
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([16.0, 2.0])
    # In words, the most surprising first; the bar that is cut has an arrow and says so.
    words = ["< 1e-10, bar cut", "linear", "0.01", "Y follows a curve of X"]
    assert [text.get_text() for text in ax.texts] == words
    assert [line.get_marker() for line in ax.lines] == [">"]


def test_of_many_kinds_the_most_surprising_are_drawn_and_the_others_counted():
    table = {f"kind {k}": 0.9 - 0.1 * k for k in range(9)}
    ax = plots.plot_blocks(result_with(block_pvalues=table), axes())
    assert ax.get_title() == "kinds of dependence: the 6 most surprising of 9"
    assert ax.texts[1].get_text() == "kind 8"


def test_every_part_of_the_default_has_words():
    from spectralcit.spectral.blocks import BLOCK_WEIGHTS

    assert all(kind_in_words(name, "X", "Y") for name in BLOCK_WEIGHTS)


def test_one_singular_value_is_a_stem_not_a_wall():
    ax = plots.plot_singular_values(result_with(singular_values=[0.7]), axes())
    assert not ax.patches
    assert ax.get_xlim() == (0.5, 3.5)


def test_nuisance_shows_shares_of_rows_and_no_negative_bar():
    sides = {
        "x": {"r_squared": 0.4, "degrees_of_freedom": 25.0},
        "y": {"r_squared": -0.1, "degrees_of_freedom": 5.0},
    }
    ax = plots.plot_nuisance(result_with(**sides), axes())
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.4, 0.25, 0.0, 0.05])
    assert [text.get_text() for text in ax.texts] == [
        "variance explained: 40%",
        "degrees of freedom spent: 25%",
        "variance explained: less than nothing, drawn as 0",
        "degrees of freedom spent: 5%",
    ]


def test_the_colour_of_a_point_is_its_product(pair):
    ax = plots.plot_leading_pair(pair, axes())
    points = ax.collections[0]
    across, up = points.get_offsets().T
    np.testing.assert_allclose(points.get_array(), across * up)
    assert f"{np.mean(pair.u * pair.v):.2f}" in ax.get_title()


def test_the_red_line_is_the_mean_of_each_bin(pair):
    ax = plots.plot_partial(pair, axes())
    line = next(line for line in ax.lines if line.get_label() == "mean")
    ranks = np.argsort(np.argsort(pair.x.residual)) + 0.5
    expected = [pair.y.residual[(ranks * 12 // 400) == k].mean() for k in range(12)]
    np.testing.assert_allclose(line.get_ydata(), expected)


def test_at_most_two_thousand_points_are_drawn():
    values = np.random.default_rng(0).normal(size=9000)
    two = np.array([-1.0, 1.0])
    means = BinnedMeans("z", values, (), two, 0.1 * two, np.ones(2), 0.5)
    ax = plots.plot_residuals(SideView("a", values[::-1].copy(), means), axes())
    assert len(ax.collections[0].get_offsets()) == 2000


def test_a_name_with_dollars_is_not_mathematics(pair):
    side = SideView("$x_{", pair.x.residual, pair.x.remainder)
    picture = svg(lambda ax: plots.plot_residuals(side, ax), "a")
    assert "$x_{ without Z, along z" in picture


def test_without_z_there_is_nothing_to_draw_residuals_against():
    with pytest.raises(ParameterError, match="nothing was removed from 'a'"):
        plots.plot_residuals(SideView("a", np.arange(9.0)), axes())


@pytest.mark.parametrize("draw", [plots.plot_blocks, plots.plot_nuisance, plots.plot_singular_values])
def test_a_missing_part_is_named(draw):
    with pytest.raises(ParameterError, match="'toy' has no diagnostics"):
        draw(result_with(), axes())


def test_identifiers_of_two_figures_differ():
    import re

    first, second = (svg(lambda ax: ax.plot([0, 1]), name) for name in ("a", "b"))
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for text, known in zip((first, second), ids, strict=True):
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
        assert used
        assert used <= known
