"""The two forms of the published test: that of the paper's text, and that of the authors' program."""

from __future__ import annotations

from typing import Any

from ..errors import ParameterError, suggestion

__all__ = ["AUTHORS_PROGRAM", "PRESETS", "preset_parameters"]

AUTHORS_PROGRAM = "authors-program"  # as users write it

# What each changes of the defaults. Rank, learning rates and γ are the printed ones in both; presumably the
# paper found them with the program, so that they belong to the second form.
PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    AUTHORS_PROGRAM: {
        "matrices": "unit-norm",
        "regularizer": "log-frobenius",
        "output_tanh": True,
        "weight_init": "kaiming",
        "pair_terms": "with-diagonal",
        "epoch": "shared",
        "statistic": "projector",
    },
}


def preset_parameters(name: str) -> dict[str, Any]:
    """Parameters of `PaperSpectralCIT` under a preset, without those that keep their defaults.

    Examples
    --------
    >>> preset_parameters("authors-program")["statistic"]
    'projector'
    """
    if name not in PRESETS:
        raise ParameterError(
            f"no preset is called {name!r}.{suggestion(name, PRESETS)} There are: {', '.join(PRESETS)}"
        )
    return dict(PRESETS[name])
