"""Conditional diffusion model of X given Z (CDCIT)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..inputs import Standardizer
from ..learning.mlp import MLP, init_mlp
from ..learning.training import Learned, adam_step, fit, start_adam
from ..progress import Report
from .generated import DIFFUSION_TIMES
from .protocol import ConditionalDraw, LearnedSampler

__all__ = ["DiffusionSampler", "noise_schedule", "time_features", "train_diffusion"]

_TIME_FEATURES = 32  # by hand: 16 frequencies tell a thousand times apart
_MAX_NORM = 1.0  # of a gradient; by hand, the usual choice for diffusion models


def noise_schedule() -> np.ndarray:
    """Share of the signal's variance that is left at each of the times, for linearly growing noise."""
    return np.cumprod(1.0 - np.linspace(1e-4, 2e-2, DIFFUSION_TIMES))


def time_features(times: Any) -> Any:
    """Sines and cosines of the times at frequencies from slow to fast, shape (..., 32)."""
    library = np if isinstance(times, np.ndarray) else jnp
    frequencies = np.geomspace(1e-3, 1.0, _TIME_FEATURES // 2).astype(np.float32)
    angles = times[..., None] * frequencies
    return library.concatenate([library.sin(angles), library.cos(angles)], axis=-1)


class Denoising(eqx.Module):
    """One step: guess the noise that was added to x at random times."""

    n_x: int = eqx.field(static=True)
    learning_rate: Any

    @property
    def batches_per_step(self) -> int:
        return 1

    def step(self, state: Learned, batches: jax.Array, key: jax.Array) -> tuple[Learned, jax.Array]:
        x, z = batches[0, :, : self.n_x], batches[0, :, self.n_x :]
        time_key, noise_key = jax.random.split(key)
        times = jax.random.randint(time_key, (len(x),), 0, DIFFUSION_TIMES)
        kept = jnp.asarray(noise_schedule(), jnp.float32)[times][:, None]
        noise = jax.random.normal(noise_key, x.shape)
        noisy = jnp.sqrt(kept) * x + jnp.sqrt(1.0 - kept) * noise
        inputs = jnp.concatenate([noisy, time_features(times), z], axis=1)

        def loss(network: MLP) -> jax.Array:
            return jnp.mean((network(inputs) - noise) ** 2)

        value, gradient = jax.value_and_grad(loss)(state.params)
        return adam_step(state, gradient, self.learning_rate, max_norm=_MAX_NORM), value


@dataclass(frozen=True, eq=False)
class DiffusionSampler(LearnedSampler):
    """Network that predicts the noise in (noisy x, time features, z), which is removed step by step."""

    network: MLP
    n_sampling_steps: int
    x_scale: Standardizer
    z_scale: Standardizer

    def given(self, z: np.ndarray) -> ConditionalDraw:
        """The function that draws one X for every row of `z`."""
        first = self.network.weights[0]
        n_x = len(first) - _TIME_FEATURES - z.shape[1]
        times = _visited_times(self.n_sampling_steps)
        kept = noise_schedule()[times].astype(np.float32)
        # Only the noisy x changes from draw to draw; what z and the time add to the first layer does not.
        from_z = self.z_scale.transform(z).astype(np.float32) @ first[n_x + _TIME_FEATURES :]
        from_time = time_features(times) @ first[n_x : n_x + _TIME_FEATURES] + self.network.biases[0]

        def draw(rng: np.random.Generator) -> np.ndarray:
            x = rng.standard_normal((len(z), n_x), dtype=np.float32)
            for k in range(len(times) - 1, -1, -1):
                noise = self.network.after_first(x @ first[:n_x] + (from_z + from_time[k]))
                clean = (x - np.sqrt(1.0 - kept[k]) * noise) / np.sqrt(kept[k])
                if k == 0:
                    return _unstandardize(clean, self.x_scale)
                x = np.sqrt(kept[k - 1]) * clean + np.sqrt(1.0 - kept[k - 1]) * noise
            raise AssertionError("at least one time is visited")

        return draw


def _unstandardize(values: np.ndarray, scale: Standardizer) -> np.ndarray:
    return scale.unit * (scale.center + scale.scale * values.astype(np.float64))


def _visited_times(n: int) -> np.ndarray:
    """Times from the first to the last, denser where little noise is left and the shape of x is decided."""
    return np.unique(np.round(np.linspace(0.0, 1.0, n) ** 2 * (DIFFUSION_TIMES - 1)).astype(np.intp))


def train_diffusion(
    x: np.ndarray,
    z: np.ndarray,
    *,
    rng: np.random.Generator,
    hidden: int = 128,
    n_steps: int = 1500,
    batch_size: int = 2048,
    learning_rate: float = 1e-3,
    n_sampling_steps: int = 25,
    report: Report | None = None,
) -> tuple[DiffusionSampler, np.ndarray]:
    """Train the noise predictor; return the sampler and the loss at every step.

    References
    ----------
    J. Ho, A. Jain and P. Abbeel. Denoising diffusion probabilistic models. NeurIPS, 2020.
    J. Song, C. Meng and S. Ermon. Denoising diffusion implicit models. ICLR, 2021.
    """
    n_x, n_z = x.shape[1], z.shape[1]
    x_scale, z_scale = Standardizer.fit(x), Standardizer.fit(z)
    sizes = [n_x + _TIME_FEATURES + n_z, hidden, hidden, hidden, n_x]
    state, losses = fit(
        Denoising(n_x=n_x, learning_rate=float(learning_rate)),
        start_adam(init_mlp(rng, sizes, hidden="silu")),
        np.hstack([x_scale.transform(x), z_scale.transform(z)]),
        batch_size=batch_size,
        n_steps=n_steps,
        rng=rng,
        label="the diffusion model",
        report=report,
    )
    return DiffusionSampler(state.params, n_sampling_steps, x_scale, z_scale), losses
