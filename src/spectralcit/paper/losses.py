"""The two U-statistic losses of the paper, in time linear in the batch.

The paper writes double sums over i ≠ j. Every summand is a product of inner products, so the full double sum
is a trace of small matrices, for example Σ_ij ⟨u_i, M v_j⟩² = tr(UᵀU M VᵀV Mᵀ), and the diagonal i = j is a
sum over rows that is subtracted again. A batch of ``m`` rows costs ``O(m d^2)`` time and ``O(m d)`` memory
instead of ``O(m^2)`` of both.

All functions are pure functions of feature arrays; they centre the features on the batch, as the paper's
overlines say. ``u`` and ``v`` have ``d`` columns, ``w`` has ``2 d``.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .config import PairTerms, Regularizer

__all__ = ["frobenius_penalty", "inner_loss", "log_frobenius_penalty", "outer_loss", "penalty"]

# Added to the eigenvalues under the logarithm: above the rounding of single precision, below what matters.
_LOG_RIDGE = 1e-5


def centre(features: jax.Array) -> jax.Array:
    """Subtract the batch mean of every column."""
    return features - features.mean(axis=0)


def outer_loss(
    u: jax.Array, v: jax.Array, w: jax.Array | None, m: jax.Array, pair_terms: PairTerms = "u-statistic"
) -> jax.Array:
    """Outer loss: fit ``U M V*`` to the partial covariance operator.

    The mean of ⟨u_i, M v_j⟩² + 2 ⟨u_i, M v_j⟩ ⟨w_i, w_j⟩ over i ≠ j, minus twice that of ⟨u_i, M v_i⟩.
    Without ``w`` its term is absent and the loss fits the covariance operator of ``X`` and ``Y``. With
    ``"with-diagonal"`` the product of the two tables keeps i = j, still divided by the number of other pairs.
    """
    b = u.shape[0]
    u, v = centre(u), centre(v)
    matched = jnp.sum(u * (v @ m.T), axis=1)
    squares = jnp.sum((u.T @ u / b) * (m @ (v.T @ v / b) @ m.T))
    loss = _without_diagonal(squares, matched**2) - 2 * jnp.mean(matched)
    if w is None:
        return loss
    w = centre(w)
    explained = jnp.sum(((u.T @ w / b) @ (w.T @ v / b)) * m)
    if pair_terms == "with-diagonal":
        return loss + 2 * explained * b / (b - 1)
    return loss + 2 * _without_diagonal(explained, matched * jnp.sum(w**2, axis=1))


def inner_loss(
    u: jax.Array,
    v: jax.Array,
    w: jax.Array,
    m: jax.Array,
    n: jax.Array,
    pair_terms: PairTerms = "u-statistic",
) -> jax.Array:
    """Inner loss: fit ``W N W*`` to what ``Z`` carries from ``Y`` to ``X``; ``N`` is symmetric.

    The mean of ⟨w_i, N w_j⟩² - 2 ⟨u_i, M v_j⟩ ⟨w_i, N w_j⟩ over i ≠ j; `pair_terms` as in `outer_loss`.
    """
    b = u.shape[0]
    u, v, w = centre(u), centre(v), centre(w)
    matched_w = jnp.sum(w * (w @ n.T), axis=1)
    matched = jnp.sum(u * (v @ m.T), axis=1)
    c = w.T @ w / b
    squares = jnp.sum(c * (n @ c @ n.T))
    products = jnp.sum((u.T @ w / b) * (m @ (v.T @ w / b) @ n.T))
    if pair_terms == "with-diagonal":
        return _without_diagonal(squares, matched_w**2) - 2 * products * b / (b - 1)
    return _without_diagonal(squares - 2 * products, matched_w**2 - 2 * matched * matched_w)


def frobenius_penalty(features: jax.Array) -> jax.Array:
    """Squared Frobenius norm of ``C - I``, with ``C`` the batch covariance (over ``b``)."""
    return jnp.sum((_covariance(features) - jnp.eye(features.shape[1])) ** 2)


def log_frobenius_penalty(features: jax.Array) -> jax.Array:
    """Mean of -ln λ + λ (λ - 1) over the eigenvalues λ of ``C``.

    Zero at ``C = I`` and very large at a singular ``C``: features cannot collapse. Written with a Cholesky
    factor and traces, so no eigenvalue is differentiated. The logarithm sees ``C + 1e-5 I``, for untrained
    features can be dependent up to the rounding of single precision.
    """
    c = _covariance(features)
    d = c.shape[0]
    diagonal = jnp.diagonal(jnp.linalg.cholesky(c + _LOG_RIDGE * jnp.eye(d)))
    log_determinant = 2 * jnp.sum(jnp.log(diagonal))
    return (-log_determinant + jnp.sum(c**2) - jnp.trace(c)) / d


def penalty(features: jax.Array, regularizer: Regularizer) -> jax.Array:
    """The orthonormality penalty named by ``regularizer``."""
    if regularizer == "frobenius":
        return frobenius_penalty(features)
    return log_frobenius_penalty(features)


def _covariance(features: jax.Array) -> jax.Array:
    centred = centre(features)
    return centred.T @ centred / features.shape[0]


def _without_diagonal(mean_of_pairs: jax.Array, diagonal: jax.Array) -> jax.Array:
    """Mean over the pairs with ``i != j``, from the mean over all pairs and the terms with ``i = j``.

    Means instead of sums keep single precision exact enough for batches of any size.
    """
    b = diagonal.shape[0]
    return (b * mean_of_pairs - jnp.mean(diagonal)) / (b - 1)
