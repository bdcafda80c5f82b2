"""Models of x given z for the model-X tests: what a user's own model must offer, and fitted ones.

A sampler for ``"crt"`` is any object with ``sample(z, rng)``, for ``"cpt"`` any with ``log_density(x, z)``;
`protocol` says what they return. An object that also has ``fit(x, z)`` is cloned and fitted first; one
without is taken to be the known truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, clone

from ..errors import ParameterError
from ..inputs import Block
from ..nuisance.regression import SMALLEST_VARIANCE, make_regressor
from ..parameters import check_parameters, choice, document, real

__all__ = [
    "GaussianSampler",
    "LogisticSampler",
    "ShuffleSampler",
    "fitted_sampler",
    "sampler_option",
]

_MOST_CLASSES = 50  # by hand: at twenty rows a class, what a thousand rows can teach
_LEAST_NOISE = 1e-8  # relative to the spread of x: z that determines x leaves a density of no width


@dataclass(kw_only=True, eq=False, repr=False)
class GaussianSampler(BaseEstimator):
    """Gaussian x around a regression on z, fitted to the data.

    Several columns of x share one correlation matrix of the noise.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> model = GaussianSampler(mean="linear").fit(2 * z + rng.normal(size=(500, 1)), z)
    >>> copy = model.sample(z, rng)
    >>> bool(abs(np.polyfit(z[:, 0], copy[:, 0], 1)[0] - 2) < 0.2)
    True
    """

    mean: str = choice("smooth", "Regression on z; ``'smooth'`` adds a kernel to it.", "smooth", "linear")
    noise: str = choice(
        "constant",
        "With ``'heteroscedastic'``, the variance of a column is a smooth function of z.",
        "constant",
        "heteroscedastic",
    )

    def fit(self, x: np.ndarray, z: np.ndarray) -> GaussianSampler:
        """Fit mean and noise of `x` given `z`.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (n, d).
        """
        check_parameters(self)
        self.mean_ = make_regressor(self.mean, 0).fit(z, x)
        self.fitted_to_, self.location_ = z, self._predict_location(z)
        left = x - self.location_
        least = (_LEAST_NOISE * x.std(axis=0)) ** 2
        self.variance_ = None
        if self.noise == "heteroscedastic":
            self.floor_ = np.maximum(SMALLEST_VARIANCE * (left**2).mean(axis=0), least)
            self.variance_ = make_regressor("smooth", 0).fit(z, left**2)
        self.spread_ = self._predict_spread(z)
        standardised = left / self.spread_
        covariance = standardised.T @ standardised / len(x)
        covariance.flat[:: len(covariance) + 1] += least if self.variance_ is None else _LEAST_NOISE
        self.factor_ = np.linalg.cholesky(covariance)
        return self

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw x given z, as `ConditionalSampler` says."""
        location, spread = self._location_and_spread(z)
        return location + spread * (rng.standard_normal((len(z), len(self.factor_))) @ self.factor_.T)

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log density of each x at each z, up to a constant, as `ConditionalDensity` says."""
        location, spread = self._location_and_spread(z)
        total = np.empty((len(x), len(z)))
        for j in range(len(z)):
            scaled = (x - location[j]) / spread[j]
            whitened = linalg.solve_triangular(self.factor_, scaled.T, lower=True, check_finite=False)
            total[:, j] = -0.5 * (whitened**2).sum(axis=0)
        # The sum over the columns of x: a spread that they share has one entry for all of them.
        return total - np.log(np.broadcast_to(spread, location.shape)).sum(axis=1)

    def _location_and_spread(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Every draw asks for the rows fitted to: predicting them each time would be most of the work.
        if z is self.fitted_to_:
            return self.location_, self.spread_
        return self._predict_location(z), self._predict_spread(z)

    def _predict_location(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(self.mean_.predict(z)).reshape(len(z), -1)

    def _predict_spread(self, z: np.ndarray) -> np.ndarray:
        if self.variance_ is None:
            return np.ones((len(z), 1))
        return np.sqrt(np.maximum(self.variance_.predict(z).reshape(len(z), -1), self.floor_))


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticSampler(BaseEstimator):
    """Discrete x by multinomial logistic regression on the standardised columns of z.

    The classes are the different rows of x, so that several discrete columns are drawn together.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> x = (rng.random((500, 1)) < 1 / (1 + np.exp(-z))).astype(float)
    >>> model = LogisticSampler().fit(x, z)
    >>> np.exp(model.log_density(np.array([[1.0]]), np.array([[0.0]]))).round(1).tolist()
    [[0.5]]
    """

    # Beyond the upper bound the penalty is lost in rounding.
    C: float = real(1.0, "Inverse strength of the ridge penalty.", above=0.0, most=1e12)

    def fit(self, x: np.ndarray, z: np.ndarray) -> LogisticSampler:
        """Fit the probabilities of the rows of `x` given `z`.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (n, d).
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        check_parameters(self)
        self.classes_, codes = np.unique(x, axis=0, return_inverse=True)
        if len(self.classes_) > _MOST_CLASSES:
            raise ParameterError(
                f"x has {len(self.classes_)} different values, too many for a logistic model (at most "
                f"{_MOST_CLASSES}); use sampler='gaussian' or give your own sampler"
            )
        self.model_ = make_pipeline(StandardScaler(), LogisticRegression(C=self.C, max_iter=1000))
        self.model_.fit(z, codes.ravel())
        self.fitted_to_, self.probabilities_ = z, self.model_.predict_proba(z)
        return self

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw x given z, as `ConditionalSampler` says."""
        known = z is self.fitted_to_
        below = np.cumsum(self.probabilities_ if known else self.model_.predict_proba(z), axis=1)
        # The last sum is one up to rounding, and must not be missed.
        chosen = (rng.random((len(z), 1)) > below[:, :-1]).sum(axis=1)
        return self.classes_[chosen]

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log probability of each x at each z; every row of `x` is one of the fitted rows."""
        codes = (x[:, None, :] == self.classes_).all(axis=2).argmax(axis=1)
        return self.model_.predict_log_proba(z)[:, codes].T


