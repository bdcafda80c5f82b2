"""Wasserstein generator of X given Z with a penalty on what it copies from X (GCIT)."""

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

__all__ = ["information", "train_wgan"]

_B1 = 0.5  # Adam's first moment forgets faster than usual, for the opponent moves


class State(NamedTuple):
    """The three networks of the game."""

    generator: Learned
    critic: Learned
    statistic: Learned


class WassersteinGame(eqx.Module):
    """One step: some updates of the critic and of the information network, then one of the generator."""

    n_x: int = eqx.field(static=True)
    noise_dim: int = eqx.field(static=True)
    critic_steps: int = eqx.field(static=True)
    learning_rate: Any
    gradient_penalty: Any
    lambda_: Any

    @property
    def batches_per_step(self) -> int:
        return self.critic_steps + 1

    def step(self, state: State, batches: jax.Array, key: jax.Array) -> tuple[State, jax.Array]:
        def oppose(state: State, now: tuple[jax.Array, jax.Array]) -> tuple[State, jax.Array]:
            return self._update_opponents(state, *now)

        keys = jax.random.split(key, self.critic_steps + 1)
        state, losses = jax.lax.scan(oppose, state, (batches[:-1], keys[:-1]))
        return self._update_generator(state, batches[-1], keys[-1]), losses[-1]

    def _update_opponents(self, state: State, batch: jax.Array, key: jax.Array) -> tuple[State, jax.Array]:
        noise_key, mix_key = jax.random.split(key)
        x, z = batch[:, : self.n_x], batch[:, self.n_x :]
        fake = self._generate(state.generator.params, z, noise_key)
        mix = jax.random.uniform(mix_key, (len(x), 1))
        between = mix * x + (1.0 - mix) * fake

        def critic_loss(critic: MLP) -> jax.Array:
            slope = jax.grad(lambda point: _judge(critic, point, z).sum())(between)
            steepness = jnp.sqrt(jnp.sum(slope**2, axis=1) + 1e-8)
            gap = _judge(critic, fake, z).mean() - _judge(critic, x, z).mean()
            return gap + self.gradient_penalty * jnp.mean((steepness - 1.0) ** 2)

        def statistic_loss(statistic: MLP) -> jax.Array:
            return -information(statistic, x, fake)

        loss, gradient = jax.value_and_grad(critic_loss)(state.critic.params)
        critic = adam_step(state.critic, gradient, self.learning_rate, b1=_B1)
        gradient = jax.grad(statistic_loss)(state.statistic.params)
        statistic = adam_step(state.statistic, gradient, self.learning_rate, b1=_B1)
        return state._replace(critic=critic, statistic=statistic), loss

    def _update_generator(self, state: State, batch: jax.Array, key: jax.Array) -> State:
        x, z = batch[:, : self.n_x], batch[:, self.n_x :]

        def loss(generator: MLP) -> jax.Array:
            fake = self._generate(generator, z, key)
            copied = information(state.statistic.params, x, fake)
            return self.lambda_ * copied - _judge(state.critic.params, fake, z).mean()

        gradient = jax.grad(loss)(state.generator.params)
        return state._replace(generator=adam_step(state.generator, gradient, self.learning_rate, b1=_B1))

    def _generate(self, generator: MLP, z: jax.Array, key: jax.Array) -> jax.Array:
        noise = NOISE_SCALE * jax.random.normal(key, (len(z), self.noise_dim))
        return generator(jnp.concatenate([z, noise], axis=1))


def _judge(critic: MLP, x: jax.Array, z: jax.Array) -> jax.Array:
    return critic(jnp.concatenate([x, z], axis=1))


def information(statistic: MLP, x: Any, fake: Any) -> Any:
    """Donsker-Varadhan lower bound of the mutual information of `x` and `fake`, in nats.

    Independent pairs are made by shifting the rows of `x` by one: they come in random order.
    """
    joint = statistic(jnp.concatenate([x, fake], axis=1))
    product = statistic(jnp.concatenate([jnp.roll(x, 1, axis=0), fake], axis=1))
    return joint.mean() - (jax.nn.logsumexp(product) - jnp.log(product.size))


def train_wgan(
    x: np.ndarray,
    z: np.ndarray,
    *,
    x_range: UnitRange,
    z_range: UnitRange,
    rng: np.random.Generator,
    lambda_: float = 10.0,
    hidden: int = 3,
    noise_dim: int = 3,
    n_steps: int = 1000,
    critic_steps: int = 5,
    batch_size: int = 64,
    learning_rate: float = 1e-4,
    gradient_penalty: float = 10.0,
    report: Report | None = None,
) -> tuple[NoiseSampler, np.ndarray]:
    """Train GCIT's generator; return the sampler and the critic's loss at every step.

    The critic's value of (x, z) is a Wasserstein distance by its gradient penalty; a third network estimates
    the mutual information of x and its fake, and the generator pays `lambda_` times that.

    References
    ----------
    A. Bellot and M. van der Schaar. Conditional independence testing using generative adversarial networks.
    NeurIPS, 2019.
    """
    n_x, n_z = x.shape[1], z.shape[1]
    recipe = WassersteinGame(
        n_x=n_x,
        noise_dim=noise_dim,
        critic_steps=critic_steps,
        learning_rate=float(learning_rate),
        gradient_penalty=float(gradient_penalty),
        lambda_=float(lambda_),
    )
    start = State(
        generator=start_adam(init_mlp(rng, [n_z + noise_dim, hidden, n_x], hidden="tanh", output="sigmoid")),
        critic=start_adam(init_mlp(rng, [n_x + n_z, hidden, 1])),
        statistic=start_adam(init_mlp(rng, [2 * n_x, 2 * n_x, 1], hidden="tanh")),
    )
    rows = np.hstack([x_range.transform(x), z_range.transform(z)])
    state, losses = fit(
        recipe,
        start,
        rows,
        batch_size=batch_size,
        n_steps=n_steps,
        rng=rng,
        label="the Wasserstein generator",
        report=report,
    )
    return NoiseSampler(state.generator.params, noise_dim, x_range, z_range), losses
