"""The networks ``u``, ``v``, ``w`` and the matrices ``M``, ``N``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..learning.mlp import MLP, init_mlp, init_weight
from .config import PaperConfig

__all__ = ["InnerParams", "OuterParams", "Template", "init_params"]


class OuterParams(eqx.Module):
    """What an outer update changes: ``u``, ``v`` and ``M``."""

    u: MLP
    v: MLP
    m: jax.Array


class InnerParams(eqx.Module):
    """What an inner update changes: ``w`` and the matrix that ``N`` is made from (`matrices`)."""

    w: MLP
    n_raw: jax.Array


def init_params(
    rng: np.random.Generator, n_x: int, n_y: int, n_z: int, config: PaperConfig
) -> tuple[OuterParams, InnerParams | None]:
    """Draw all parameters; ``n_z = 0`` is the unconditional problem without ``w``."""
    d = config.output_dim

    def draw(name: str, n_inputs: int, n_outputs: int) -> MLP:
        hidden = [getattr(config, f"layer_size_{name}")] * getattr(config, f"n_hidden_{name}")
        return init_mlp(
            rng,
            [n_inputs, *hidden, n_outputs],
            hidden="tanh",
            output="tanh" if config.output_tanh else "identity",
            init=config.weight_init,
            last_init="xavier",
            fast_gradient=True,
        )

    outer = OuterParams(
        u=draw("u", n_x, d),
        v=draw("v", n_y + n_z, d),
        m=init_weight(rng, (d, d), "xavier"),  # type: ignore[arg-type]
    )
    if n_z == 0:
        return outer, None
    inner = InnerParams(
        w=draw("w", n_z, 2 * d),
        n_raw=init_weight(rng, (2 * d, 2 * d), "xavier"),  # type: ignore[arg-type]
    )
    return outer, inner


class Template(NamedTuple):
    """Structure and shapes of a parameter tree; hashable, so a compiled function can hold it."""

    structure: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, params: Any) -> Template:
        """That of a tree of arrays."""
        leaves, structure = jax.tree_util.tree_flatten(params)
        return cls(structure, tuple(leaf.shape for leaf in leaves))

    def flatten(self, params: Any) -> Any:
        """All parameters as one vector (NumPy in, NumPy out; JAX in, JAX out)."""
        leaves = jax.tree_util.tree_leaves(params)
        library = np if isinstance(leaves[0], np.ndarray) else jnp
        return library.concatenate([leaf.ravel() for leaf in leaves])

    def unflatten(self, vector: Any) -> Any:
        """The tree whose `flatten` is `vector`."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])
        starts = [0, *ends[:-1].tolist()]
        leaves = [
            vector[start:end].reshape(shape)
            for start, end, shape in zip(starts, ends.tolist(), self.shapes, strict=True)
        ]
        return jax.tree_util.tree_unflatten(self.structure, leaves)
