"""The multilayer perceptron below all learned tests: JAX while it is trained, NumPy afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["MLP", "WeightInit", "init_mlp", "init_weight"]

WeightInit = Literal["normal", "xavier", "kaiming"]
AfterHidden = Callable[[int, Any], Any]

_LEAK = 0.1  # slope of the leaky activation for negative values, as in the doubly robust test's own code


def _sigmoid(values: Any, library: ModuleType) -> Any:
    return 0.5 * (1.0 + library.tanh(0.5 * values))  # no overflow, whatever the sign


# The same formulas in NumPy and in JAX, by the names that the tests use.
_ACTIVATIONS: dict[str, Callable[[Any, ModuleType], Any]] = {
    "identity": lambda values, library: values,
    "relu": lambda values, library: library.maximum(values, 0.0),
    "leaky_relu": lambda values, library: library.maximum(values, _LEAK * values),
    "tanh": lambda values, library: library.tanh(values),
    "silu": lambda values, library: values * _sigmoid(values, library),
    "sigmoid": _sigmoid,
}


@jax.custom_vjp
def _affine(rows: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
    return rows @ weight + bias


def _affine_forward(rows: jax.Array, weight: jax.Array, bias: jax.Array) -> tuple[jax.Array, Any]:
    return _affine(rows, weight, bias), (rows, weight)


def _affine_backward(saved: Any, gradient: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    rows, weight = saved
    # The ordinary derivative. The barrier keeps the transposed rows as an array of their own: on CPUs the
    # product of a plain array takes a quarter of the time of a product over the first axis of both.
    transposed = jax.lax.optimization_barrier(rows.T)
    return gradient @ weight.T, transposed @ gradient, gradient.sum(axis=0)


_affine.defvjp(_affine_forward, _affine_backward)


class MLP(eqx.Module):
    """Layers ``h @ weights[k] + biases[k]`` with the activations `hidden` between and `output` after them.

    Called with NumPy rows it computes in NumPy, so a trained network makes draws without compiling anything
    and in worker processes that never load JAX's compiler.
    """

    weights: tuple[Any, ...]
    biases: tuple[Any, ...]
    hidden: str = eqx.field(static=True)
    output: str = eqx.field(static=True)
    # The derivative of `_affine` is faster for wide layers; it rounds differently from JAX's own.
    fast_gradient: bool = eqx.field(static=True, default=False)

    def __call__(self, rows: Any) -> Any:
        return self.after_first(self._layer(rows, 0))

    def after_first(self, values: Any) -> Any:
        """The output, given what the first layer hands to its activation."""
        values = self._deeper(values, None)
        return _ACTIVATIONS[self.output](values, _library(values))

    def before_output(self, rows: Any, *, after_hidden: AfterHidden | None = None) -> Any:
        """What the last layer hands to its activation; ``after_hidden(k, values)`` changes hidden layer k."""
        return self._deeper(self._layer(rows, 0), after_hidden)

    def _deeper(self, values: Any, after_hidden: AfterHidden | None) -> Any:
        library = _library(values)
        for k in range(len(self.weights) - 1):
            values = _ACTIVATIONS[self.hidden](values, library)
            if after_hidden is not None:
                values = after_hidden(k, values)
            values = self._layer(values, k + 1)
        return values

    def _layer(self, rows: Any, k: int) -> Any:
        if self.fast_gradient and _library(rows) is jnp:
            return _affine(rows, self.weights[k], self.biases[k])
        return rows @ self.weights[k] + self.biases[k]

    def in_float64(self) -> MLP:
        """The network in double precision, for statistics of its output after training."""
        weights, biases = (
            tuple(np.asarray(each, dtype=np.float64) for each in part) for part in (self.weights, self.biases)
        )
        return MLP(weights=weights, biases=biases, hidden=self.hidden, output=self.output)


def _library(values: Any) -> ModuleType:
    return np if isinstance(values, np.ndarray) else jnp


def init_mlp(
    rng: np.random.Generator,
    sizes: Sequence[int],
    *,
    hidden: str = "relu",
    output: str = "identity",
    init: WeightInit = "normal",
    last_init: WeightInit | None = None,
    fast_gradient: bool = False,
) -> MLP:
    """Draw a network with zero biases; `sizes` are the columns of input, hidden layers and output.

    Weights come from NumPy, not from ``jax.random``: they depend on the seed alone, and nothing is compiled.

    Examples
    --------
    >>> init_mlp(np.random.default_rng(0), [3, 8, 2])(np.zeros((5, 3), np.float32)).shape
    (5, 2)
    """
    pairs = list(itertools.pairwise(sizes))
    inits = [init] * (len(pairs) - 1) + [last_init or init]
    weights = tuple(init_weight(rng, pair, each) for pair, each in zip(pairs, inits, strict=True))
    biases = tuple(np.zeros(fan_out, np.float32) for _, fan_out in pairs)
    return MLP(weights=weights, biases=biases, hidden=hidden, output=output, fast_gradient=fast_gradient)


def init_weight(rng: np.random.Generator, shape: tuple[int, int], init: WeightInit) -> np.ndarray:
    """Draw one matrix: normal of variance 2 / inputs, or uniform by Xavier's or Kaiming's rule."""
    fan_in, fan_out = shape
    if init == "normal":
        return (rng.standard_normal(shape) * np.sqrt(2.0 / max(fan_in, 1))).astype(np.float32)
    # Xavier keeps the variance of a signal and of its gradient; Kaiming (relu gain) ignores fan_out and is
    # wider.
    bound = np.sqrt(6.0 / (fan_in + fan_out)) if init == "xavier" else np.sqrt(6.0 / fan_in)
    return rng.uniform(-bound, bound, size=shape).astype(np.float32)
