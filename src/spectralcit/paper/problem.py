"""What training starts from: standardised rows in an order of their own, and a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..inputs import Standardizer
from ..numeric.whiten import FloatArray

__all__ = ["Blocks", "TrainingProblem", "canonical_order", "joined", "training_problem"]

#: Rows of x, y and, if there is one, z.
Blocks = tuple[FloatArray, FloatArray, FloatArray | None]


@dataclass(frozen=True)
class TrainingProblem:
    """Standardised training rows of one problem (`z` may be missing), its seed, and its name in errors."""

    x: FloatArray
    y: FloatArray
    z: FloatArray | None
    seed: np.random.SeedSequence
    label: str = ""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Rows and columns (n, p_x, p_y, p_z); problems of equal shape train together."""
        n_z = 0 if self.z is None else self.z.shape[1]
        return (self.x.shape[0], self.x.shape[1], self.y.shape[1], n_z)


def training_problem(
    x: FloatArray, y: FloatArray, z: FloatArray | None, seed: np.random.SeedSequence, label: str = ""
) -> TrainingProblem:
    """Standardise training rows for the learner."""

    def standardise(rows: FloatArray) -> FloatArray:
        return Standardizer.fit(rows).transform(rows)

    return TrainingProblem(standardise(x), standardise(y), None if z is None else standardise(z), seed, label)


def canonical_order(x: FloatArray, y: FloatArray, z: FloatArray | None) -> np.ndarray:
    """Permutation that sorts rows by their values, whatever order they came in.

    Mini-batches and sums are formed in this order, so that the order of the rows of a sample cannot influence
    what is learned from it; rows that tie are equal and can be exchanged.

    Examples
    --------
    >>> canonical_order(np.array([[2.0], [1.0], [2.0]]), np.array([[5.0], [0.0], [3.0]]), None)
    array([1, 2, 0])
    """
    first = np.argsort(x[:, 0], kind="stable")
    if np.all(np.diff(x[first, 0]) > 0):  # no ties, which spares sorting by the other columns
        return first
    keys = np.concatenate([x, joined(y, z)], axis=1)
    return np.lexsort(keys.T[::-1])


def joined(y: FloatArray, z: FloatArray | None) -> FloatArray:
    """The columns of y and z side by side, the input of ``v``."""
    return y if z is None else np.concatenate([y, z], axis=1)
