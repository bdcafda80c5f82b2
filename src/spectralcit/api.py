"""`ci_test`: any registered test, by name, on arrays or on the columns of a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import ParameterError
from .result import CITestResult

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["ci_test"]


def ci_test(
    x: Any = None,
    y: Any = None,
    z: Any = None,
    *,
    data: Any = None,
    method: str | type[BaseCITest] | BaseCITest = "spectral",
    random_state: int | None = None,
    missing: str | None = None,
    **params: Any,
) -> CITestResult:
    """Test whether `x` is independent of `y` given `z`.

    Parameters
    ----------
    x, y
        Arrays, lists, frames or series with one row per observation; with `data`, the name of a column or a
        list of names.
    z
        The conditioning variables, likewise. ``None`` (or, with `data`, an empty list) tests unconditional
        independence.
    data
        A pandas, polars or other data frame that holds the columns.
    method
        The name of a test as in `list_tests`, in any case, with hyphens, underscores or neither; or a class
        or an instance, which is not changed.
    random_state
        Seed of every random choice; the same seed gives the same result.
    missing
        ``"raise"``, or ``"drop"`` to delete every row with a missing value in `x`, `y` or `z`. When not
        given, that of an instance, and ``"raise"`` otherwise.
    **params
        Parameters of the test.

    Returns
    -------
    CITestResult
        The p-value and all that belongs to it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> y = x**2 + rng.normal(size=400)
    >>> ci_test(x, y, random_state=0).reject()
    True
    """
    from .base import make_test  # scikit-learn is behind it, and `import spectralcit` is to be quick

    shared = {"random_state": random_state, "missing": missing}
    test = make_test(method, **{k: v for k, v in shared.items() if v is not None}, **params)
    if data is not None:
        from .inputs import select_columns

        x, y, z = select_columns(data, x, y, z)
    for role, given in (("x", x), ("y", y)):
        if given is None:
            raise ParameterError(f"{role} is missing: give an array, or a column name together with data=")
    return test.test(x, y, z)
