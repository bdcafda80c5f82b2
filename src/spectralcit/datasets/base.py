"""`Dataset`: what every synthetic model of the benchmark shares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ParameterError
from ..parameters import check_parameters, choice, document, flag

__all__ = ["LAWS", "Dataset", "Sample", "as_function", "draw_noise", "law_option"]

Sample = tuple[np.ndarray, np.ndarray, np.ndarray | None]

# N(0, 1), Laplace(0, 1), uniform on [-√3, √3] (variance one), t with three degrees of freedom, Cauchy.
LAWS = ("normal", "laplace", "uniform", "student", "cauchy")


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """Base of every synthetic model: a null hypothesis, an alternative, and the paper they come from.

    A subclass is a frozen dataclass whose fields are the parameters; it implements `_draw`. Fields that are
    declared with `spectralcit.parameters` are checked.

    Attributes
    ----------
    paper : str
        Where the model comes from.
    has_null, has_alternative : bool
        Which hypotheses can be drawn.

    Examples
    --------
    >>> class Coupled(Dataset):
    ...     paper = "an example"
    ...
    ...     def _draw(self, n, rng, dependent):
    ...         z, own, other = rng.standard_normal((3, n))
    ...         return z + own, z + other + dependent * own, z[:, None]
    >>> x, y, z = Coupled(standardize=True).draw(50, 0, dependent=True)
    >>> round(float(x.std()), 6)
    1.0
    """

    paper: ClassVar[str] = ""

    standardize: bool = flag(
        False, "Whether every column of X, Y and Z is shifted and scaled to mean 0 and standard deviation 1."
    )

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def has_null(self) -> bool:
        """Whether the model can be drawn with X and Y independent given Z."""
        return True

    @property
    def has_alternative(self) -> bool:
        """Whether the model can be drawn with X and Y dependent given Z."""
        return True

    def draw(self, n: int, rng: np.random.Generator | int, dependent: bool) -> Sample:
        """Draw a sample.

        Parameters
        ----------
        n
            Number of rows.
        rng
            Source of randomness: a generator, or a seed for one.
        dependent
            ``False`` for the null hypothesis, ``True`` for the alternative.

        Returns
        -------
        tuple of numpy.ndarray
            X, Y and Z; Z is ``None`` for a model without conditioning variables.
        """
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ParameterError(f"n must be a positive integer, got {n!r}")
        if dependent and not self.has_alternative:
            raise ParameterError(f"{self!r} has no alternative")
        if not dependent and not self.has_null:
            raise ParameterError(f"{self!r} has no null hypothesis")
        x, y, z = self._draw(n, np.random.default_rng(rng), bool(dependent))
        if not self.standardize:
            return x, y, z
        return _standardized(x), _standardized(y), None if z is None else _standardized(z)

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        """Draw X, Y and Z as the equations say."""
        raise NotImplementedError(f"{type(self).__name__} must implement _draw(n, rng, dependent)")


Dataset.__doc__ = document(Dataset)


def draw_noise(rng: np.random.Generator, law: str, shape: int | tuple[int, ...]) -> np.ndarray:
    """Draw independent noise with one of the `LAWS`."""
    if law == "normal":
        return rng.standard_normal(shape)
    if law == "laplace":
        return rng.laplace(size=shape)
    if law == "uniform":
        return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), shape)
    if law == "student":
        return rng.standard_t(3, shape)
    return rng.standard_cauchy(shape)


def law_option(of: str) -> Any:
    """Field for one of the `LAWS`."""
    return choice("normal", f"Law of {of}.", *LAWS)


def as_function(model: Callable[..., Dataset], **renamed: str) -> Callable[..., Sample]:
    """Return a model as a function ``(n, rng, *, dependent, ...)``, some parameters under other names."""

    def draw(n: int, rng: np.random.Generator | int, *, dependent: bool = False, **parameters: Any) -> Sample:
        named = {renamed.get(name, name): value for name, value in parameters.items()}
        return model(**named).draw(n, rng, dependent)

    draw.__doc__ = f"Draw from `{model.__name__}`, with its parameters by name; the null unless `dependent`."
    return draw


def _standardized(values: np.ndarray) -> np.ndarray:
    centred = values - values.mean(axis=0)
    spread = centred.std(axis=0)
    return centred / np.where(spread > 0.0, spread, 1.0)