for _each in (GaussianSampler, LogisticSampler):
    _each.__doc__ = document(_each)


class ShuffleSampler:
    """Without z, every order of the observed x is equally likely: exact, and nothing is assumed of x."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def sample(self, z: Any, rng: np.random.Generator) -> np.ndarray:
        """Return the rows of x in a random order."""
        return self.x[rng.permutation(len(self.x))]

    def log_density(self, x: np.ndarray, z: Any) -> np.ndarray:
        """Return zeros: no pairing is more likely than another."""
        return np.zeros((len(x), len(x)))


def sampler_option(needs: str) -> Any:
    """Field of a model-X test, which calls the method `needs` of its sampler."""
    return choice(
        "auto",
        "Distribution of x given z: ``'gaussian'`` (regression plus Gaussian noise), ``'logistic'`` (for "
        "discrete x), ``'auto'``, which looks at the kind of x, or a model of your own. One with a method "
        "``fit(x, z)`` is cloned and fitted first; one without is taken to be the truth.",
        "auto",
        "gaussian",
        "logistic",
        other=f"an object with a method {needs!r}",
        accepts=lambda value: not isinstance(value, type) and callable(getattr(value, needs, None)),
    )


def fitted_sampler(sampler: Any, x: Block, z: Block | None) -> Any:
    """Turn the parameter `sampler` of a model-X test into a model ready for use."""
    if not isinstance(sampler, str):
        if not hasattr(sampler, "fit"):
            return sampler
        if z is None:
            raise ParameterError("a sampler that is to be fitted needs z; without z use sampler='auto'")
        return clone(sampler, safe=False).fit(x.values, z.values)
    if z is None:
        return ShuffleSampler(x.values)
    kind = _suited(x) if sampler == "auto" else sampler
    model = GaussianSampler() if kind == "gaussian" else LogisticSampler()
    return model.fit(x.values, z.values)


def _suited(x: Block) -> str:
    continuous = [kind == "continuous" for kind in x.kinds]
    if all(continuous):
        return "gaussian"
    if not any(continuous):
        return "logistic"
    raise ParameterError(
        "x has continuous and discrete columns together, and no built-in sampler draws both; give an object "
        "of your own as sampler, or sampler='gaussian' to treat all of them as continuous"
    )
