"""Ways to show results to people. Importing this package does not import matplotlib; drawing does."""

from ..question import Question
from .html import write_report
from .null_plot import plot_null

__all__ = ["Question", "plot_null", "write_report"]
