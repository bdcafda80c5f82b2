"""Does prediction improve with X: models of Z alone and of Z with X, cross-validated, as in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..inputs import prepare
from ..numeric.threads import single_threaded

__all__ = ["MODELS", "Gain", "encoded", "prediction_gain"]

MODELS = ("logistic", "boosted trees")  # those of the paper, with scikit-learn's trees
_FOLDS = 5  # by hand: of 35 events, 28 teach and 7 judge


@dataclass(frozen=True)
class Gain:
    """How well a model predicts without X and with it.

    Parameters
    ----------
    model
        One of `MODELS`.
    measure
        ``"accuracy"``, ``"AUC"`` or ``"log loss"``, of which less is better.
    without, with_x
        Means over the repetitions of cross-validation.
    spread
        Standard deviation of the difference from one repetition to the next: of the splits, not of patients.
    """

    model: str
    measure: str
    without: float
    with_x: float
    spread: float


def encoded(frame: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Columns of a frame as numbers, categories as 0/1 columns: as tests see them."""
    # Any X and Y will do: only the columns of Z are wanted.
    places = np.arange(len(frame))
    block = prepare(places, places % 2, frame[list(names)]).z
    assert block is not None, names
    return block.values


@single_threaded
def prediction_gain(
    frame: Any, x: Sequence[str], y: str, z: Sequence[str], *, repeats: int = 10, seed: int = 0
) -> list[Gain]:
    """Cross-validate models of Z, and of Z and X, on the same splits.

    Parameters
    ----------
    frame
        A pandas frame without gaps.
    x, y, z
        Names of columns; `y` is 0 or 1.
    repeats
        Repetitions of stratified five-fold cross-validation.
    seed
        Of the splits and of the trees.
    """
    from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    of_z = encoded(frame, z)
    sides = {"without": of_z, "with": np.hstack([of_z, frame[list(x)].to_numpy(float)])}
    outcome = frame[y].to_numpy(int)
    measures = {
        "accuracy": lambda chance: accuracy_score(outcome, chance > 0.5),
        "AUC": lambda chance: roc_auc_score(outcome, chance),
        "log loss": lambda chance: log_loss(outcome, chance),
    }
    found: dict[tuple[str, str, str], list[float]] = {}
    for repeat in range(repeats):
        splits = list(StratifiedKFold(_FOLDS, shuffle=True, random_state=seed + repeat).split(of_z, outcome))
        for model in MODELS:
            for side, columns in sides.items():
                chance = np.empty(len(outcome))
                for train, test in splits:
                    fitted = make_model(model, seed + repeat).fit(columns[train], outcome[train])
                    chance[test] = fitted.predict_proba(columns[test])[:, 1]
                for measure, value in measures.items():
                    found.setdefault((model, measure, side), []).append(float(value(chance)))
    return [
        Gain(
            model,
            measure,
            float(np.mean(found[model, measure, "without"])),
            float(np.mean(found[model, measure, "with"])),
            float(
                np.std(np.subtract(found[model, measure, "with"], found[model, measure, "without"]), ddof=1)
            ),
        )
        for model in MODELS
        for measure in measures
    ]


def make_model(name: str, seed: int) -> Any:
    """A model that is fitted to 0 and 1: logistic with scikit-learn's ridge, or small boosted trees."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    # By hand: slow learning, trees of two splits and half of the rows in each, which is kind to few events.
    return GradientBoostingClassifier(
        n_estimators=100, learning_rate=0.05, max_depth=2, subsample=0.5, random_state=seed
    )
