"""Features and target of a selector, read: arrays of numbers, or frames with categories and gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from ..errors import LengthMismatchError, ParameterError, SpectralCITWarning, suggestion, warn_caller
from ..inputs.check import check_lengths, index_note, is_constant
from ..inputs.columns import Column, column_from_array
from ..inputs.read import read

__all__ = ["always_given", "check_told", "read_features", "varies"]


def read_features(selector: BaseEstimator, X: Any, y: Any, *, gaps: bool) -> tuple[list[Column], Column]:
    """The features and the target; what scikit-learn wants to remember of them is set on `selector`."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        finite = "allow-nan" if gaps else True
        X, y = validate_data(selector, X, y, dtype=np.float64, ensure_min_samples=2, ensure_all_finite=finite)
        target = column_from_array(np.asarray(y), "target", "the target y")
        return [Column(str(j), f"feature '{j}'", X[:, j]) for j in range(X.shape[1])], target
    if y is None:
        raise ParameterError("CISelector requires y to be passed, but the target y is None")
    validate_data(selector, X, skip_check_array=True)
    features, answer = read(X, "X"), read(y, "y")
    if len(answer.columns) != 1:
        raise LengthMismatchError(f"the target y must be one column, got {len(answer.columns)}")
    check_lengths([features, answer])
    warn_caller(index_note([features, answer]), SpectralCITWarning)
    columns = [replace(one, where=f"feature {one.name!r}") for one in features.columns]
    return columns, replace(answer.columns[0], name="target", where="the target y")


def check_told(told: Mapping[str, Any]) -> None:
    """Refuse the name of a column where a selector, which transforms all of X, takes one value per row."""
    for argument, given in told.items():
        if isinstance(given, str):
            raise ParameterError(
                f"{argument} must be one value per row, got the text {given!r}; give the column itself, and "
                "leave it out of X unless it is a feature"
            )


def varies(column: Column) -> bool:
    """Whether a column has more than one value, those that are missing apart."""
    present = column.take(np.flatnonzero(~column.missing))
    return len(present.values) > 0 and not is_constant(present)


def always_given(given: Any, names: Sequence[str]) -> list[int]:
    """Positions of the columns that every test is given, which are named or numbered."""
    listed = list(given) if isinstance(given, list | tuple | np.ndarray) else [] if given is None else [given]
    found = []
    for one in listed:
        if isinstance(one, str) and one in names:
            found.append(names.index(one))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
            found.append(int(one))
        else:
            near = suggestion(one, names)
            raise ParameterError(f"given names the column {one!r}, which X does not have.{near}")
    return sorted(set(found))
