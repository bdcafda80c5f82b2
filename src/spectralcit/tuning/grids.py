"""What is searched: the four grids of the paper's appendix, and the kinds of ranges they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import ParameterError, suggestion

if TYPE_CHECKING:
    import optuna

__all__ = ["GRIDS", "Choice", "LogUniform", "Space", "Uniform", "space_of"]


@dataclass(frozen=True)
class Choice:
    """One of a few values.

    Parameters
    ----------
    values
        The values.
    """

    values: tuple[Any, ...]

    def suggest(self, trial: optuna.Trial, name: str) -> Any:
        """Let Optuna choose."""
        return trial.suggest_categorical(name, self.values)


@dataclass(frozen=True)
class Uniform:
    """A number in an interval.

    Parameters
    ----------
    low, high
        The interval.
    """

    low: float
    high: float
    _log: ClassVar[bool] = False

    def suggest(self, trial: optuna.Trial, name: str) -> float:
        """As in `Choice`."""
        return trial.suggest_float(name, self.low, self.high, log=self._log)


@dataclass(frozen=True)
class LogUniform(Uniform):
    """A positive number whose logarithm is in an interval.

    Parameters
    ----------
    low, high
        The interval of the number itself.
    """

    _log: ClassVar[bool] = True


Space = Mapping[str, Choice | Uniform]

# The four tables of the paper's appendix, in the names of this package: RCIT's bootstrap is our permutation,
# GCIT's lamda is lambda_, DGCIT's b and j are n_functions and n_bootstrap.
GRIDS: dict[str, Space] = {
    "spectral-paper": {
        "output_dim": Choice((2, 4, 6, 8, 10)),
        "perc_dim_prune": Uniform(0.85, 1.0),
        **{f"n_hidden_{net}": Choice((1, 2, 3, 4)) for net in "uvw"},
        **{f"layer_size_{net}": Choice((128, 256, 512)) for net in "uvw"},
        **{f"lr_{level}": LogUniform(3e-5, 1e-2) for level in ("inner", "outer")},
        **{f"reg_str_{level}": LogUniform(1.0, 100.0) for level in ("inner", "outer")},
        "batch_size": Choice((128, 256, 512, 1024)),
    },
    "rcit": {
        "df_correction": Choice((False,)),  # ours, which the published test does not have
        "approx": Choice(("lpb", "permutation")),
        "num_f": Choice((50, 100, 150, 200)),
        "num_f2": Choice((5, 10, 15, 20)),
    },
    "gcit": {
        "lambda_": Choice((0.0, 5.0, 10.0, 15.0, 20.0)),
        "statistic": Choice(("mmd", "pcc", "dc", "ks", "rdc")),
    },
    "dgcit": {
        "batch_size": Choice((16, 32, 64)),
        "n_functions": Choice((30, 35, 40, 45, 50)),
        "n_bootstrap": Choice((500, 750, 1000, 1250)),
    },
}


def space_of(method: str, space: Space | None) -> Space:
    """Return what is searched for a test: its grid, unless another one is given."""
    if space is not None:
        return space
    if method not in GRIDS:
        raise ParameterError(
            f"there is no grid for {method!r}.{suggestion(method, GRIDS)} Grids: {', '.join(GRIDS)}; "
            "or give one with space="
        )
    return GRIDS[method]
