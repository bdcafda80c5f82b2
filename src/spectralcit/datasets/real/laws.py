"""The law of one column given others, fitted to a real table so that it can be drawn from again.

A number is a fitted mean plus a fitted spread times a residual that is drawn from all of them; a 0/1 column
has a fitted probability. Both are functions of the given columns and of nothing else. Three regressions
compete on held-out rows: lines, smooth curves of each column, and boosted trees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numeric.threads import single_threaded

__all__ = ["FittedLaw", "fit_law", "own_part"]

_FOLDS = 5  # by hand: four fifths of the rows learn nearly as well as all
_KNOTS = 5  # by hand: curves with a bend or two in each column
_FEW_LEVELS = 10  # columns with fewer values are no curves
_CURVED_COLUMNS = 20  # by hand: with more given columns, curves of each would have more terms than rows allow
_TREES = (30, 100)  # steps of boosting that compete, at the rate below
_RATE, _DEPTH = 0.1, 3  # by hand: as slow and shallow as trees usually are where rows are some hundreds
_PENALTIES = np.logspace(-1, 4, 11)  # of lines and curves of standardised columns
_LOGISTIC_PENALTIES = (1.0, 10.0, 100.0)  # likewise, by hand: scikit-learn's own is 1
_NARROWEST, _WIDEST = 0.4, 2.5  # of the spread, in units of the usual one: far corners of Z have few rows
_SURE = 0.03  # probabilities stay this far from 0 and 1, so that both values occur wherever Z is


@dataclass(frozen=True)
class FittedLaw:
    """What a column was fitted as, row by row.

    Parameters
    ----------
    centre
        The fitted mean of each row, or the fitted probability of a 1.
    spread
        The fitted size of a residual in each row; ones for a 0/1 column.
    residuals
        All residuals divided by their spread, with mean 0 and variance 1; empty for a 0/1 column.
    chosen
        The regression that won, for people.
    explained
        Share of the variance that the mean explains on held-out rows.
    """

    centre: np.ndarray
    spread: np.ndarray
    residuals: np.ndarray
    chosen: str
    explained: float

    @property
    def binary(self) -> bool:
        """Whether the column is 0/1."""
        return not len(self.residuals)

    def draw(self, rows: np.ndarray, shift: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the column again for some rows.

        Parameters
        ----------
        rows
            Which rows.
        shift
            What is added to each: in standard deviations of a residual, or to the log odds.
        rng
            Source of randomness; residuals know nothing of the row they are given to.
        """
        centre = self.centre[rows]
        if self.binary:
            chance = 1.0 / (1.0 + np.exp(-(np.log(centre / (1.0 - centre)) + shift)))
            return (rng.uniform(size=len(rows)) < chance).astype(float)
        return centre + self.spread[rows] * (rng.choice(self.residuals, len(rows)) + shift)


@single_threaded
def fit_law(y: np.ndarray, z: np.ndarray) -> FittedLaw:
    """Fit the law of one column given encoded columns.

    Parameters
    ----------
    y
        Numbers, or zeros and ones.
    z
        The given columns, standardised.
    """
    if set(np.unique(y)) <= {0.0, 1.0}:
        held_out, name, fit = _best(y, z, binary=True)
        chance = np.clip(fit(z), _SURE, 1 - _SURE)
        explained = 1 - np.mean((y - held_out) ** 2) / np.var(y)
        return FittedLaw(chance, np.ones(len(y)), np.empty(0), name, float(explained))
    held_out, name, fit = _best(y, z, binary=False)
    left = y - held_out
    size = _spread(np.abs(left), z)
    scaled = left / size
    scaled = (scaled - scaled.mean()) / scaled.std()
    unit = left.std() / np.sqrt(np.mean(size**2))  # so that variances of draws are those of residuals
    return FittedLaw(fit(z), size * unit, scaled, name, float(1 - np.var(left) / np.var(y)))


@single_threaded
def own_part(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """What the given columns do not explain of one column: held-out residuals over their spread."""
    held_out, _, _ = _best(x, z, binary=False)
    left = (x - held_out) / _spread(np.abs(x - held_out), z)
    return (left - left.mean()) / left.std()


def _spread(sizes: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Sizes of residuals as a smooth function of z, within bounds."""
    usual = float(np.mean(sizes))
    if usual == 0.0:
        return np.ones(len(sizes))
    from sklearn.linear_model import RidgeCV

    fitted = _curves(z, RidgeCV(_PENALTIES)).fit(z, sizes).predict(z)
    return np.clip(fitted, _NARROWEST * usual, _WIDEST * usual)


def _best(
    y: np.ndarray, z: np.ndarray, *, binary: bool
) -> tuple[np.ndarray, str, Callable[[np.ndarray], np.ndarray]]:
    """Held-out predictions of the best regression, its name, and what it predicts after a fit to all rows."""
    found = {}
    for name, model in _candidates(z, binary=binary).items():
        held_out = _held_out(model, y, z, binary=binary)
        found[name] = (float(np.mean((y - held_out) ** 2)), held_out, model)
    name = min(found, key=lambda key: found[key][0])
    _, held_out, model = found[name]
    fitted = model.fit(z, y)
    return held_out, name, lambda rows: _predicted(fitted, rows, binary=binary)


def _held_out(model: Any, y: np.ndarray, z: np.ndarray, *, binary: bool) -> np.ndarray:
    from sklearn.base import clone

    # Folds by position among shuffled rows; always the same ones, so that a table has one law.
    fold = np.random.default_rng(0).permutation(len(y)) % _FOLDS
    predicted = np.empty(len(y))
    for k in range(_FOLDS):
        fitted = clone(model).fit(z[fold != k], y[fold != k])
        predicted[fold == k] = _predicted(fitted, z[fold == k], binary=binary)
    return predicted


def _predicted(model: Any, z: np.ndarray, *, binary: bool) -> np.ndarray:
    return model.predict_proba(z)[:, 1] if binary else model.predict(z)


def _candidates(z: np.ndarray, *, binary: bool) -> dict[str, Any]:
    """Regressions that compete, by name."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, RidgeCV

    if binary:
        linear: dict[str, Any] = {
            f", penalty {penalty:g}": LogisticRegression(C=1 / penalty, max_iter=1000)
            for penalty in _LOGISTIC_PENALTIES
        }
    else:
        linear = {"": RidgeCV(_PENALTIES)}  # which finds the penalty itself
    found = {f"lines{text}": model for text, model in linear.items()}
    found |= {f"curves{text}": _curves(z, model) for text, model in linear.items()}
    boosted = HistGradientBoostingClassifier if binary else HistGradientBoostingRegressor
    for steps in _TREES:
        found[f"{steps} trees"] = boosted(
            max_iter=steps, learning_rate=_RATE, max_depth=_DEPTH, early_stopping=False, random_state=0
        )
    return found


def _curves(z: np.ndarray, linear: Any) -> Any:
    """A penalised sum of splines of the columns with many values, and of the other columns as they are."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler

    many = [k for k in range(z.shape[1]) if len(np.unique(z[:, k])) >= _FEW_LEVELS]
    if len(many) > _CURVED_COLUMNS:
        return linear
    splines = SplineTransformer(_KNOTS, knots="quantile", extrapolation="linear", include_bias=False)
    features = make_column_transformer((splines, many), remainder="passthrough")
    return make_pipeline(features, StandardScaler(), linear)
