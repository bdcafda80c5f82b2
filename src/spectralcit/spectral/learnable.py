"""The warning of a rejection that may come from Z: its effect cannot be learned from these rows."""

from __future__ import annotations

from ..nuisance import LinearFit
from ..nuisance.learning import shared_remainder
from .sides import Sides

__all__ = ["unlearned"]

_LOOK_BELOW = 0.05  # no larger p-value claims anything that a warning should qualify
_CLEARLY = 2.5  # by hand: standard errors by which half of the rows must do worse, on either side
_MATERIAL = 0.1  # and by this share: in a thousand rows, two such remainders make 3 standard errors
_REMAINDER = 0.5  # by hand: standard errors of the product of residuals


def unlearned(sides: Sides, pvalue: float) -> tuple[str, ...]:
    """Return the warning, if it applies, in a tuple."""
    x, y = sides.x.residuals.location, sides.y.residuals.location
    if pvalue > _LOOK_BELOW or sides.weights is None or sides.wide is not None:
        return ()
    if not (isinstance(x, LinearFit) and isinstance(y, LinearFit)):
        return ()
    remainder = shared_remainder(x, y)
    if remainder > _REMAINDER:
        return (
            "what Z explains of X and of Y is too rough to be learned in full from these rows: what the fits "
            f"leave of it would shift the statistic by about {remainder:.1f} standard errors and look like "
            "dependence",
        )
    worst = min((_gap(x), _gap(y)), key=lambda gap: gap[0])
    if worst[0] > _MATERIAL and worst[0] > _CLEARLY * worst[1]:
        return (
            "what Z explains of X and of Y is still being learned at this number of rows (half of them "
            f"predict it worse by {worst[0]:.0%} or more): what is not yet learned may look like dependence",
        )
    return ()


def _gap(fit: LinearFit) -> tuple[float, float]:
    return (0.0, 0.0) if fit.gap is None else fit.gap()
