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
    groups: Any = None,
    time: Any = None,
    weights: Any = None,
    block_length: int | None = None,
    weight_kind: str = "probability",
    **params: Any,
) -> CITestResult:
    """Test whether `x` is independent of `y` given `z`.

    Parameters
    ----------
    x, y
        Arrays, lists, frames or series with one row per observation; with `data`, the name of a column or a
        list of names. A `y` that is a time of which some are censored is a tuple ``(times, events)`` of two
        arrays or, with `data`, of two names, or scikit-survival's structured array; events are 1 or True,
        censored times 0 or False.
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
        ``"raise"``; ``"drop"`` to delete every row with a missing value in `x`, `y` or `z`; or ``"impute"``
        to draw missing values several times as if the null hypothesis held, which is right when values are
        missing at random given those that were seen. When not given, that of an instance, and ``"raise"``
        otherwise.
    groups
        One label per row (with `data`, the name of a column): rows of one patient, site or slide belong
        together, and only rows of different groups are independent. A test that cannot honour this says so.
    time
        The time of each row, numbers or dates, or ``True`` for rows in order: rows that are near in time
        depend on each other. With `groups`, each group is a series of its own.
    weights
        One weight per row: inverse probabilities of having been sampled. ``weight_kind="frequency"``: each
        row stands for that many equal ones.
    block_length
        Rows per block of time; chosen from the autocorrelations when not given.
    weight_kind
        ``"probability"`` or ``"frequency"``.
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
    from .inputs.design import said_of_rows

    given = {"groups": groups, "time": time, "weights": weights, "block_length": block_length, **params}
    said, params = said_of_rows(given)
    rows: dict[str, Any] = dict(said)
    shared = {"random_state": random_state, "missing": missing}
    test = make_test(method, **{k: v for k, v in shared.items() if v is not None}, **params)
    if data is not None:
        from .inputs import select_columns

        rows = {k: select_columns(data, v, v, None)[0] if _is_named(v) else v for k, v in rows.items()}
        x, y, z = select_columns(data, x, y, z)
    for role, given in (("x", x), ("y", y)):
        if given is None:
            raise ParameterError(f"{role} is missing: give an array, or a column name together with data=")
    if not rows and weight_kind == "probability":
        return test.test(x, y, z)
    return test.test(x, y, z, **rows, weight_kind=weight_kind)


def _is_named(given: Any) -> bool:
    """Whether rows are described by a column's name; a list of names is read, and refused if of several."""
    return isinstance(given, str) or (
        isinstance(given, list) and 0 < len(given) <= 5 and all(isinstance(name, str) for name in given)
    )
