"""`ci_test`: any registered test, by name, on arrays or on the columns of a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .result import CITestResult

if TYPE_CHECKING:
    import numpy as np

    from .making import Method

__all__ = ["ci_test"]


def ci_test(
    x: Any = None,
    y: Any = None,
    z: Any = None,
    *,
    data: Any = None,
    method: Method | None = None,
    test: Method | None = None,
    random_state: int | np.random.Generator | None = None,
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
        list of names, or a formula in place of all three: ``ci_test("y ~ x | z1 + z2", data=frame)``, where
        names with blanks go between backticks. A `y` that is a time of which some are censored is a tuple
        ``(times, events)`` of two arrays or, with `data`, of two names, or scikit-survival's structured
        array; events are 1 or True, censored times 0 or False.
    z
        The conditioning variables, likewise. ``None`` (or, with `data`, an empty list) tests unconditional
        independence.
    data
        A pandas, polars or other data frame that holds the columns.
    method, test
        Two names of one argument: the name of a test as in `list_tests`, in any case, with hyphens,
        underscores or neither; or a class or an instance, which is not changed. ``"spectral"`` when not
        given.
    random_state
        Seed of every random choice; the same seed gives the same result. A NumPy Generator gives one seed,
        drawn from it.
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

    Warns
    -----
    ResultWarning
        Each of ``result.warnings``, pointing at the caller.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> y = x**2 + rng.normal(size=400)
    >>> ci_test(x, y, random_state=0).reject()
    True
    """
    from .inputs import asked_of  # scikit-learn is behind it, and `import spectralcit` is to be quick
    from .inputs.design import said_of_rows
    from .making import chosen_method, make_test

    given = {"groups": groups, "time": time, "weights": weights, "block_length": block_length, **params}
    said, params = said_of_rows(given)
    shared = {"random_state": random_state, "missing": missing}
    chosen = make_test(
        chosen_method(test, method), **{k: v for k, v in shared.items() if v is not None}, **params
    )
    rows = {**said, "weight_kind": weight_kind} if said else {}
    return chosen.test(**asked_of(x, y, z, data, rows))
