"""Every error and warning that a user of the package can meet.

All errors derive from `SpectralCITError`, so one ``except`` clause catches whatever the package raises
on purpose. Each also derives from the built-in exception that callers would expect (``ValueError`` for a bad
argument, ``RuntimeError`` for a failed computation, ``ImportError`` for a missing optional dependency).
"""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = [
    "CensoredTimesError",
    "ConstantColumnError",
    "DuplicateColumnError",
    "EmptyInputError",
    "EncoderError",
    "FeatureFileError",
    "ImageError",
    "InfiniteValuesError",
    "InputError",
    "LengthMismatchError",
    "MissingExtraError",
    "MissingValuesError",
    "OverlappingColumnsError",
    "ParameterError",
    "ResultWarning",
    "SpectralCITError",
    "SpectralCITWarning",
    "StoreError",
    "SuiteError",
    "TableFileError",
    "TooFewRowsError",
    "TooLargeError",
    "TooManyCategoriesError",
    "TrainingDivergedError",
    "UnknownColumnError",
    "UnknownDatasetError",
    "UnknownTestError",
    "UnsupportedTypeError",
    "listing",
    "no_such_file",
    "suggestion",
    "together",
    "warn_caller",
]

# By hand: errors about columns that are told in full, and columns beyond these that are named.
_TOLD = 5
_NAMED = 40


class SpectralCITError(Exception):
    """Root of every error that the package raises on purpose."""


class InputError(SpectralCITError, ValueError):
    """The data given as ``x``, ``y`` or ``z`` cannot be tested."""


class EmptyInputError(InputError):
    """An input has no rows or no columns."""


class LengthMismatchError(InputError):
    """``x``, ``y`` and ``z`` do not have the same number of rows."""


class TooFewRowsError(InputError):
    """There are fewer rows than the test needs."""


class ConstantColumnError(InputError):
    """A column holds one single value, so it carries no information about dependence."""


class MissingValuesError(InputError):
    """A column has missing values and ``missing="raise"``."""


class InfiniteValuesError(InputError):
    """A column holds an infinite value, or a number too large for double precision."""


class UnsupportedTypeError(InputError):
    """An input or a column has a type that cannot be turned into numbers."""


class DuplicateColumnError(InputError):
    """Two columns of one input have the same name."""


class OverlappingColumnsError(InputError):
    """The same column plays two of the roles ``x``, ``y`` and ``z``."""


class TooManyCategoriesError(InputError):
    """A categorical column has more levels than one-hot encoding allows."""


class UnknownColumnError(InputError):
    """A column name is not in the data frame."""


class CensoredTimesError(InputError):
    """A censored ``y`` is not a positive time with a 0/1 event, or the test cannot take one."""


class ParameterError(SpectralCITError, ValueError):
    """A parameter has an unknown name or a value outside its range."""


class UnknownTestError(SpectralCITError, ValueError):
    """No test is registered under that name."""


class UnknownDatasetError(SpectralCITError, ValueError):
    """No data set is registered under that name."""


class SuiteError(SpectralCITError, ValueError):
    """A benchmark suite is not what a suite must be; the message names the file and the key."""


class StoreError(SpectralCITError, RuntimeError):
    """A store of benchmark results cannot be read or written."""


class TrainingDivergedError(SpectralCITError, RuntimeError):
    """The learner met a loss that is not finite."""


class FeatureFileError(SpectralCITError, ValueError):
    """A file of learned features is truncated, damaged or of a foreign format."""


class ImageError(SpectralCITError, ValueError):
    """An image cannot be read, is not RGB of 8 bits, or shows too little tissue inside its mask."""


class EncoderError(SpectralCITError, ValueError):
    """An encoder of tiles cannot be read, takes tiles of another size, or gives features of another shape."""


class TableFileError(SpectralCITError, ValueError):
    """A file cannot be read as a table."""


class TooLargeError(SpectralCITError, MemoryError):
    """The test would need more memory than there is."""


class MissingExtraError(SpectralCITError, ImportError):
    """An optional dependency is needed and not installed."""


class SpectralCITWarning(UserWarning):
    """Something the user should know about a result that is valid nevertheless."""


class ResultWarning(SpectralCITWarning):
    """One of the ``warnings`` of a result, which is to be read before its p-value is trusted."""


def together(problems: Mapping[str, SpectralCITError]) -> SpectralCITError:
    """Return one error about all columns, by name, that cannot be used; that of a single one as it is.

    Parameters
    ----------
    problems
        The error of each column, at least one.

    Examples
    --------
    >>> str(together({"a": ConstantColumnError("a is constant"), "b": MissingValuesError("b is empty")}))
    '2 columns cannot be used: a is constant; b is empty'
    """
    errors = list(problems.values())
    if len(errors) == 1:
        return errors[0]
    kinds = {type(error) for error in errors}
    kind = kinds.pop() if len(kinds) == 1 else InputError
    text = "; ".join(map(str, errors[:_TOLD]))
    names = [repr(name) for name in problems][_TOLD:]
    if names:
        text += f"; and so it is with {', '.join(names[:_NAMED])}"
    if len(names) > _NAMED:
        text += f" and {len(names) - _NAMED} more"
    return kind(f"{len(errors)} columns cannot be used: {text}")


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'a' or 'b'?"`` for the names nearest to `name`, or an empty string.

    Parameters
    ----------
    name
        What the user wrote.
    known
        The names that exist.

    Examples
    --------
    >>> suggestion("spektral", ["spectral", "kcit"])
    " Did you mean 'spectral'?"
    >>> suggestion("zzz", ["spectral", "kcit"])
    ''
    """
    by_lower_case = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(str(name).lower(), list(by_lower_case), n=3, cutoff=0.6)
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(by_lower_case[key]) for key in near) + "?"


def warn_caller(texts: Iterable[str], category: type[Warning]) -> None:
    """Warn with each text, pointing at the line outside of the package that called it.

    Parameters
    ----------
    texts
        The warnings.
    category
        Their class.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    for text in texts:
        warnings.warn(text, category, stacklevel=level)


def no_such_file(path: Path) -> TableFileError:
    """The error about a path that does not exist, with the names of the folder that are nearest."""
    near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    return TableFileError(f"there is no file {path}.{suggestion(path.name, near)}")


def listing(names: Iterable[str], limit: int = 12) -> str:
    """Names as ``'a', 'b', ... (40 in all)``."""
    shown = [repr(name) for name in names]
    return ", ".join(shown[:limit]) + (f", ... ({len(shown)} in all)" if len(shown) > limit else "")
