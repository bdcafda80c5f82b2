"""Options that the search and the feature selector have in common, declared once."""

from __future__ import annotations

from typing import Any

from ..parameters import MOST, anything, integer, real
from ..progress import progress_option

__all__ = ["alpha_option", "check_search_options", "jobs_option"]

# Processes: more than any machine has, and few enough that starting them by mistake is refused.
_MOST_JOBS = 1024


def alpha_option(doc: str) -> Any:
    """Field for the level of tests."""
    return real(0.05, doc, above=0.0, below=1.0)


def jobs_option() -> Any:
    """Field for a number of processes, as joblib counts."""
    allowed = integer(1, "", least=-_MOST_JOBS, most=_MOST_JOBS).metadata["allowed"]
    return anything(
        1,
        "Number of processes; -1 for all cores, -2 for all but one, and so on.",
        words=f"an integer from 1 to {_MOST_JOBS}, the negative of one, or None for 1",
        accepts=lambda value: value is None or (allowed.accepts(value) and value != 0),
    )


_SEARCH = {
    "alpha": alpha_option("Level of each test."),
    "n_jobs": jobs_option(),
    "max_depth": integer(None, "Largest size of conditioning sets.", least=0, most=MOST, also=(None,)),
    "progress": progress_option(),
}


def check_search_options(**options: Any) -> None:
    """Raise `ParameterError` for an argument of a search that is not allowed."""
    for name, value in options.items():
        _SEARCH[name].metadata["allowed"].check(name, value)
