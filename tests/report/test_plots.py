from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from spectralcit import CITestResult, NullDistribution, ci_test
from spectralcit.errors import ParameterError
from spectralcit.report import plot_null

DRAWS = np.random.default_rng(0).gamma(2.0, 2.0, size=800)


def result_with(null, statistic, pvalue):
    return CITestResult(statistic=statistic, pvalue=pvalue, method="toy", n=100, null=null)


def axes():
    return Figure().subplots()


def shaded_area(ax):
    """Area of the filled polygons and bars, by the shoelace formula."""
    area = 0.0
    for collection in ax.collections:
        for path in collection.get_paths():
            corners = path.vertices[np.isfinite(path.vertices).all(axis=1)]
            x, y = corners.T
            area += 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    bars = [patch for patch in ax.patches if hasattr(patch, "get_width")]
    return area + sum(bar.get_width() * bar.get_height() for bar in bars)


@pytest.mark.parametrize(
    ("null", "statistic", "pvalue", "tolerance"),
    [
        (NullDistribution("chi2", {"df": 4}), 3.0, stats.chi2.sf(3.0, 4), 2e-3),
        (NullDistribution("chi2", {"df": 1}), 0.7, stats.chi2.sf(0.7, 1), 1e-2),
        (NullDistribution("chi2", {"df": 100}), 110.0, stats.chi2.sf(110.0, 100), 2e-3),
        (NullDistribution("normal"), -1.2, 2 * stats.norm.sf(1.2), 2e-2),
        (NullDistribution("normal"), 1.2, stats.norm.sf(1.2), 1e-2),
        (NullDistribution("normal"), -1.2, stats.norm.sf(-1.2), 1e-2),
        (NullDistribution("bootstrap", {"draws": DRAWS}), 3.0, float(np.mean(DRAWS >= 3.0)), 2e-2),
        (NullDistribution("chi2_mixture", {"weights": [1.0] * 3}), 3.0, stats.chi2.sf(3.0, 3), 2e-2),
        (NullDistribution("chi2_mixture", {"weights": [2.0, 2.0]}), 3.0, stats.chi2.sf(1.5, 2), 2e-2),
    ],
)
def test_the_shaded_area_is_the_pvalue(null, statistic, pvalue, tolerance):
    ax = plot_null(result_with(null, statistic, pvalue), ax=axes())
    assert shaded_area(ax) == pytest.approx(pvalue, abs=tolerance)
    low, high = ax.get_xlim()
    assert low < statistic < high


@pytest.mark.parametrize("statistic", [1e6, -1e6])
def test_a_far_statistic_leaves_the_null_visible(statistic):
    ax = plot_null(result_with(NullDistribution("normal"), statistic, 1e-300), ax=axes())
    low, high = ax.get_xlim()
    assert -10 < low < -3
    assert 3 < high < 10
    assert "off the chart" in ax.get_legend().get_texts()[1].get_text()
    tail, tip = ax.texts[0].xyann[0], ax.texts[0].xy[0]
    assert (tip > tail) == (statistic > 0)


def test_title_and_labels_speak():
    ax = plot_null(result_with(NullDistribution("chi2", {"df": 4}), 3.0, 0.5578), ax=axes())
    assert ax.get_title() == "toy: p = 0.56"
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {
        "without a tie: chi2(df=4)",
        "statistic 3",
    }


def test_the_same_result_gives_the_same_picture():
    result = result_with(NullDistribution("chi2_mixture", {"weights": [1.0, 0.5]}), 2.0, 0.4)
    first, second = (plot_null(result, ax=axes()) for _ in range(2))
    np.testing.assert_array_equal(
        [p.get_height() for p in first.patches[1:]], [p.get_height() for p in second.patches[1:]]
    )


def test_the_draws_of_a_resampling_test_are_drawn():
    """A part of them is kept in the result; the legend says how many there were."""
    x, y, z = np.random.default_rng(5_500_200).normal(size=(3, 80))
    result = ci_test(x, y, z, method="crt", n_draws=299, random_state=0)
    ax = plot_null(result, ax=axes())
    assert len(result.null.parameters["draws"]) <= 200
    drawn = f"{result.null.parameters['n_draws']} draws"
    assert any(drawn in text.get_text() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize(
    ("null", "message"),
    [
        (
            NullDistribution("cauchy"),
            "cannot draw the null distribution 'cauchy'; known are: bootstrap, chi2",
        ),
        (NullDistribution("chi2"), "no 'df'"),
        (NullDistribution("bootstrap", {"draws": []}), "no 'draws'"),
        (NullDistribution("chi2_mixture", {"draws": [1.0]}), "no 'weights'"),
    ],
)
def test_a_null_that_cannot_be_drawn_says_why(null, message):
    with pytest.raises(ParameterError, match=message):
        plot_null(result_with(null, 1.0, 0.5), ax=axes())


def test_without_axes_a_figure_is_made(monkeypatch):
    import matplotlib.pyplot as plt

    with plt.rc_context({"backend": "agg"}):
        ax = plot_null(result_with(NullDistribution("normal"), 0.5, 0.6))
        assert ax.figure.number in plt.get_fignums()
        plt.close(ax.figure)
