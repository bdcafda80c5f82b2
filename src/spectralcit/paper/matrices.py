"""The matrices ``M`` and ``N`` as they enter the losses: as learned, or divided by their spectral norms."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .config import Matrices

__all__ = ["inner_matrix", "outer_matrix", "spectral_norm"]

# The Gram matrix is squared so often: 2 ** 10 power iterations, after which a second singular value that is
# smaller by a hundredth counts for less than rounding.
_SQUARINGS = 10
_TINY = 1e-12  # below it a matrix is zero, and is not divided by its norm


def outer_matrix(raw: jax.Array, kind: Matrices) -> jax.Array:
    """``M`` from what is learned."""
    return raw if kind == "free" else _of_unit_norm(raw)


def inner_matrix(raw: jax.Array, kind: Matrices) -> jax.Array:
    """``N``, which is symmetric, from what is learned: its symmetric part, or its upper triangle."""
    if kind == "free":
        return (raw + jnp.swapaxes(raw, -1, -2)) / 2
    return _of_unit_norm(jnp.triu(raw) + jnp.triu(raw, 1).T)


def _of_unit_norm(matrix: jax.Array) -> jax.Array:
    return matrix / jnp.maximum(spectral_norm(matrix), _TINY)


def spectral_norm(matrix: jax.Array) -> jax.Array:
    """Largest singular value, by power iteration with matrix products alone.

    Its derivative is that of ``a' M b`` with the leading singular vectors held fixed, which is exact, and
    spares differentiating a decomposition.
    """
    left, right = jax.lax.stop_gradient(_leading_vectors(matrix))
    return left @ matrix @ right


def _leading_vectors(matrix: jax.Array) -> tuple[jax.Array, jax.Array]:
    power = matrix.T @ matrix
    for _ in range(_SQUARINGS):
        power = power / jnp.maximum(jnp.trace(power), _TINY)  # of a positive matrix: no entry leaves [-1, 1]
        power = power @ power
    # Nearly of rank one: all columns point the same way, and the longest has the least rounding.
    right = _unit(power[:, jnp.argmax(jnp.diagonal(power))])
    return _unit(matrix @ right), right


def _unit(vector: jax.Array) -> jax.Array:
    # Scaled first, for the squares of a small vector vanish in single precision.
    vector = vector / jnp.maximum(jnp.max(jnp.abs(vector)), jnp.finfo(vector.dtype).tiny)
    return vector / jnp.maximum(jnp.linalg.norm(vector), _TINY)
