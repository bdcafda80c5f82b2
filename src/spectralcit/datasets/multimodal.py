"""A stand-in for the paper's breast cancer study, whose data are not here: same shape, known truth."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..parameters import integer, real
from .base import Dataset, Sample
from .registry import declared

__all__ = ["Multimodal"]

_TRAITS = 8  # of a patient, seen in every patch of the image
_PATCH_TRAITS = 16  # of a single patch


@declared("multimodal")
class Multimodal(Dataset):
    """Gene scores X, survival Y in {0, 1} and image features Z that hold all that X and Y share.

    A patient has eight traits s. The image features are ``tanh`` of random combinations of s and of sixteen
    traits of the patch, without noise, so that s is a function of Z. ``X = tanh(s) + own noise`` and
    ``P(Y = 1) = sigmoid(2 (s_1 + s_2))``: independent given Z. Under the alternative the logit of Y gains
    ``strength * (e² - 1)``, where e is the own noise of the first column of X in units of its standard
    deviation: X says more about Y than the image does, but no linear method sees it, as in the paper's study.

    References
    ----------
    Fröhlich et al. (2026), section 5.2, "Breast Cancer Data", for the shape; the equations are ours.
    """

    paper: ClassVar[str] = "shape of Fröhlich et al. (2026), section 5.2"

    d_x: int = integer(3, "Columns of X.")
    d_z: int = integer(384, "Columns of Z, enough to determine s.", least=_TRAITS + _PATCH_TRAITS)
    patches: int = integer(
        1,
        "Rows of each patient, which share X, Y and s. The paper takes up to ten patches from each of 135 "
        "slides and tests the 1341 rows as if they were independent; ``1`` makes them so.",
    )
    strength: float = real(1.0, "Of the dependence under the alternative.")

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        patient = np.arange(n) // self.patches
        number = patient[-1] + 1
        traits = rng.standard_normal((number, _TRAITS))
        own = rng.standard_normal((number, self.d_x))
        luck = rng.uniform(size=number)
        scores = np.tanh(traits[:, np.arange(self.d_x) % _TRAITS]) + 0.5 * own
        logit = 2.0 * (traits[:, 0] + traits[:, 1])
        if dependent:
            logit = logit + self.strength * (own[:, 0] ** 2 - 1.0)
        died = luck < 0.5 * (1.0 + np.tanh(logit / 2.0))  # the sigmoid, without overflow
        inside = np.hstack([traits[patient], rng.standard_normal((n, _PATCH_TRAITS))])
        mixing = rng.standard_normal((inside.shape[1], self.d_z)) / np.sqrt(inside.shape[1])
        return scores[patient], died[patient].astype(float), np.tanh(inside @ mixing)
