"""Generator of X given Z that makes a conditional kernel discrepancy small (the doubly robust test)."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..learning.mlp import MLP, init_mlp
from ..learning.training import Learned, ProgressCallback, adam_step, fit, start_adam
from .noise import NOISE_SCALE, NoiseSampler, UnitRange

__all__ = ["conditional_mmd", "train_mmd"]

_B1 = 0.5
_MAX_NORM = 0.5
_SLOPE = 0.1  # of the leaky activation


def _laplace(a: Any, b: Any, width: Any) -> Any:
    return jnp.exp(-jnp.abs(a[:, None, :] - b[None, :, :]).sum(axis=-1) / width)


def conditional_mmd(x: Any, fakes: Any, z: Any, width_x: Any, width_z: Any) -> Any:
    """Squared discrepancy of (x, z) and (fake, z) under Laplace kernels, over pairs of different rows.

    Parameters
    ----------
    x, z
        Observed rows, shapes (n, p) and (n, d).
    fakes
        Generated rows, shape (n, m, p).
    width_x, width_z
        Scales of the kernels, in units of the summed absolute differences.
    """
    n, m, p = fakes.shape
    flat = fakes.reshape(n * m, p)
    mixed = _laplace(x, flat, width_x).reshape(n, n, m).mean(axis=2)
    generated = _laplace(flat, flat, width_x).reshape(n, m, n, m).mean(axis=(1, 3))
    difference = _laplace(x, x, width_x) - mixed - mixed.T + generated
    return jnp.sum(difference * _laplace(z, z, width_z) * (1.0 - jnp.eye(n))) / n


class KernelMatching(eqx.Module):
    """One step: draw several x for each z of a batch and move towards the observed ones."""

    n_x: int = eqx.field(static=True)
    noise_dim: int = eqx.field(static=True)
    n_fakes: int = eqx.field(static=True)
    learning_rate: Any
    width_x: Any
    width_z: Any
    decay: Any
    dropout: Any

    @property
    def batches_per_step(self) -> int:
        return 1

    def step(self, state: Learned, batches: jax.Array, key: jax.Array) -> tuple[Learned, jax.Array]:
        x, z = batches[0, :, : self.n_x], batches[0, :, self.n_x :]
        noise_key, drop_key = jax.random.split(key)
        noise = NOISE_SCALE * jax.random.normal(noise_key, (len(z), self.n_fakes, self.noise_dim))
        repeated = jnp.broadcast_to(z[:, None, :], (len(z), self.n_fakes, z.shape[1]))
        inputs = jnp.concatenate([repeated, noise], axis=2)

        def loss(network: MLP) -> jax.Array:
            fakes = _with_dropout(network, inputs, drop_key, self.dropout)
            sizes = [jnp.abs(leaf).sum() for leaf in jax.tree_util.tree_leaves(network)]
            return conditional_mmd(x, fakes, z, self.width_x, self.width_z) + self.decay * sum(sizes)

        value, gradient = jax.value_and_grad(loss)(state.params)
        return adam_step(state, gradient, self.learning_rate, b1=_B1, max_norm=_MAX_NORM), value


def _with_dropout(network: MLP, values: jax.Array, key: jax.Array, rate: Any) -> jax.Array:
    """The network's output with hidden units switched off at random."""
    last = len(network.weights) - 1
    for k, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        values = values @ weight + bias
        if k < last:
            kept = jax.random.uniform(jax.random.fold_in(key, k), values.shape) >= rate
            values = jnp.maximum(values, _SLOPE * values) * kept / (1.0 - rate)
    return jax.nn.sigmoid(values)


def train_mmd(
    x: np.ndarray,
    z: np.ndarray,
    *,
    x_range: UnitRange,
    z_range: UnitRange,
    rng: np.random.Generator,
    hidden: int = 128,
    noise_dim: int = 20,
    n_fakes: int = 5,
    n_steps: int = 500,
    batch_size: int = 128,
    learning_rate: float = 2e-4,
    decay: float = 1e-5,
    dropout: float = 0.2,
    progress: ProgressCallback | None = None,
) -> tuple[NoiseSampler, np.ndarray]:
    """Train a generator with two hidden layers; return the sampler and the loss at every step.

    Parameters
    ----------
    x, z
        Training rows.
    x_range, z_range
        Their scales.
    rng
        Source of weights, mini-batches, noise and dropout.
    hidden, noise_dim, n_fakes, n_steps, batch_size, learning_rate, decay, dropout
        As in `GenerativeDR`; `decay` multiplies the sum of absolute weights.
    progress
        As in `fit`.

    References
    ----------
    Y. Zhang, L. Huang, Y. Yang and X. Shao. Doubly robust conditional independence testing with generative
    neural networks. JRSS B, 2025.
    """
    n_x, n_z = x.shape[1], z.shape[1]
    unit_x, unit_z = x_range.transform(x), z_range.transform(z)
    recipe = KernelMatching(
        n_x=n_x,
        noise_dim=noise_dim,
        n_fakes=n_fakes,
        learning_rate=float(learning_rate),
        width_x=median_l1(unit_x, rng),
        width_z=median_l1(unit_z, rng),
        decay=float(decay),
        dropout=float(dropout),
    )
    sizes = [n_z + noise_dim, hidden, hidden, n_x]
    state, losses = fit(
        recipe,
        start_adam(init_mlp(rng, sizes, hidden="leaky_relu", output="sigmoid")),
        np.hstack([unit_x, unit_z]),
        batch_size=batch_size,
        n_steps=n_steps,
        rng=rng,
        label="the kernel generator",
        progress=progress,
    )
    return NoiseSampler(state.params, noise_dim, x_range, z_range), losses


def median_l1(values: np.ndarray, rng: np.random.Generator, most: int = 500) -> float:
    """Median summed absolute difference of pairs among at most `most` rows; one if that is zero."""
    from scipy.spatial.distance import pdist

    some = values if len(values) <= most else values[rng.choice(len(values), most, replace=False)]
    median = float(np.median(pdist(some, "cityblock")))
    return median if median > 0.0 else 1.0
