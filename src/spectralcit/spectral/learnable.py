"""The warning of a rejection that may come from Z: its effect cannot be learned from these rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..inputs import CIData
from ..nuisance import AugmentedFit, LinearFit, NuisanceFit
from ..nuisance.alike import MOST_ROWS, alike_across_rows
from ..nuisance.learning import shared_remainder
from .canonical import in_order
from .sides import Sides

__all__ = ["unlearned"]

_Linear = LinearFit | AugmentedFit  # fits whose removal of Z is linear in the columns

_LOOK_BELOW = 0.05  # no larger p-value claims anything that a warning should qualify
_REMAINDER = 0.5  # by hand: standard errors of the product of residuals
_SPENT = 0.3  # by hand: of the degrees of freedom on both sides, as no smooth function of Z would take
# Standard errors, for the largest of up to ten kernels: of 300 data sets whose X and Y depend, whose Z is
# learned, 3 were above.
_ALIKE = 2.8
_HINT = 2.0  # by hand: the same beside a side that is still being learned; above it 1 in 12 of these
_MANY_COLUMNS = 20  # by hand: of fewer columns of Z, functions of two or three would be seen
_NOTHING = 0.05  # by hand: a share of the variance so small is not worth adjusting for
_CLEARLY = 2.5  # by hand: standard errors by which half of the rows must do worse
_MATERIAL = 0.1  # and by this share: in a thousand rows, two such remainders make 3 standard errors
# By hand: standard errors by which half of the rows must do worse on both sides together, where nothing hints
# at it and the share is not blatant.
_TOGETHER = 5.0
_BLATANT = 1.0  # by hand: fits to noise came near it


def unlearned(
    sides: Sides, data: CIData, pair: tuple[np.ndarray, np.ndarray], pvalue: float
) -> tuple[str, ...]:
    """Return the warning, if it applies, in a tuple; `pair` is the most dependent one, rows as in `sides`."""
    # The diagnoses take single rows for independent and alike.
    if pvalue > _LOOK_BELOW or sides.weights is None or sides.wide is not None or sides.design is not None:
        return ()
    x, y = sides.x.residuals.location, sides.y.residuals.location
    remainder = shared_remainder(x, y) if isinstance(x, _Linear) and isinstance(y, _Linear) else 0.0
    if remainder > _REMAINDER:
        return (
            "what Z explains of X and of Y is too rough to be learned in full from these rows: what the fits "
            f"leave of it would shift the statistic by about {remainder:.1f} standard errors and look like "
            "dependence",
        )
    spent = min(_share_learned(side.fit) for side in (sides.x, sides.y))
    if spent > _SPENT:
        return (
            f"what Z explains of X and of Y is so rough that removing it took {spent:.0%} of the degrees of "
            "freedom on either side: more rows might show that it was not learned in full, and what was not "
            "learned looks like dependence",
        )
    z = in_order(data)[0].z
    if z is None:
        return ()
    across = sides.alike or partial(alike_across_rows, z.values)
    alike = across(*pair, _removal(sides))
    if alike > _ALIKE:
        return (
            "what Z explains of X and of Y was not learned from these rows: what is left of X in one row "
            f"goes with what is left of Y in other rows alike in Z (by {alike:.1f} standard errors), "
            "and different rows can only be tied by Z",
        )
    if z.n_columns >= _MANY_COLUMNS and max(x.r_squared, y.r_squared) < _NOTHING:
        return (
            "Z was not seen to explain anything of X or of Y, so this is the answer of a test without Z; "
            f"functions of several of its {z.n_columns} columns at once cannot be learned from {data.n} "
            "rows, and would look like dependence if X and Y followed them",
        )
    if _still_learning((x, y), hint=alike > _HINT):
        return (
            "what Z explains of X and of Y is still being learned at this number of rows (half of them "
            f"predict it worse by over {_MATERIAL:.0%}): what is not yet learned may look like dependence",
        )
    return ()


def _still_learning(sides: tuple[NuisanceFit, NuisanceFit], *, hint: bool) -> bool:
    """Tell whether half of the rows predict clearly worse than all of them.

    They may by chance, and on both sides by the same chance if X and Y depend. So rows alike must hint at it
    too, or both sides leave no doubt.
    """
    gaps = (_gap(fit) for fit in sorted(sides, key=_learns))  # one after the other: each takes a fit
    if hint:
        return any(gap > _MATERIAL and gap > _CLEARLY * error for gap, error in gaps)
    least, together = np.inf, 0.0
    for gap, error in gaps:
        if gap <= max(_MATERIAL, _CLEARLY * error):
            return False
        least, together = min(least, gap), together + gap / max(error, 1e-300)
    return least > _BLATANT or together / np.sqrt(2.0) > _TOGETHER


def _removal(sides: Sides) -> np.ndarray | None:
    """Return the product of what removed Z from either side if it is cheap and not just least squares."""
    x, y = sides.x.fit, sides.y.fit
    n = len(sides.x.linear)
    if n > MOST_ROWS or not (isinstance(x, _Linear) and isinstance(y, _Linear)):
        return None
    return x.remove(sides.y.removal) if _learns(x) or _learns(y) else None


def _gap(fit: NuisanceFit) -> tuple[float, float]:
    """Return by what share half of the rows predict worse than all of them, and that share's error."""
    if not (_learns(fit) and isinstance(fit, _Linear) and fit.gap is not None):
        return 0.0, 0.0
    return fit.gap()


def _learns(fit: NuisanceFit) -> bool:
    """Tell whether a fit may be still learning: least squares has coefficients only, of known variance."""
    plain = _plain(fit)
    return isinstance(plain, LinearFit) and plain.chosen.smoother.feature_map is not None


def _share_learned(fit: NuisanceFit) -> float:
    """Return the degrees of freedom of what was learned beside least squares, as a share of the rows."""
    plain = _plain(fit)
    if not isinstance(plain, LinearFit):
        return 0.0
    return plain.chosen.adaptive_degrees_of_freedom / len(plain.targets)


def _plain(fit: NuisanceFit) -> NuisanceFit:
    return fit.plain if isinstance(fit, AugmentedFit) else fit
