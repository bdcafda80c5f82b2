"""A multilayer perceptron that runs in JAX while it is trained and in NumPy afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

__all__ = ["MLP", "init_mlp"]


def _sigmoid(values: Any, library: ModuleType) -> Any:
    return 0.5 * (1.0 + library.tanh(0.5 * values))  # no overflow, whatever the sign


_ACTIVATIONS: dict[str, Callable[[Any, ModuleType], Any]] = {
    "identity": lambda values, library: values,
    "relu": lambda values, library: library.maximum(values, 0.0),
    "leaky_relu": lambda values, library: library.maximum(values, 0.1 * values),
    "tanh": lambda values, library: library.tanh(values),
    "silu": lambda values, library: values * _sigmoid(values, library),
    "sigmoid": _sigmoid,
}


class MLP(eqx.Module):
    """A multilayer perceptron, applied to rows.

    Called with NumPy rows it computes in NumPy, so a trained network makes draws without compiling anything
    and in worker processes that never load JAX's compiler.

    Attributes
    ----------
    weights, biases : tuple of arrays
        One pair per layer; layer ``k`` maps ``h`` to ``h @ weights[k] + biases[k]``.
    hidden, output : str
        Activation after each hidden layer and after the last one.
    """

    weights: tuple[Any, ...]
    biases: tuple[Any, ...]
    hidden: str = eqx.field(static=True)
    output: str = eqx.field(static=True)

    def __call__(self, rows: Any) -> Any:
        return self.after_first(rows @ self.weights[0] + self.biases[0])

    def after_first(self, values: Any) -> Any:
        """Return the output, given what the first layer hands to its activation."""
        library: ModuleType = np if isinstance(values, np.ndarray) else jnp
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            values = _ACTIVATIONS[self.hidden](values, library) @ weight + bias
        return _ACTIVATIONS[self.output](values, library)


def init_mlp(
    rng: np.random.Generator,
    sizes: Sequence[int],
    *,
    hidden: str = "relu",
    output: str = "identity",
) -> MLP:
    """Draw a network with normal weights of variance 2 / inputs and zero biases.

    Parameters
    ----------
    rng
        Source of the weights.
    sizes
        Columns of the input, of each hidden layer and of the output.
    hidden, output
        Names of the activations.

    Examples
    --------
    >>> init_mlp(np.random.default_rng(0), [3, 8, 2])(np.zeros((5, 3), np.float32)).shape
    (5, 2)
    """
    pairs = list(itertools.pairwise(sizes))
    weights = tuple(
        (rng.standard_normal(pair) * np.sqrt(2.0 / max(pair[0], 1))).astype(np.float32) for pair in pairs
    )
    biases = tuple(np.zeros(fan_out, np.float32) for _, fan_out in pairs)
    return MLP(weights=weights, biases=biases, hidden=hidden, output=output)
