"""`Plasmode`: a real table of which one column is drawn again given others, so that the truth is known."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...errors import ParameterError
from ...inputs import prepare
from ...parameters import anything, choice, real
from ..base import Dataset, Sample
from ..registry import declared
from .catalogue import load_real, real_info
from .laws import FittedLaw, fit_law, own_part

__all__ = ["FittedTable", "Plasmode", "fitted_table"]

_MOST_ROWS = 2000  # by hand: a law is fitted in seconds, and samples of some hundreds differ in their rows
_FAR = 3.0  # standard deviations: no single row carries the planted dependence


def _is_text(value: object) -> bool:
    return isinstance(value, str)


@declared("plasmode")
class Plasmode(Dataset):
    """Real X and Z; Y drawn again from its fitted law given Z, with or without a planted dependence on X.

    Under the null hypothesis Y is a function of Z and of noise that knows nothing of the row, so that it is
    independent of X given Z whatever the fit is worth. Under the alternative a function of the own part of X,
    which is what Z does not explain of it, moves Y by `strength` standard deviations of its residual, or on
    the scale of log odds. Rows are a sample without replacement of the table's complete rows, or of 2,000 of
    them; columns of Z that are constant among these are left out.

    References
    ----------
    J. Franklin et al. Plasmode simulation for the evaluation of pharmacoepidemiologic methods. 2014.
    """

    paper: ClassVar[str] = "spectralcit, study of real data; after Franklin et al. (2014)"

    table: str = anything("wdbc", "A real table, as `list_real` names them.", words="text", accepts=_is_text)
    question: str = anything(
        "", "One of its questions; the first when empty.", words="text", accepts=_is_text
    )
    effect: str = choice(
        "linear",
        "How Y follows the own part of X: in proportion, with its square, or with a sign that changes along "
        "the first column of Z.",
        "linear",
        "square",
        "interaction",
    )
    strength: float = real(0.3, "How far, in standard deviations of Y's residual.", least=0.0, most=100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        question = real_info(self.table).question(self.question)
        if not isinstance(question.y, str):
            raise ParameterError(
                f"{self.table!r}: a censored outcome cannot be drawn again; ask another question"
            )

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        fitted = fitted_table(self.table, self.question)
        if n > fitted.n:
            raise ParameterError(f"{self.table!r} has {fitted.n} complete rows, and n is {n}")
        rows = rng.choice(fitted.n, n, replace=False)
        shift = (self.strength if dependent else 0.0) * fitted.effect(self.effect)[rows]
        z = fitted.z[rows]
        varies = np.ptp(z, axis=0) > 0  # a gene that few cells have may be zero in all of a sample
        return fitted.x[rows], fitted.y.draw(rows, shift, rng), z[:, varies]


@dataclass(frozen=True)
class FittedTable:
    """A question's columns, encoded, and what is drawn again.

    Parameters
    ----------
    x, z
        Real columns, as numbers.
    y
        The fitted law of Y given Z.
    own
        What Z leaves of X: its leading direction when X has several columns; mean 0, variance 1.
    """

    x: np.ndarray
    z: np.ndarray
    y: FittedLaw
    own: np.ndarray

    @property
    def n(self) -> int:
        """Number of complete rows."""
        return len(self.x)

    def effect(self, kind: str) -> np.ndarray:
        """What moves Y in each row, with mean 0 and variance 1 over the table."""
        own = np.clip(self.own, -_FAR, _FAR)
        if kind == "square":
            own = own**2
        elif kind == "interaction":
            own = own * np.sign(self.z[:, 0] - np.median(self.z[:, 0]))
        return (own - own.mean()) / own.std()


@functools.lru_cache(maxsize=32)
def fitted_table(table: str, question: str = "") -> FittedTable:
    """Fit once per process; a pure function of the table and the packages' versions."""
    asked = real_info(table).question(question)
    frame = load_real(table).complete(question)
    if len(frame) > _MOST_ROWS:
        kept = np.random.default_rng(0).choice(len(frame), _MOST_ROWS, replace=False)
        frame = frame.iloc[np.sort(kept)].reset_index(drop=True)
    data = prepare(frame[list(asked.x)], frame[asked.y], frame[list(asked.z)])
    assert data.z is not None  # every question has one
    z = data.z.values
    scaled = (z - z.mean(axis=0)) / z.std(axis=0)
    x = data.x.values
    left = np.column_stack([own_part(column, scaled) for column in x.T])
    leading = np.linalg.svd(left, full_matrices=False)[2][0]
    own = left @ leading
    return FittedTable(x, z, fit_law(data.y.values[:, 0], scaled), (own - own.mean()) / own.std())
