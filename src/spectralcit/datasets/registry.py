"""Names of data sets: `list_datasets`, `get_dataset`, and the decorator by which any other joins them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from ..errors import ParameterError, UnknownDatasetError, suggestion
from ..parameters import choice, document, integer, real
from .base import Dataset, Sample, law_option

__all__ = [
    "DatasetInfo",
    "FunctionDataset",
    "declared",
    "get_dataset",
    "list_datasets",
    "register_dataset",
    "register_family",
    "unregister_dataset",
]

Generator = TypeVar("Generator", bound=Callable[..., Any])
Model = TypeVar("Model", bound=Dataset)


@dataclass(frozen=True)
class DatasetInfo:
    """A registered data set.

    Parameters
    ----------
    name
        The name that `get_dataset` accepts.
    parameters
        Names and defaults of the parameters.
    paper
        Where the model comes from.
    summary
        One line about the model.
    make
        Makes the `Dataset` from its parameters.
    """

    name: str
    parameters: dict[str, Any]
    paper: str
    summary: str
    make: Callable[..., Dataset]


@dataclass(frozen=True, kw_only=True)
class FunctionDataset(Dataset):
    """A data set made of a function ``(n, rng, *, dependent, ...)``, as `register_dataset` makes it."""

    name: str
    function: Callable[..., Sample]
    parameters: dict[str, Any]
    alternative: bool = True

    @property
    def has_alternative(self) -> bool:
        """As declared when the function was registered."""
        return self.alternative

    def _draw(self, n: int, rng: np.random.Generator, dependent: bool) -> Sample:
        return self.function(n, rng, dependent=dependent, **self.parameters)


_DATASETS: dict[str, DatasetInfo] = {}  # filled by `register_dataset`


def register_dataset(
    name: str, *, paper: str = "", has_alternative: bool = True
) -> Callable[[Generator], Generator]:
    """Decorator that makes a `Dataset` class, or a plain generator function, available by name.

    A function is called as ``function(n, rng, dependent=..., **parameters)`` and returns X, Y and Z. Its
    parameters need defaults.

    Parameters
    ----------
    name
        The name for `get_dataset` and for suites. A name in use belongs to its first owner; only the same
        class or function, defined again, may take it over.
    paper, has_alternative
        Of a function; a class says so itself.

    Examples
    --------
    >>> @register_dataset("my-model", paper="unpublished")
    ... def my_model(n, rng, *, dependent, strength=0.5):
    ...     "Two coupled columns."
    ...     z, own, other = rng.standard_normal((3, n))
    ...     return z + own, z + other + dependent * strength * own, z[:, None]
    >>> get_dataset("my-model", strength=0.1).draw(10, 0, dependent=True)[2].shape
    (10, 1)
    >>> unregister_dataset("my-model")
    """
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"a data set needs a non-empty name, got {name!r}")

    def decorate(generator: Generator) -> Generator:
        known = _DATASETS.get(name)
        if known is not None and _origin(known.make) != _origin(generator):
            raise ParameterError(f"{name!r} is already registered by {_origin(known.make)}")
        if isinstance(generator, type):
            _DATASETS[name] = _class_info(name, generator)
        else:
            _DATASETS[name] = _function_info(name, generator, paper, has_alternative)
        return generator

    return decorate


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(choice, integer, law_option, real)
)
def declared(name: str) -> Callable[[type[Model]], type[Model]]:
    """Decorator of our own models: a registered frozen dataclass, documented by its fields."""

    def decorate(cls: type[Model]) -> type[Model]:
        made = dataclass(frozen=True, kw_only=True)(cls)
        made.__doc__ = document(made)
        return register_dataset(name)(made)

    return decorate


def register_family(prefix: str, **options: Any) -> Callable[[Generator], Generator]:
    """Decorator that registers functions under a prefix: ``linear_20`` as ``hard-linear-20``."""

    def decorate(function: Generator) -> Generator:
        return register_dataset(f"{prefix}-{function.__name__.replace('_', '-')}", **options)(function)

    return decorate


def unregister_dataset(name: str) -> None:
    """Remove a registered data set.

    Parameters
    ----------
    name
        The registered name.
    """
    _info(name)
    del _DATASETS[name]


def get_dataset(name: str, **parameters: Any) -> Dataset:
    """Return the data set called `name` with the given parameters.

    Parameters
    ----------
    name
        A name from `list_datasets`.
    **parameters
        Parameters of the model, and ``standardize``.

    Examples
    --------
    >>> get_dataset("sin-cos", d_z=10).b
    2.0
    """
    info = _info(name)
    for key in parameters:
        if key not in info.parameters:
            raise ParameterError(
                f"data set {name!r} has no parameter {key!r}.{suggestion(key, info.parameters)} "
                f"It has: {', '.join(info.parameters)}"
            )
    return info.make(**parameters)


def list_datasets() -> list[DatasetInfo]:
    """Return every registered data set, sorted by name."""
    return sorted(_DATASETS.values(), key=lambda info: info.name)


def _info(name: str) -> DatasetInfo:
    if name not in _DATASETS:
        known = sorted(_DATASETS)
        raise UnknownDatasetError(
            f"no data set is called {name!r}.{suggestion(name, known)} Known data sets: {', '.join(known)}"
        )
    return _DATASETS[name]


def _class_info(name: str, cls: type) -> DatasetInfo:
    if not (issubclass(cls, Dataset) and dataclasses.is_dataclass(cls)):
        raise ParameterError(f"{name!r}: a class must be a dataclass that derives from Dataset, got {cls!r}")
    defaults = {
        field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in dataclasses.fields(cls)
    }
    return DatasetInfo(
        name, _with_defaults(name, defaults, dataclasses.MISSING), cls.paper, _summary(cls), cls
    )


def _function_info(name: str, function: Callable[..., Any], paper: str, alternative: bool) -> DatasetInfo:
    signature = inspect.signature(function).parameters
    if "dependent" not in signature or len(signature) < 3:
        raise ParameterError(f"{name!r}: the function must accept (n, rng, *, dependent, ...)")
    own = {key: item.default for key, item in list(signature.items())[2:] if key != "dependent"}
    defaults = _with_defaults(name, own, inspect.Parameter.empty)

    def make(*, standardize: bool = False, **parameters: Any) -> Dataset:
        return FunctionDataset(
            name=name,
            function=function,
            parameters={**defaults, **parameters},
            alternative=alternative,
            standardize=standardize,
        )

    make.__wrapped__ = function  # type: ignore[attr-defined]
    return DatasetInfo(name, {"standardize": False, **defaults}, paper, _summary(function), make)


def _with_defaults(name: str, defaults: dict[str, Any], nothing: object) -> dict[str, Any]:
    for key, value in defaults.items():
        if value is nothing:
            raise ParameterError(f"{name!r}: parameter {key!r} needs a default value")
    return defaults


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _origin(thing: Any) -> str:
    thing = getattr(thing, "__wrapped__", thing)
    return f"{thing.__module__}:{thing.__qualname__}"
