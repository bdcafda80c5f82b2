"""Parameters that tests with networks share, declared once."""

from __future__ import annotations

from typing import Any

from ..parameters import integer, real

__all__ = ["SINGLE_PRECISION", "batch_option", "positive_option", "steps_option", "width_option"]

# Networks are trained in single precision, which ends at 3.4e38: a larger number would be infinite there.
SINGLE_PRECISION = 3e38
# By hand: the square of it, the weights of one layer with their moments, is more than a gigabyte.
_MOST_UNITS = 10_000


def width_option(default: int | None, doc: str, **also: Any) -> Any:
    """Field for the number of units of a layer, of columns of noise or of features."""
    return integer(default, doc, most=_MOST_UNITS, **also)


def steps_option(default: int) -> Any:
    """Field for the length of the training."""
    return integer(default, "Training steps, each of which updates every network.")


def batch_option(default: int) -> Any:
    """Field for the size of mini-batches, of which losses compare pairs of rows."""
    return integer(
        default,
        "Rows of a mini-batch. Above the number of training rows it falls to the largest multiple of 32 that "
        "fits.",
        least=2,
    )


def positive_option(default: float, doc: str, **also: Any) -> Any:
    """Field for a learning rate or another factor that training takes in single precision."""
    return real(default, doc, above=0.0, most=SINGLE_PRECISION, **also)
