from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from spectralcit import CITestResult, NullDistribution, SpectralCIT, plots, prepare
from spectralcit.errors import ParameterError
from spectralcit.report.figures import svg
from spectralcit.views import SideView


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
    ax = plots.plot_blocks(result_with(block_pvalues={"linear": 0.01, "other": 1e-200}), axes())
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([2.0, 16.0])
    assert [text.get_text() for text in ax.texts] == ["0.01", "1e-200"]


def test_nuisance_shows_shares_of_rows_and_no_negative_bar():
    sides = {
        "x": {"r_squared": 0.4, "degrees_of_freedom": 25.0},
        "y": {"r_squared": -0.1, "degrees_of_freedom": 5.0},
    }
    ax = plots.plot_nuisance(result_with(**sides), axes())
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.4, 0.0, 0.25, 0.05])


def test_the_colour_of_a_point_is_its_product(pair):
    ax = plots.plot_leading_pair(pair, axes())
    points = ax.collections[0]
    across, up = points.get_offsets().T
    np.testing.assert_allclose(points.get_array(), across * up)
    assert f"{np.mean(pair.u * pair.v):.2f}" in ax.get_title()


def test_the_red_line_is_the_mean_of_each_bin(pair):
    ax = plots.plot_partial(pair, axes())
    line = ax.lines[0]
    order = np.argsort(pair.x.residual, kind="stable")
    expected = [pair.y.residual[part].mean() for part in np.array_split(order, 12)]
    np.testing.assert_allclose(line.get_ydata(), expected)


def test_at_most_two_thousand_points_are_drawn():
    values = np.random.default_rng(0).normal(size=9000)
    ax = plots.plot_residuals(SideView("a", values, values[::-1].copy()), axes())
    assert len(ax.collections[0].get_offsets()) == 2000


def test_a_name_with_dollars_is_not_mathematics(pair):
    side = SideView("$x_{", pair.x.predicted, pair.x.residual)
    picture = svg(lambda ax: plots.plot_residuals(side, ax), "a")
    assert "$x_{: what Z predicts" in picture


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
