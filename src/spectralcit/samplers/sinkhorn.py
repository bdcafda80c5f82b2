"""Generator of X given Z under a Sinkhorn loss (DGCIT)."""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..learning.mlp import MLP, init_mlp
from ..learning.training import Learned, adam_step, fit, start_adam
from ..progress import Report
from .noise import NOISE_SCALE, NoiseSampler, UnitRange

__all__ = ["sinkhorn_cost", "sinkhorn_loss", "train_sinkhorn"]

_B1 = 0.5  # of Adam: its first moment forgets faster than usual, for the opponent moves
_MAX_NORM = 1.0  # of a gradient; by hand: without it a critic that jumps carries the generator away
_FLOOR = 1e-9  # keeps the kernel of far points away from zero in single precision


def sinkhorn_cost(a: Any, b: Any, *, epsilon: float = 0.8, n_iterations: int = 30) -> Any:
    """Transport cost between two clouds of points under the entropic plan.

    `epsilon` regularises the plan, in units of the squared distance; `n_iterations` rescale its rows and
    columns. All points of a cloud weigh the same.
    """
    cost = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
    kernel = jnp.exp(-cost / epsilon) + _FLOOR
    n, m = cost.shape

    def rescale(left: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        right = (1.0 / m) / (kernel.T @ left)
        return (1.0 / n) / (kernel @ right), right

    left, rights = jax.lax.scan(rescale, jnp.ones(n, cost.dtype), None, length=n_iterations)
    return left @ (kernel * cost) @ rights[-1]


def sinkhorn_loss(real: Any, fake: Any, other_real: Any, other_fake: Any, **options: Any) -> Any:
    """Sinkhorn cost between real and fake points minus half the costs within each kind.

    Two independent batches of each kind, all of the same size, make the subtraction unbiased.
    """
    first, second = jnp.stack([real, real, fake]), jnp.stack([fake, other_real, other_fake])
    # Side by side: a third of the time to compile.
    costs = jax.vmap(lambda a, b: sinkhorn_cost(a, b, **options))(first, second)
    return costs @ jnp.array([1.0, -0.5, -0.5], costs.dtype)


class State(NamedTuple):
    """The two players."""

    generator: Learned
    critic: Learned


class SinkhornGame(eqx.Module):
    """One step: the critic makes the loss large, then the generator makes it small."""

    n_x: int = eqx.field(static=True)
    noise_dim: int = eqx.field(static=True)
    learning_rate: Any

    @property
    def batches_per_step(self) -> int:
        return 2

    def step(self, state: State, batches: jax.Array, key: jax.Array) -> tuple[State, jax.Array]:
        x, z = batches[..., : self.n_x], batches[..., self.n_x :]
        noise = NOISE_SCALE * jax.random.normal(key, (*z.shape[:-1], self.noise_dim))
        inputs = jnp.concatenate([z, noise], axis=-1)

        def loss(generator: MLP, critic: MLP) -> jax.Array:
            real = critic(jnp.concatenate([x, z], axis=-1))
            fake = critic(jnp.concatenate([generator(inputs), z], axis=-1))
            return sinkhorn_loss(real[0], fake[0], real[1], fake[1])

        against = jax.grad(lambda critic: -loss(state.generator.params, critic))(state.critic.params)
        critic = adam_step(state.critic, against, self.learning_rate, b1=_B1, max_norm=_MAX_NORM)
        value, gradient = jax.value_and_grad(loss)(state.generator.params, critic.params)
        generator = adam_step(state.generator, gradient, self.learning_rate, b1=_B1, max_norm=_MAX_NORM)
        return State(generator, critic), value


def train_sinkhorn(
    x: np.ndarray,
    z: np.ndarray,
    *,
    x_range: UnitRange,
    z_range: UnitRange,
    rng: np.random.Generator,
    hidden: int = 128,
    noise_dim: int = 10,
    n_steps: int = 1000,
    batch_size: int = 64,
    learning_rate: float = 5e-4,
    report: Report | None = None,
) -> tuple[NoiseSampler, np.ndarray]:
    """Train one of DGCIT's two generators; return the sampler and the loss at every step.

    References
    ----------
    C. Shi, T. Xu, W. Bergsma and L. Li. Double generative adversarial networks for conditional independence
    testing. JMLR, 2021.
    """
    n_x, n_z = x.shape[1], z.shape[1]
    start = State(
        generator=start_adam(init_mlp(rng, [n_z + noise_dim, hidden, n_x], output="sigmoid")),
        critic=start_adam(init_mlp(rng, [n_x + n_z, hidden, 1])),
    )
    state, losses = fit(
        SinkhornGame(n_x=n_x, noise_dim=noise_dim, learning_rate=float(learning_rate)),
        start,
        np.hstack([x_range.transform(x), z_range.transform(z)]),
        batch_size=max(2, min(batch_size, len(x) // 2)),  # two batches of different rows
        n_steps=n_steps,
        rng=rng,
        label="the Sinkhorn generator",
        report=report,
    )
    return NoiseSampler(state.generator.params, noise_dim, x_range, z_range), losses
