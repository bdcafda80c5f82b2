"""The networks ``u``, ``v``, ``w`` and the matrices ``M``, ``N``.

Weights are drawn with NumPy, not with ``jax.random``: the numbers then depend
on the seed alone and drawing them compiles nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..numeric.whiten import FloatArray
from .config import PaperConfig, WeightInit


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


class TanhMLP(eqx.Module):
    """A multilayer perceptron with tanh between its layers, applied to rows.

    Attributes
    ----------
    weights, biases : tuple of arrays
        One pair per layer; layer ``k`` maps ``h`` to ``h @ weights[k] + biases[k]``.
    output_tanh : bool
        Whether the last layer is followed by tanh as well.
    """

    weights: tuple[jax.Array, ...]
    biases: tuple[jax.Array, ...]
    output_tanh: bool = eqx.field(static=True)

    def __call__(self, rows: jax.Array) -> jax.Array:
        last = len(self.weights) - 1
        hidden = rows
        for k, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            hidden = _affine(hidden, weight, bias)
            if k < last or self.output_tanh:
                hidden = jnp.tanh(hidden)
        return hidden


class OuterParams(eqx.Module):
    """What an outer update changes: ``u``, ``v`` and ``M``."""

    u: TanhMLP
    v: TanhMLP
    m: jax.Array


class InnerParams(eqx.Module):
    """What an inner update changes: ``w`` and the matrix whose symmetric part is ``N``."""

    w: TanhMLP
    n_raw: jax.Array

    @property
    def n(self) -> jax.Array:
        return (self.n_raw + jnp.swapaxes(self.n_raw, -1, -2)) / 2


def _uniform_weight(rng: np.random.Generator, fan_in: int, fan_out: int, init: WeightInit) -> np.ndarray:
    # Xavier keeps the variance of a signal and of its gradient; Kaiming (relu
    # gain) ignores fan_out and is wider.
    bound = np.sqrt(6.0 / (fan_in + fan_out)) if init == "xavier" else np.sqrt(6.0 / fan_in)
    return rng.uniform(-bound, bound, size=(fan_in, fan_out)).astype(np.float32)


def init_mlp(
    rng: np.random.Generator,
    *,
    n_inputs: int,
    n_outputs: int,
    n_hidden: int,
    layer_size: int,
    weight_init: WeightInit = "xavier",
    output_tanh: bool = False,
) -> TanhMLP:
    """Draw a network; biases start at zero.

    Examples
    --------
    >>> import numpy as np
    >>> net = init_mlp(np.random.default_rng(0), n_inputs=3, n_outputs=2, n_hidden=1, layer_size=8)
    >>> net(np.zeros((5, 3), dtype=np.float32)).shape
    (5, 2)
    """
    sizes = [n_inputs, *[layer_size] * n_hidden, n_outputs]
    inits: list[WeightInit] = [weight_init] * n_hidden + ["xavier"]
    weights = tuple(
        _uniform_weight(rng, fan_in, fan_out, init)
        for fan_in, fan_out, init in zip(sizes[:-1], sizes[1:], inits, strict=True)
    )
    biases = tuple(np.zeros(size, dtype=np.float32) for size in sizes[1:])
    return TanhMLP(weights=weights, biases=biases, output_tanh=output_tanh)  # type: ignore[arg-type]


def init_params(
    rng: np.random.Generator, n_x: int, n_y: int, n_z: int, config: PaperConfig
) -> tuple[OuterParams, InnerParams | None]:
    """Draw all parameters; ``n_z = 0`` is the unconditional problem without ``w``."""
    d = config.output_dim

    def draw(name: str, n_inputs: int, n_outputs: int) -> TanhMLP:
        return init_mlp(
            rng,
            n_inputs=n_inputs,
            n_outputs=n_outputs,
            n_hidden=getattr(config, f"n_hidden_{name}"),
            layer_size=getattr(config, f"layer_size_{name}"),
            weight_init=config.weight_init,
            output_tanh=config.output_tanh,
        )

    outer = OuterParams(
        u=draw("u", n_x, d),
        v=draw("v", n_y + n_z, d),
        m=_uniform_weight(rng, d, d, "xavier"),  # type: ignore[arg-type]
    )
    if n_z == 0:
        return outer, None
    inner = InnerParams(
        w=draw("w", n_z, 2 * d),
        n_raw=_uniform_weight(rng, 2 * d, 2 * d, "xavier"),  # type: ignore[arg-type]
    )
    return outer, inner


class Template(NamedTuple):
    """Structure and shapes of a parameter tree; hashable, so a compiled function can hold it."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, params: Any) -> Template:
        leaves, structure = jax.tree_util.tree_flatten(params)
        return cls(structure, tuple(leaf.shape for leaf in leaves))

    def flatten(self, params: Any) -> Any:
        """All parameters as one vector (NumPy in, NumPy out; JAX in, JAX out)."""
        leaves = jax.tree_util.tree_leaves(params)
        library = np if isinstance(leaves[0], np.ndarray) else jnp
        return library.concatenate([leaf.ravel() for leaf in leaves])

    def unflatten(self, vector: Any) -> Any:
        """The tree whose :meth:`flatten` is ``vector``."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])
        starts = [0, *ends[:-1].tolist()]
        leaves = [
            vector[start:end].reshape(shape)
            for start, end, shape in zip(starts, ends.tolist(), self.shapes, strict=True)
        ]
        return jax.tree_util.tree_unflatten(self.structure, leaves)


def forward_float64(
    weights: tuple[FloatArray, ...],
    biases: tuple[FloatArray, ...],
    output_tanh: bool,
    rows: FloatArray,
) -> FloatArray:
    """:class:`TanhMLP` in float64 NumPy, for statistics after training.

    Training runs in float32; covariances of its features are formed from this
    float64 evaluation, which also spares a compilation for every new number of
    rows.
    """
    last = len(weights) - 1
    hidden = np.asarray(rows, dtype=np.float64)
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        hidden = hidden @ weight + bias
        if k < last or output_tanh:
            hidden = np.tanh(hidden)
    return hidden
