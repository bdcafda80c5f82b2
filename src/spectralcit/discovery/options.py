"""Options that the search and the feature selector have in common, declared once."""

from __future__ import annotations

import os
from typing import Any

from ..null.resampling import jobs_option
from ..parameters import anything, integer, real
from ..progress import progress_option

__all__ = ["alpha_option", "check_search_options"]


def alpha_option(doc: str) -> Any:
    """Field for the level of tests."""
    return real(0.05, doc, above=0.0, below=1.0)


# The arguments of `pc` that are checked before anything is read.
_SEARCH = {
    "alpha": alpha_option("Level of each test."),
    "n_jobs": jobs_option(),
    "max_depth": integer(None, "Largest size of conditioning sets.", least=0, also=(None,)),
    "store": anything(
        None,
        "File for finished tests.",
        words="a path or None",
        accepts=lambda value: value is None or (isinstance(value, str | os.PathLike) and str(value) != ""),
    ),
    "progress": progress_option(),
}


def check_search_options(**options: Any) -> None:
    """Raise `ParameterError` for an argument of a search that is not allowed."""
    for name, value in options.items():
        _SEARCH[name].metadata["allowed"].check(name, value)
