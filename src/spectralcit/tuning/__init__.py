"""Tune the parameters of a test as the paper does: its grids, its objective, an equal budget for every test.

The objective is S_val = type I error - power, averaged over the dimensions of Z, on samples whose seeds are
apart from those of every reported experiment. Needs Optuna: ``pip install 'spectralcit[tune]'``.
"""

from .grids import GRIDS, Choice, LogUniform, Uniform
from .objective import TUNING_SEED, Task
from .search import Trial, Tuned, tune

__all__ = ["GRIDS", "TUNING_SEED", "Choice", "LogUniform", "Task", "Trial", "Tuned", "Uniform", "tune"]
