"""The choice among smoothers and penalties by leave-one-out error, rather too flexible than too smooth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numeric.grouped import standard_error
from .smoother import PENALTIES, Smoother

__all__ = [
    "SmootherFit",
    "better",
    "beyond_chance",
    "clearly_better",
    "clearly_less",
    "select",
    "unless_beaten",
    "without_remainder",
]

_REMAINDER = 0.3  # by hand: standard errors; a shift by so much turns an error rate of .05 into .06
# By hand: the least error says little about the finest details of a rough function; three times as much was
# seen to be left of Matérn fields as is expected.
_REMAINDER_ROUGH = 0.1
_MOST_RELAXED = 0.5  # share of the rows that may be spent on leaving no remainder
# By hand, in standard errors: the best of several fits gains more than one of them in a fifth of the linear
# data sets. What would bias the test by a standard error gains about n^(1/4) / 2 of them, so few rows must be
# content with less.
_BEYOND_CHANCE = 1.65
_BEYOND_CHANCE_FEW_ROWS = 0.48
_REMEMBERED_CELLS = 50_000  # of targets: to recognise more of them would take as long as their paths
_REMEMBERED_PATHS = 2  # those on either scale of a column
_CHEAP_SHARE = 0.03  # degrees of freedom up to this share of the rows are not worth saving
# By hand. Errors of few rows tell penalties apart so badly that any fit is within a standard error of the
# best; relaxed without bound, curves of noise took half of sixty rows.
_MOST_WITHIN_ERROR = 1.5  # times the degrees of freedom of the best penalty,
_FREE_SHARE = 0.1  # or this share of the rows


@dataclass(frozen=True, eq=False)
class SmootherFit:
    """A smoother with its chosen penalty."""

    smoother: Smoother  # the family
    # The penalty in use: the smallest that is not clearly worse than the best or costs few degrees of
    # freedom, because what a ridge shrinks away stays in the residuals of X and of Y alike and would look
    # like dependence
    penalty: float
    best_penalty: float  # the penalty with the least leave-one-out error
    row_losses: np.ndarray  # that error in each row, as a share of the targets' variance

    @cached_property
    def loss(self) -> float:
        """The least leave-one-out error as a share of the targets' variance: one minus out-of-sample R²."""
        return float(self.row_losses.mean())

    @property
    def degrees_of_freedom(self) -> float:
        """Trace of the hat matrix."""
        return self.smoother.degrees_of_freedom(self.penalty)

    @property
    def adaptive_degrees_of_freedom(self) -> float:
        """The part of them whose functions were chosen by looking at the targets."""
        return float(self.smoother.shrinkage(self.penalty).sum())


def select(smoothers: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Choose smoother and penalty by leave-one-out error, then relax the penalty.

    It is relaxed within one standard error of the best, or as far as degrees of freedom are cheap. Where the
    best is not clearly better than least squares, nothing says that there is a bias to be avoided.
    """
    key = targets.tobytes() if targets.size <= _REMEMBERED_CELLS else None
    paths = [_remembered_path(smoother, targets, key) for smoother in smoothers]
    means = [min((float(loss.mean()) for _, loss in path), default=np.inf) for path in paths]
    chosen = int(np.argmin(means))
    smoother, path = smoothers[chosen], paths[chosen]
    index = int(np.argmin([loss.mean() for _, loss in path]))
    best_penalty, row_losses = path[index]
    codes = smoother.codes
    if clearly_less(row_losses, smoother.unshrunk_losses(targets), codes=codes):
        most = min(_most_relaxed(smoother, best_penalty), smoother.most_freedom)
        for penalty, loss in path[: index + 1]:
            freedom = smoother.degrees_of_freedom(penalty)
            cheap = freedom <= _CHEAP_SHARE * smoother.effective_rows
            affordable = freedom <= most or penalty == best_penalty
            if cheap or (affordable and not clearly_less(row_losses, loss, codes=codes)):
                relaxed = without_remainder(smoother, penalty, best_penalty)
                return SmootherFit(smoother, relaxed, best_penalty, row_losses)
    return SmootherFit(smoother, best_penalty, best_penalty, row_losses)


def _most_relaxed(smoother: Smoother, best_penalty: float) -> float:
    """Return the degrees of freedom up to which a penalty is relaxed for not being clearly worse."""
    curved = float(smoother.shrinkage(best_penalty).sum())
    return smoother.fixed.shape[1] + max(_MOST_WITHIN_ERROR * curved, _FREE_SHARE * smoother.effective_rows)


def _remembered_path(
    smoother: Smoother, targets: np.ndarray, key: bytes | None
) -> list[tuple[float, np.ndarray]]:
    """Return the path of errors; a column is first judged on two scales, then fitted on one of them."""
    if key is None:
        return smoother.loss_path(targets)
    if key not in smoother.paths:
        if len(smoother.paths) == _REMEMBERED_PATHS:
            del smoother.paths[next(iter(smoother.paths))]
        smoother.paths[key] = smoother.loss_path(targets)
    return smoother.paths[key]


def without_remainder(smoother: Smoother, penalty: float, best: float) -> float:
    """Return the largest penalty, at most the given one, that leaves too little to be seen in a product."""
    negligible = _REMAINDER_ROUGH if smoother.is_rough else _REMAINDER
    for smaller in [p for p in PENALTIES[::-1] if p <= penalty]:
        most = min(_MOST_RELAXED * smoother.effective_rows, smoother.most_freedom)
        if smoother.degrees_of_freedom(smaller) > most:
            break
        penalty = float(smaller)
        if smoother.expected_remainder(penalty, best) <= negligible:
            break
    return penalty


def clearly_less(
    losses: np.ndarray,
    others: np.ndarray,
    standard_errors: float = 1.0,
    codes: np.ndarray | None = None,
) -> bool:
    """Tell whether the mean loss is less than the other by more than so many standard errors.

    Rows of one group, by their `codes`, are not independent.
    """
    gain = others - losses
    return bool(gain.mean() > standard_errors * standard_error(gain, codes))


def clearly_better(chosen: SmootherFit, least_squares: Smoother, targets: np.ndarray) -> bool:
    """Tell whether the chosen fit beats least squares by more than chance explains."""
    if chosen.smoother.feature_map is None:
        return False
    plain = least_squares.unshrunk_losses(targets)
    return clearly_less(chosen.row_losses, plain, beyond_chance(len(targets)), chosen.smoother.codes)


def beyond_chance(n: int) -> float:
    """Return by how many standard errors a fit must beat least squares in so many rows."""
    return min(_BEYOND_CHANCE, _BEYOND_CHANCE_FEW_ROWS * n**0.25)


def better(chosen: SmootherFit, challengers: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Return the fit with the least leave-one-out error."""
    if not any(len(smoother.admissible_penalties()) for smoother in challengers):
        return chosen
    challenger = select(challengers, targets)
    return challenger if challenger.loss < chosen.loss else chosen


def unless_beaten(chosen: SmootherFit, challengers: list[Smoother], targets: np.ndarray) -> SmootherFit:
    """Return the best challenger if it is clearly better."""
    challenger = better(chosen, challengers, targets)
    return challenger if clearly_less(challenger.row_losses, chosen.row_losses) else chosen
