"""Every hyper-parameter of the published learner, under the paper's names."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from typing import Literal

from ..learning.options import SINGLE_PRECISION, positive_option, width_option
from ..parameters import check_parameters, choice, document, flag, integer, parameters_of, real

__all__ = ["Epoch", "Hyperparameters", "Matrices", "PairTerms", "PaperConfig", "Regularizer"]

Regularizer = Literal["frobenius", "log-frobenius"]
WeightInit = Literal["xavier", "kaiming"]
Matrices = Literal["free", "unit-norm"]
PairTerms = Literal["u-statistic", "with-diagonal"]
Epoch = Literal["outer", "shared"]

# By hand: the statistic takes the singular values of a matrix with as many rows, and w has twice as many.
_MOST_FEATURES = 2_000
_MOST_LAYERS = 100  # by hand: each is compiled, and tanh layers stop learning long before


# Without an own __init__: the configuration and the test each have one made for all of their fields.
@dataclass(kw_only=True, init=False, eq=False, repr=False)
class Hyperparameters:
    """Fields that `PaperConfig` and `PaperSpectralCIT` share."""

    output_dim: int = integer(
        10,
        "Rank ``d`` of the learned truncated SVD; ``u`` and ``v`` have ``d`` outputs and ``w`` has ``2 d``.",
        most=_MOST_FEATURES,
    )
    perc_dim_prune: float = real(
        1.0,
        "Share of the ``d`` singular triplets that enter the statistic, rounded down. The paper draws it "
        "from Uniform(0.85, 1), so its tuned tests keep at most ``d - 1``. Below 1 the null is too small for "
        "the statistic, which has the largest of ``d`` values, not any: with ideal features and ``d = 10`` "
        "the level 0.05 becomes 0.39 with nine and 0.87 with eight. Learned features are conservative, which "
        "hides some of this and is why pruning brings power; docs/reproduction.md has the rates.",
        above=0.0,
        most=1.0,
    )
    n_hidden_u: int = integer(2, "Hidden layers of ``u``; 0 makes it linear.", least=0, most=_MOST_LAYERS)
    n_hidden_v: int = integer(2, "Hidden layers of ``v``; 0 makes it linear.", least=0, most=_MOST_LAYERS)
    n_hidden_w: int = integer(2, "Hidden layers of ``w``; 0 makes it linear.", least=0, most=_MOST_LAYERS)
    layer_size_u: int = width_option(128, "Neurons in each hidden layer of ``u``.")
    layer_size_v: int = width_option(128, "Neurons in each hidden layer of ``v``.")
    layer_size_w: int = width_option(128, "Neurons in each hidden layer of ``w``.")
    lr_inner: float = positive_option(3e-5, "Adam's learning rate for ``(w, N)``.")
    lr_outer: float = positive_option(2.1e-3, "Adam's learning rate for ``(u, v, M)``.")
    reg_str_inner: float = real(
        3.3, "Strength of the orthonormality penalty on ``w``.", least=0.0, most=SINGLE_PRECISION
    )
    reg_str_outer: float = real(
        1.9, "Strength of the orthonormality penalty on ``u`` and ``v``.", least=0.0, most=SINGLE_PRECISION
    )
    batch_size: int = integer(
        256,
        "Rows of a mini-batch, two at the least. Above the number of training rows it falls to the largest "
        "multiple of 32 that fits.",
    )
    n_epochs: int = integer(400, "Passes over the training rows, see `epoch`.")
    n_warmup: int = integer(
        100, "Inner updates before the first outer update; with ``epoch='shared'``, passes.", least=0
    )
    n_steps_inner: int = integer(1, "Inner updates before every outer update.")
    test_fraction: float = real(0.2, "Share of the rows kept for the statistic.", above=0.0, below=1.0)
    regularizer: Regularizer = choice(  # noqa: RUF009 - makes a field, as `real` does
        "frobenius",
        "The penalty of the paper's text, or that of the authors' program.",
        "frobenius",
        "log-frobenius",
    )
    clip_norm: float | None = positive_option(
        5.0,
        "Largest global norm of a gradient; None leaves gradients alone. The authors' program clips at 5, "
        "the paper does not mention it.",
        also=(None,),
    )
    weight_init: WeightInit = choice(  # noqa: RUF009
        "xavier",
        "Xavier-uniform weights as in the paper; or Kaiming-uniform hidden layers as in the authors' program "
        "(its output layer is Xavier too).",
        "xavier",
        "kaiming",
    )
    output_tanh: bool = flag(False, "Tanh on the output layer as well, as in the authors' program.")
    matrices: Matrices = choice(  # noqa: RUF009
        "free",
        "``M`` and ``N`` as learned, as in the paper; or divided by their spectral norms, with ``N`` made "
        "from its upper triangle, as in the authors' program.",
        "free",
        "unit-norm",
    )
    pair_terms: PairTerms = choice(  # noqa: RUF009
        "u-statistic",
        "Whether the losses' products of two tables of pairs leave out a row with itself, as in the paper, "
        "or keep it, as in the authors' program.",
        "u-statistic",
        "with-diagonal",
    )
    epoch: Epoch = choice(  # noqa: RUF009
        "outer",
        "A pass of the outer model, each model with batches of its own and `n_warmup` inner updates before; "
        "or a pass that both models share, their updates taking turns over its batches, with `n_warmup` such "
        "passes of the inner model before, as in the authors' program.",
        "outer",
        "shared",
    )


# Frozen by hand, for a frozen dataclass cannot share the fields of a test, which is not.
@dataclass(kw_only=True, unsafe_hash=True)
class PaperConfig(Hyperparameters):
    """Hyper-parameters of the bi-level learner and of the published test: a value, checked when it is made.

    The defaults are the reference values of the paper's sensitivity study where it gives them
    (``output_dim``, learning rates, regularisation strengths) and its implementation details elsewhere.
    Depth, width and batch size of the tuned model are not printed: the defaults are the middle of the paper's
    search grid in depth and batch, and its smallest width.

    Examples
    --------
    >>> PaperConfig(output_dim=4).output_dim
    4
    >>> PaperConfig(lr_outer=-1)
    Traceback (most recent call last):
        ...
    spectralcit.errors.ParameterError: lr_outer must be a finite number above 0 and of at most 3e+38; got -1.

    References
    ----------
    SpectralCIT paper, "Experimental Details" and its table of hyper-parameters.
    """

    def __post_init__(self) -> None:
        check_parameters(self)
        self.__dict__["_made"] = True

    def __setattr__(self, name: str, value: object) -> None:
        if "_made" in self.__dict__:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all hyper-parameters, in the order of the signature."""
        return tuple(parameters_of(cls))


PaperConfig.__doc__ = document(PaperConfig)
