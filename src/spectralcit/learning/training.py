"""The compiled training loop shared by all generators.

A `Recipe` says what one step does with its mini-batches; `fit` draws the mini-batches, runs the steps in
compiled chunks and watches for divergence. A compilation depends on the shape of the mini-batches and not on
the number of rows or steps, and numbers such as learning rates are arguments of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..errors import ParameterError, TrainingDivergedError
from ..paper.schedule import effective_batch_size
from .compile_cache import use_persistent_cache

__all__ = ["CHUNK", "Learned", "ProgressCallback", "Recipe", "adam_step", "fit", "start_adam"]

#: Called with (steps done, steps in total) after every `CHUNK` steps.
ProgressCallback = Callable[[int, int], None]

CHUNK = 100
"""Steps in one call of the compiled function: a smooth progress bar, and little time spent in Python."""


class Recipe(Protocol):
    """What one training step does. An `equinox.Module`, whose static fields decide what is compiled."""

    @property
    def batches_per_step(self) -> int:
        """Number of mini-batches that a step looks at."""

    def step(self, state: Any, batches: jax.Array, key: jax.Array) -> tuple[Any, jax.Array]:
        """Return the state after a step on `batches`, of shape (batches, rows, columns), and the loss."""


class Learned(NamedTuple):
    """Parameters of one network and their Adam moments."""

    params: Any
    moments: Any


def start_adam(params: Any) -> Learned:
    """Parameters with Adam at its start, all in NumPy: ``optax`` would compile small programs for it."""
    zeros = jax.tree_util.tree_map(np.zeros_like, params)
    return Learned(params, optax.ScaleByAdamState(count=np.zeros((), np.int32), mu=zeros, nu=zeros))  # type: ignore[arg-type]


def adam_step(
    learned: Learned, gradient: Any, learning_rate: Any, *, b1: float = 0.9, max_norm: float | None = None
) -> Learned:
    """One update by Adam, after scaling a `gradient` longer than `max_norm` down to it."""
    if max_norm is not None:
        gradient, _ = optax.clip_by_global_norm(max_norm).update(gradient, optax.EmptyState())
    direction, moments = optax.scale_by_adam(b1=b1).update(gradient, learned.moments)
    params = jax.tree_util.tree_map(lambda p, d: p - learning_rate * d, learned.params, direction)
    return Learned(params, moments)


def fit(
    recipe: Recipe,
    state: Any,
    rows: np.ndarray,
    *,
    batch_size: int,
    n_steps: int,
    rng: np.random.Generator,
    label: str = "the generator",
    progress: ProgressCallback | None = None,
) -> tuple[Any, np.ndarray]:
    """Train; return the final state in NumPy and the loss of every step.

    Parameters
    ----------
    recipe
        What a step does.
    state
        Where to start.
    rows
        Training rows, all columns side by side.
    batch_size
        Rows of a mini-batch; fewer when there are fewer rows.
    n_steps
        Number of steps.
    rng
        Source of mini-batches and of the noise inside the steps.
    label
        Name of what is trained, for error messages.
    progress
        Called with the number of steps done and the number in total.

    Raises
    ------
    TrainingDivergedError
        At the first loss, or for final parameters, that are not finite.
    """
    if n_steps < 1 or batch_size < 2:
        raise ParameterError(
            f"n_steps must be at least 1 and batch_size at least 2, got {n_steps!r} and {batch_size!r}"
        )
    use_persistent_cache()
    rows = np.asarray(rows, dtype=np.float32)
    batch = effective_batch_size(len(rows), batch_size)
    stream = _row_numbers(len(rows), recipe.batches_per_step * batch, rng)
    # Of JAX's generators the one whose code compiles in half the time.
    key = jax.random.key(int(rng.integers(2**32)), impl="rbg")
    losses = np.empty(n_steps)
    for start in range(0, n_steps, CHUNK):
        count = min(CHUNK, n_steps - start)
        chosen = np.zeros((CHUNK, recipe.batches_per_step, batch), dtype=np.intp)
        for k in range(count):
            chosen[k] = next(stream).reshape(chosen.shape[1:])
        with jax.default_matmul_precision("highest"):
            state, now = _run_chunk(recipe, state, rows[chosen], key, start, count)
        losses[start : start + count] = np.asarray(now)[:count]
        _check_finite(losses[start : start + count], start, n_steps, label)
        if progress is not None:
            progress(start + count, n_steps)
    state = jax.tree_util.tree_map(np.asarray, state)
    sound = all(np.isfinite(leaf).all() for leaf in jax.tree_util.tree_leaves(state))
    _check_finite(np.array([0.0 if sound else np.nan]), n_steps - 1, n_steps, label)
    return state, losses


@jax.jit
def _run_chunk(
    recipe: Recipe, state: Any, batches: jax.Array, key: jax.Array, start: Any, count: Any
) -> tuple[Any, jax.Array]:
    """Run the first `count` of a chunk of steps; the number of the step goes into its key."""

    def step(k: Any, carried: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        state, losses = carried
        state, loss = recipe.step(state, batches[k], jax.random.fold_in(key, start + k))
        return state, losses.at[k].set(loss)

    return jax.lax.fori_loop(0, count, step, (state, jnp.zeros(len(batches), jnp.float32)))


def _row_numbers(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Walk through one shuffle of the rows after another, `size` at a time."""
    left = np.empty(0, dtype=np.intp)
    while True:
        while len(left) < size:
            left = np.concatenate([left, rng.permutation(n)])
        yield left[:size]
        left = left[size:]


def _check_finite(losses: np.ndarray, start: int, n_steps: int, label: str) -> None:
    bad = np.flatnonzero(~np.isfinite(losses))
    if bad.size:
        raise TrainingDivergedError(
            f"Training of {label} stopped: the loss is not finite at step {start + int(bad[0]) + 1} of"
            f" {n_steps}. Likely cause: a learning rate that is too large for these data; lower it."
        )
