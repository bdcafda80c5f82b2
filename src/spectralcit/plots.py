"""Pictures of results: each function takes a result (or a leading pair) and an optional matplotlib Axes.

Needs ``pip install 'spectralcit[plot]'``.

Examples
--------
>>> import numpy as np
>>> from matplotlib.figure import Figure
>>> from spectralcit import SpectralCIT, plots, prepare
>>> x, z = np.random.default_rng(0).normal(size=(2, 200))
>>> result = SpectralCIT(random_state=0).test(x, z + x**2, z)
>>> pair = plots.leading_pair(SpectralCIT(), prepare(x, z + x**2, z), seed=result.seed)
>>> panels = Figure().subplots(1, 2)
>>> _ = plots.plot_null(result, panels[0]), plots.plot_leading_pair(pair, panels[1])
"""

from .report.data_plot import plot_data
from .report.null_plot import plot_null
from .report.plots import (
    plot_blocks,
    plot_leading_pair,
    plot_nuisance,
    plot_partial,
    plot_residuals,
    plot_singular_values,
)
from .spectral.pair import leading_pair
from .views import BinnedMeans, ColumnView, LeadingPair, SideView

__all__ = [
    "BinnedMeans",
    "ColumnView",
    "LeadingPair",
    "SideView",
    "leading_pair",
    "plot_blocks",
    "plot_data",
    "plot_leading_pair",
    "plot_nuisance",
    "plot_null",
    "plot_partial",
    "plot_residuals",
    "plot_singular_values",
]
