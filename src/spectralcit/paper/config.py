"""Every hyper-parameter of the published learner, under the paper's names."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from ..errors import ParameterError

Regularizer = Literal["frobenius", "log-frobenius"]
REGULARIZERS: tuple[Regularizer, ...] = ("frobenius", "log-frobenius")
WeightInit = Literal["xavier", "kaiming"]
WEIGHT_INITS: tuple[WeightInit, ...] = ("xavier", "kaiming")

_POSITIVE_INTEGERS = (
    "output_dim",
    "layer_size_u",
    "layer_size_v",
    "layer_size_w",
    "batch_size",
    "n_epochs",
    "n_steps_inner",
)
_NON_NEGATIVE_INTEGERS = ("n_hidden_u", "n_hidden_v", "n_hidden_w", "n_warmup")
_POSITIVE_NUMBERS = ("lr_inner", "lr_outer")
_NON_NEGATIVE_NUMBERS = ("reg_str_inner", "reg_str_outer")


@dataclass(frozen=True, kw_only=True)
class PaperConfig:
    """Hyper-parameters of the bi-level learner and of the published test.

    The defaults are the reference values of the paper's sensitivity study
    where it gives them (``output_dim``, learning rates, regularisation
    strengths) and its implementation details elsewhere. Depth, width and
    batch size of the tuned model are not printed: the defaults are the middle
    of the paper's search grid in depth and batch, and its smallest width.

    Parameters
    ----------
    output_dim : int
        Rank ``d`` of the learned truncated SVD; ``u`` and ``v`` have ``d``
        outputs and ``w`` has ``2 d``.
    perc_dim_prune : float
        Share of the ``d`` singular triplets that enter the statistic. Below 1
        the paper's null is too small for the statistic it is compared with:
        the leading triplets are the largest of ``d``, not a random choice.
    n_hidden_u, n_hidden_v, n_hidden_w : int
        Hidden layers of each network; 0 makes it linear.
    layer_size_u, layer_size_v, layer_size_w : int
        Neurons in each hidden layer.
    lr_inner, lr_outer : float
        Adam's learning rates for ``(w, N)`` and for ``(u, v, M)``.
    reg_str_inner, reg_str_outer : float
        Strengths of the orthonormality penalties.
    batch_size : int
        Rows of a mini-batch. Above the number of training rows it falls to
        the largest multiple of 32 that fits.
    n_epochs : int
        Passes of the outer model over the training rows.
    n_warmup : int
        Inner updates before the first outer update.
    n_steps_inner : int
        Inner updates before every outer update.
    test_fraction : float
        Share of the rows kept for the statistic.
    regularizer : {"frobenius", "log-frobenius"}
        The penalty of the paper's text, or that of the authors' program.
    clip_norm : float or None
        Largest global norm of a gradient; None leaves gradients alone. The
        authors' program clips at 5, the paper does not mention it.
    weight_init : {"xavier", "kaiming"}
        Xavier-uniform weights as in the paper; or Kaiming-uniform hidden
        layers as in the authors' program (its output layer is Xavier too).
    output_tanh : bool
        Tanh on the output layer as well, as in the authors' program.

    Examples
    --------
    >>> PaperConfig(output_dim=4).output_dim
    4
    >>> PaperConfig(lr_outer=-1.0)
    Traceback (most recent call last):
        ...
    spectralcit.errors.ParameterError: lr_outer is -1.0; it must be a finite number above 0.

    References
    ----------
    .. [1] SpectralCIT paper, "Experimental Details" and its table of
       hyper-parameters.
    """

    output_dim: int = 10
    perc_dim_prune: float = 1.0
    n_hidden_u: int = 2
    n_hidden_v: int = 2
    n_hidden_w: int = 2
    layer_size_u: int = 128
    layer_size_v: int = 128
    layer_size_w: int = 128
    lr_inner: float = 3e-5
    lr_outer: float = 2.1e-3
    reg_str_inner: float = 3.3
    reg_str_outer: float = 1.9
    batch_size: int = 256
    n_epochs: int = 400
    n_warmup: int = 100
    n_steps_inner: int = 1
    test_fraction: float = 0.2
    regularizer: Regularizer = "frobenius"
    clip_norm: float | None = 5.0
    weight_init: WeightInit = "xavier"
    output_tanh: bool = False

    def __post_init__(self) -> None:
        for name in _POSITIVE_INTEGERS:
            _check_integer(name, getattr(self, name), smallest=1)
        for name in _NON_NEGATIVE_INTEGERS:
            _check_integer(name, getattr(self, name), smallest=0)
        for name in _POSITIVE_NUMBERS:
            _check_number(name, getattr(self, name), above_zero=True)
        for name in _NON_NEGATIVE_NUMBERS:
            _check_number(name, getattr(self, name), above_zero=False)
        if self.clip_norm is not None:
            _check_number("clip_norm", self.clip_norm, above_zero=True, hint=" or None")
        _check_number("perc_dim_prune", self.perc_dim_prune, above_zero=True)
        if self.perc_dim_prune > 1:
            raise ParameterError(
                f"perc_dim_prune is {self.perc_dim_prune!r}; it is the share of singular"
                " triplets to keep, at most 1."
            )
        _check_number("test_fraction", self.test_fraction, above_zero=True)
        if self.test_fraction >= 1:
            raise ParameterError(
                f"test_fraction is {self.test_fraction!r}; it must lie strictly between 0 and 1."
            )
        _check_choice("regularizer", self.regularizer, REGULARIZERS)
        _check_choice("weight_init", self.weight_init, WEIGHT_INITS)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all hyper-parameters, in the order of the signature."""
        return tuple(field.name for field in fields(cls))


def _check_integer(name: str, value: object, *, smallest: int) -> None:
    # NumPy integers are fine, booleans are a mistake although they are ints.
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_integer or int(value) < smallest:  # type: ignore[call-overload]
        raise ParameterError(f"{name} is {value!r}; it must be an integer of at least {smallest}.")


def _check_number(name: str, value: object, *, above_zero: bool, hint: str = "") -> None:
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (above_zero and number == 0):
        bound = "above 0" if above_zero else "of at least 0"
        raise ParameterError(f"{name} is {value!r}; it must be a finite number {bound}{hint}.")


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ParameterError(f"{name} is {value!r}; choose one of {', '.join(choices)}.")
