"""Ways to show results to people. Importing this package does not import matplotlib; drawing does."""

from .plots import plot_null

__all__ = ["plot_null"]
