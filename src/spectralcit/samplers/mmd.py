"""Generator of X given Z that makes a conditional kernel discrepancy small (the doubly robust test)."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..learning.mlp import MLP, init_mlp
from ..learning.training import Learned, adam_step, fit, start_adam
from ..progress import Report
from .noise import NOISE_SCALE, NoiseSampler, UnitRange

__all__ = ["conditional_mmd", "train_mmd"]

_B1 = 0.5  # of Adam, as in the authors' program, and so is
_MAX_NORM = 0.5  # the largest norm of a gradient
_ROWS_FOR_WIDTH = 500  # by hand: their 125,000 pairs fix a median to half a percent


def _laplace(a: Any, b: Any, width: Any) -> Any:
    return jnp.exp(-jnp.abs(a[:, None, :] - b[None, :, :]).sum(axis=-1) / width)


def conditional_mmd(x: Any, fakes: Any, z: Any, width_x: Any, width_z: Any) -> Any:
    """Squared discrepancy of (x, z) and (fake, z) under Laplace kernels, over pairs of different rows.

    The fakes have shape (n, m, p); the widths of the kernels are in units of the summed absolute differences.
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

    def drop(k: int, values: jax.Array) -> jax.Array:
        kept = jax.random.uniform(jax.random.fold_in(key, k), values.shape) >= rate
        return values * kept / (1.0 - rate)

    # The derivative of JAX's own sigmoid rounds differently from that of the network's.
    return jax.nn.sigmoid(network.before_output(values, after_hidden=drop))


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
    report: Report | None = None,
) -> tuple[NoiseSampler, np.ndarray]:
    """Train a generator with two hidden layers; return the sampler and the loss at every step.

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
        report=report,
    )
    return NoiseSampler(state.params, noise_dim, x_range, z_range), losses


def median_l1(values: np.ndarray, rng: np.random.Generator) -> float:
    """Median summed absolute difference of pairs among some of the rows; one if that is zero."""
    from scipy.spatial.distance import pdist

    n, most = len(values), _ROWS_FOR_WIDTH
    some = values if n <= most else values[rng.choice(n, most, replace=False)]
    median = float(np.median(pdist(some, "cityblock")))
    return median if median > 0.0 else 1.0
