"""Models of x given z for the model-X tests: what a user's own model must offer, and fitted ones.

A sampler for ``"crt"`` is any object with ``sample(z, rng)``, for ``"cpt"`` any with ``log_density(x, z)``;
`ConditionalSampler` and `ConditionalDensity` say what they return. An object that also has ``fit(x, z)`` is
cloned and fitted first; one without is taken to be the known truth.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, clone

from ..errors import ParameterError, suggestion
from ..inputs import Block
from ..nuisance.smooth_ridge import SmoothRidge

__all__ = [
    "ConditionalDensity",
    "ConditionalSampler",
    "GaussianSampler",
    "LogisticSampler",
    "ShuffleSampler",
    "fitted_sampler",
]

_NAMES = ("auto", "gaussian", "logistic")
_MOST_CLASSES = 50
_SMALLEST_VARIANCE = 0.05  # of the mean: a floor for the estimated conditional variance
_LEAST_NOISE = 1e-8  # relative to the spread of x: z that determines x leaves a density of no width


class ConditionalSampler(Protocol):
    """What ``"crt"`` needs: draws of x given z."""

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw a new x for every row of `z`, independent of y; shape (n, p) or (n,)."""


class ConditionalDensity(Protocol):
    """What ``"cpt"`` needs: how likely each x is at each z."""

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Matrix of log q(x_i | z_j), row i and column j; terms of i alone or j alone may be left out."""


class GaussianSampler(BaseEstimator):
    """Gaussian x around a regression on z, fitted to the data.

    Several columns of x share one correlation matrix of the noise.

    Parameters
    ----------
    mean
        ``"smooth"`` (linear plus kernel ridge) or ``"linear"``.
    noise
        ``"constant"`` or ``"heteroscedastic"``: a variance per column that is a smooth function of z.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> model = GaussianSampler(mean="linear").fit(2 * z + rng.normal(size=(500, 1)), z)
    >>> copy = model.sample(z, rng)
    >>> bool(abs(np.polyfit(z[:, 0], copy[:, 0], 1)[0] - 2) < 0.2)
    True
    """

    def __init__(self, *, mean: str = "smooth", noise: str = "constant") -> None:
        self.mean = mean
        self.noise = noise

    def fit(self, x: np.ndarray, z: np.ndarray) -> GaussianSampler:
        """Fit mean and noise of `x` given `z`.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (n, d).
        """
        if self.mean not in ("smooth", "linear"):
            raise ParameterError(f"mean must be 'smooth' or 'linear', got {self.mean!r}")
        if self.noise not in ("constant", "heteroscedastic"):
            raise ParameterError(f"noise must be 'constant' or 'heteroscedastic', got {self.noise!r}")
        self.mean_ = _regression(self.mean).fit(z, x)
        self.fitted_to_, self.location_ = z, self._predict_location(z)
        left = x - self.location_
        least = (_LEAST_NOISE * x.std(axis=0)) ** 2
        self.variance_ = None
        if self.noise == "heteroscedastic":
            self.floor_ = np.maximum(_SMALLEST_VARIANCE * (left**2).mean(axis=0), least)
            self.variance_ = SmoothRidge().fit(z, left**2)
        self.spread_ = self._predict_spread(z)
        standardised = left / self.spread_
        covariance = standardised.T @ standardised / len(x)
        covariance.flat[:: len(covariance) + 1] += least if self.variance_ is None else _LEAST_NOISE
        self.factor_ = np.linalg.cholesky(covariance)
        return self

    def sample(self, z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw x given z.

        Parameters
        ----------
        z
            Array of shape (n, d).
        rng
            Source of the noise.
        """
        location, spread = self._location_and_spread(z)
        return location + spread * (rng.standard_normal((len(z), len(self.factor_))) @ self.factor_.T)

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log density of each x at each z, up to a constant.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (m, d).
        """
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


class LogisticSampler(BaseEstimator):
    """Discrete x by multinomial logistic regression on the standardised columns of z.

    The classes are the different rows of x, so that several discrete columns are drawn together.

    Parameters
    ----------
    C
        Inverse strength of the ridge penalty.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(500, 1))
    >>> x = (rng.random((500, 1)) < 1 / (1 + np.exp(-z))).astype(float)
    >>> model = LogisticSampler().fit(x, z)
    >>> np.exp(model.log_density(np.array([[1.0]]), np.array([[0.0]]))).round(1).tolist()
    [[0.5]]
    """

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

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
        """Draw x given z.

        Parameters
        ----------
        z
            Array of shape (n, d).
        rng
            Source of the draws.
        """
        known = z is self.fitted_to_
        below = np.cumsum(self.probabilities_ if known else self.model_.predict_proba(z), axis=1)
        # The last sum is one up to rounding, and must not be missed.
        chosen = (rng.random((len(z), 1)) > below[:, :-1]).sum(axis=1)
        return self.classes_[chosen]

    def log_density(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log probability of each x at each z.

        Parameters
        ----------
        x, z
            Arrays of shape (n, p) and (m, d); every row of `x` is one of the fitted rows.
        """
        codes = (x[:, None, :] == self.classes_).all(axis=2).argmax(axis=1)
        return self.model_.predict_log_proba(z)[:, codes].T


class ShuffleSampler:
    """Without z, every order of the observed x is equally likely: exact, and nothing is assumed of x.

    Parameters
    ----------
    x
        The observed values, of shape (n, p).
    """

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def sample(self, z: Any, rng: np.random.Generator) -> np.ndarray:
        """Return the rows of x in a random order.

        Parameters
        ----------
        z
            Not used.
        rng
            Source of the order.
        """
        return self.x[rng.permutation(len(self.x))]

    def log_density(self, x: np.ndarray, z: Any) -> np.ndarray:
        """Return zeros: no pairing is more likely than another.

        Parameters
        ----------
        x
            Array of shape (n, p).
        z
            Not used.
        """
        return np.zeros((len(x), len(x)))


def fitted_sampler(sampler: Any, x: Block, z: Block | None, *, needs: str) -> Any:
    """Turn the parameter `sampler` of a model-X test into a model ready for use.

    Parameters
    ----------
    sampler
        A name or the user's object.
    x, z
        The data; without `z` a name means `ShuffleSampler`.
    needs
        The method that the test will call.
    """
    if not isinstance(sampler, str):
        if isinstance(sampler, type) or not callable(getattr(sampler, needs, None)):
            raise ParameterError(
                f"sampler must be one of {', '.join(map(repr, _NAMES))} or an object with a method "
                f"{needs!r}, got {sampler!r}"
            )
        if not hasattr(sampler, "fit"):
            return sampler
        if z is None:
            raise ParameterError("a sampler that is to be fitted needs z; without z use sampler='auto'")
        return clone(sampler).fit(x.values, z.values)
    if sampler not in _NAMES:
        raise ParameterError(
            f"no sampler is called {sampler!r}.{suggestion(sampler, _NAMES)} Known samplers: "
            f"{', '.join(_NAMES)}; or give an object with a method {needs!r}"
        )
    if z is None:
        return ShuffleSampler(x.values)
    model = (
        GaussianSampler()
        if (sampler if sampler != "auto" else _suited(x)) == "gaussian"
        else LogisticSampler()
    )
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


def _regression(name: str) -> Any:
    if name == "smooth":
        return SmoothRidge()
    from sklearn.linear_model import LinearRegression

    return LinearRegression()
