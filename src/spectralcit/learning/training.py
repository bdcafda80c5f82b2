"""The compiled training loop below all learned tests.

`run_steps` runs the steps of a `Loop` in compiled chunks, reports how far it is and watches for divergence;
`fit` does so for a `Recipe` that looks at mini-batches of one sample. A compilation depends on the shape of a
step's input and not on the number of rows or steps, and numbers such as learning rates are arguments of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..errors import ParameterError, TrainingDivergedError
from ..progress import Report
from .batches import effective_batch_size, shuffled_batches
from .compile_cache import use_persistent_cache

__all__ = ["CHUNK", "Learned", "Loop", "Recipe", "adam_step", "fit", "run_steps", "start_adam"]

# Steps in one call of the compiled function. By hand: a smooth progress bar, and little time spent in Python.
CHUNK = 100


class Loop(Protocol):
    """What one step does, for one problem or several; an `equinox.Module` with what is compiled as static."""

    def step(self, state: Any, now: Any, number: Any) -> tuple[Any, jax.Array]:
        """Return the state after step `number` on its input `now`, and the loss, one for each problem."""


class Recipe(Protocol):
    """What a step on mini-batches does. An `equinox.Module`, whose static fields decide what is compiled."""

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


def run_steps(
    loop: Loop,
    state: Any,
    inputs: Callable[[int], Any],
    n_steps: int,
    *,
    diverged: Callable[[int, tuple[int, ...]], TrainingDivergedError],
    report: Report | None = None,
) -> tuple[Any, np.ndarray]:
    """Train; return the final state in NumPy and the losses, of shape (n_steps,) plus that of the problems.

    ``inputs(count)`` gives the inputs of the next `count` steps as arrays whose first axis is the step.
    ``diverged(step, problem)`` makes the error for the first loss or final parameter that is not finite.
    """
    use_persistent_cache()
    losses = []
    for start in range(0, n_steps, CHUNK):
        count = min(CHUNK, n_steps - start)
        # Always a whole chunk, the end of which is not looked at: one shape, one compilation.
        chunk = jax.tree_util.tree_map(lambda leaf, count=count: _filled(leaf, count), inputs(count))
        # Full float32 products also on devices whose default is shorter.
        with jax.default_matmul_precision("highest"):
            state, now = _run_chunk(loop, state, chunk, start, count)
        losses.append(np.asarray(now)[:count].astype(np.float64))
        bad = np.argwhere(~np.isfinite(losses[-1]))
        if bad.size:
            raise diverged(start + int(bad[0, 0]), tuple(bad[0, 1:].tolist()))
        if report is not None:
            report(start + count, n_steps)
    state = jax.tree_util.tree_map(np.asarray, state)
    # The last update comes after the last loss.
    problems = losses[-1].shape[1:]
    for leaf in jax.tree_util.tree_leaves(state):
        sound = np.isfinite(leaf).reshape(*problems, -1).all(axis=-1)
        if not sound.all():
            raise diverged(n_steps - 1, tuple(np.argwhere(~sound)[0].tolist()))
    return state, np.concatenate(losses)


def _filled(leaf: np.ndarray, count: int) -> np.ndarray:
    return np.pad(leaf, [(0, CHUNK - count)] + [(0, 0)] * (leaf.ndim - 1))


@jax.jit
def _run_chunk(loop: Loop, state: Any, inputs: Any, start: Any, count: Any) -> tuple[Any, jax.Array]:
    """Run the first `count` of a chunk of steps."""

    def one(k: Any, state: Any) -> tuple[Any, jax.Array]:
        return loop.step(state, jax.tree_util.tree_map(lambda leaf: leaf[k], inputs), start + k)

    def step(k: Any, carried: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
        state, loss = one(k, carried[0])
        return state, carried[1].at[k].set(loss)

    shape = jax.eval_shape(one, 0, state)[1].shape
    return jax.lax.fori_loop(0, count, step, (state, jnp.zeros((CHUNK, *shape), jnp.float32)))


class _Keyed(eqx.Module):
    """A recipe whose noise at a step depends on one key and the number of the step."""

    recipe: Any
    key: jax.Array

    def step(self, state: Any, now: jax.Array, number: Any) -> tuple[Any, jax.Array]:
        return self.recipe.step(state, now, jax.random.fold_in(self.key, number))


def fit(
    recipe: Recipe,
    state: Any,
    rows: np.ndarray,
    *,
    batch_size: int,
    n_steps: int,
    rng: np.random.Generator,
    label: str = "the generator",
    report: Report | None = None,
) -> tuple[Any, np.ndarray]:
    """Train on mini-batches of `rows`; return the final state in NumPy and the loss of every step."""
    if n_steps < 1 or batch_size < 2:
        raise ParameterError(
            f"n_steps must be at least 1 and batch_size at least 2, got {n_steps!r} and {batch_size!r}"
        )
    rows = np.asarray(rows, dtype=np.float32)
    shape = (recipe.batches_per_step, effective_batch_size(len(rows), batch_size))
    stream = shuffled_batches(rng, len(rows), shape[0] * shape[1], keep_rest=True)
    # Of JAX's generators the one whose code compiles in half the time.
    key = jax.random.key(int(rng.integers(2**32)), impl="rbg")

    def diverged(step: int, problem: tuple[int, ...]) -> TrainingDivergedError:
        return TrainingDivergedError(
            f"Training of {label} stopped: the loss is not finite at step {step + 1} of {n_steps}. Likely "
            "cause: a learning rate that is too large for these data; lower it."
        )

    def inputs(count: int) -> np.ndarray:
        return rows[np.stack([next(stream).reshape(shape) for _ in range(count)])]

    return run_steps(_Keyed(recipe, key), state, inputs, n_steps, diverged=diverged, report=report)
