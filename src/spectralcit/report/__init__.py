"""Ways to show results to people. Importing this package does not import matplotlib; drawing does."""

from .html import write_report
from .null_plot import plot_null
from .question import Question

__all__ = ["Question", "plot_null", "write_report"]
