"""The bi-level training loop, compiled once per shape.

A training run is a *schedule* of small steps, each of which updates the inner
model ``(w, N)``, updates the outer model ``(u, v, M)``, or does nothing:
``n_warmup`` inner updates, then ``n_steps_inner`` inner updates before every
outer update. The compiled function scans over a fixed number of scheduled
steps, so one compilation serves the warm-up, any number of epochs and any
``n_steps_inner``; learning rates, penalties and clipping are arguments of it,
not constants in it. The number of rows is rounded up (the extra rows are never
drawn), so a few rows more or less compile nothing either.

Parameters travel as one flat vector per level: Adam is then one loop over
memory instead of a dozen, which halves the time to compile.

Mini-batches are drawn without replacement: each level walks through its own
shuffles of the training rows, and the incomplete batch at the end of a shuffle
is dropped. An epoch is one such walk of the outer model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from ..errors import TooFewRowsError, TrainingDivergedError
from .compile_cache import use_persistent_cache
from .config import PaperConfig, Regularizer
from .losses import inner_loss, outer_loss, penalty
from .networks import InnerParams, OuterParams, Template, init_params
from .whiten import FloatArray

#: Called with (steps done, steps in total) after every ``CHUNK`` steps.
ProgressCallback = Callable[[int, int], None]

#: Scheduled steps in one call of the compiled function. Small enough for a
#: smooth progress bar, large enough that returning to Python costs nothing.
CHUNK = 100

IDLE, INNER, OUTER = 0, 1, 2

_ADAM = optax.scale_by_adam()


@dataclass(frozen=True)
class TrainingProblem:
    """Standardised training rows of one problem and the seed of its randomness.

    ``z`` is None for the unconditional problem; ``label`` names the problem in error messages.
    """

    x: FloatArray
    y: FloatArray
    z: FloatArray | None
    seed: np.random.SeedSequence
    label: str = ""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Rows and columns (n, p_x, p_y, p_z); problems of equal shape train together."""
        n_z = 0 if self.z is None else self.z.shape[1]
        return (self.x.shape[0], self.x.shape[1], self.y.shape[1], n_z)


@dataclass(frozen=True)
class TrainedModel:
    """Final parameters (as NumPy arrays) and the loss at every update of each level."""

    outer: OuterParams
    inner: InnerParams | None
    outer_curve: FloatArray
    inner_curve: FloatArray


def train(
    problems: Sequence[TrainingProblem],
    config: PaperConfig,
    progress: ProgressCallback | None = None,
) -> list[TrainedModel]:
    """Train problems of one shape side by side.

    Parameters
    ----------
    problems : sequence of TrainingProblem
        All of the same ``shape``; one problem is a sequence of length one.
    config : PaperConfig
    progress : callable, optional
        Called with the number of steps done and the number in total.

    Returns
    -------
    list of TrainedModel
        In the order of ``problems``.

    Raises
    ------
    TrainingDivergedError
        At the first loss that is not finite.

    References
    ----------
    .. [1] SpectralCIT paper, algorithm 1 and "Implementation details".
    """
    use_persistent_cache()
    shape = problems[0].shape
    n_rows, conditional = shape[0], problems[0].z is not None
    batch = effective_batch_size(n_rows, config.batch_size)
    kinds = schedule(n_rows, batch, config, conditional=conditional)
    streams = [_Streams(problem.seed, n_rows, batch) for problem in problems]
    starts = [init_params(stream.weights, *shape[1:], config) for stream in streams]
    plan = _Plan(
        outer=Template.of(starts[0][0]),
        inner=Template.of(starts[0][1]) if conditional else None,
        regularizer=config.regularizer,
        n_x=shape[1],
        n_y=shape[2],
    )
    state = _stack([_initial_state(plan, *start) for start in starts])
    rows = np.stack([_padded_rows(problem) for problem in problems])
    knobs = _knobs(config)

    losses = np.empty((len(problems), len(kinds)))
    for start in range(0, len(kinds), CHUNK):
        stop = min(start + CHUNK, len(kinds))
        now = np.full(CHUNK, IDLE, dtype=np.int32)
        now[: stop - start] = kinds[start:stop]
        indices = np.stack([stream.indices(now) for stream in streams])
        # Full float32 products also on devices whose default is shorter.
        with jax.default_matmul_precision("highest"):
            state, chunk_losses = _run_chunk(rows, state, indices, now, knobs, plan)
        losses[:, start:stop] = np.asarray(chunk_losses)[:, : stop - start]
        _check_finite(losses[:, start:stop], start, kinds, config, problems)
        if progress is not None:
            progress(stop, len(kinds))

    outer, inner = np.asarray(state.outer), np.asarray(state.inner)
    return [
        TrainedModel(
            outer=plan.outer.unflatten(outer[k]),
            inner=plan.inner.unflatten(inner[k]) if plan.inner is not None else None,
            outer_curve=losses[k, kinds == OUTER],
            inner_curve=losses[k, kinds == INNER],
        )
        for k in range(len(problems))
    ]


def effective_batch_size(n_rows: int, batch_size: int) -> int:
    """``batch_size``, or the largest multiple of 32 that fits in fewer rows.

    The rounding keeps the shape, and with it the compiled loop, the same for
    neighbouring numbers of rows; the rows left out differ from shuffle to
    shuffle.

    Examples
    --------
    >>> [effective_batch_size(n, 256) for n in (1000, 200, 20)]
    [256, 192, 20]
    """
    if n_rows < 2:
        raise TooFewRowsError(
            f"{n_rows} training rows; the losses compare pairs of rows and need at least 2."
        )
    if batch_size <= n_rows:
        return max(2, batch_size)
    return n_rows if n_rows < 32 else n_rows - n_rows % 32


def schedule(n_rows: int, batch: int, config: PaperConfig, *, conditional: bool) -> np.ndarray:
    """The kind of every step of a training run, in order.

    Examples
    --------
    >>> config = PaperConfig(n_epochs=1, n_warmup=2, n_steps_inner=1)
    >>> schedule(512, 256, config, conditional=True).tolist()
    [1, 1, 1, 2, 1, 2]
    >>> schedule(512, 256, config, conditional=False).tolist()
    [2, 2]
    """
    n_outer = config.n_epochs * (n_rows // batch)
    if not conditional:
        return np.full(n_outer, OUTER, dtype=np.int32)
    period = [INNER] * config.n_steps_inner + [OUTER]
    return np.array([INNER] * config.n_warmup + period * n_outer, dtype=np.int32)


class _Streams:
    """The random choices of one problem: weights, inner batches, outer batches.

    Three independent generators, so that for instance a longer warm-up does
    not change the batches that the outer model sees.
    """

    def __init__(self, seed: np.random.SeedSequence, n_rows: int, batch: int) -> None:
        # A fresh copy: spawn() counts its children, and training the same
        # problem twice must draw the same numbers.
        fresh = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key)
        weights, inner, outer = (np.random.default_rng(child) for child in fresh.spawn(3))
        self.weights = weights
        self._batch = batch
        self._walks = {
            INNER: _shuffled_batches(inner, n_rows, batch),
            OUTER: _shuffled_batches(outer, n_rows, batch),
        }

    def indices(self, kinds: np.ndarray) -> np.ndarray:
        """Row numbers (len(kinds), batch); idle steps get row 0, which they ignore."""
        out = np.zeros((len(kinds), self._batch), dtype=np.int32)
        for k, kind in enumerate(kinds):
            if kind != IDLE:
                out[k] = next(self._walks[int(kind)])
        return out


def _shuffled_batches(rng: np.random.Generator, n_rows: int, batch: int) -> Iterator[np.ndarray]:
    while True:
        order = rng.permutation(n_rows)
        for start in range(0, n_rows - batch + 1, batch):
            yield order[start : start + batch]


class _State(NamedTuple):
    """Flat parameters of both levels and their Adam moments."""

    outer: Any
    outer_adam: Any
    inner: Any = None
    inner_adam: Any = None


class _Plan(NamedTuple):
    """What a compilation depends on besides shapes."""

    outer: Template
    inner: Template | None
    regularizer: Regularizer
    n_x: int
    n_y: int

    def columns(self, batch: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The inputs of ``u``, ``v`` and ``w``."""
        return batch[:, : self.n_x], batch[:, self.n_x :], batch[:, self.n_x + self.n_y :]


class _Knobs(NamedTuple):
    """Numbers that the compiled function takes as arguments."""

    lr_inner: Any
    lr_outer: Any
    reg_str_inner: Any
    reg_str_outer: Any
    clip_norm: Any


def _knobs(config: PaperConfig) -> _Knobs:
    values = [getattr(config, name) for name in _Knobs._fields]
    return _Knobs(*(np.float32(np.inf if value is None else value) for value in values))


def _padded_rows(problem: TrainingProblem) -> np.ndarray:
    """All columns side by side (one gather per step fetches a batch of them), with unused rows at the end."""
    blocks = [problem.x, problem.y] if problem.z is None else [problem.x, problem.y, problem.z]
    rows = np.concatenate(blocks, axis=1, dtype=np.float32, casting="same_kind")
    # Steps of an eighth of the size: at most 1/8 of unused memory, and only
    # eight different compilations between n and 2 n.
    grain = max(64, 1 << max(0, len(rows).bit_length() - 4))
    return np.pad(rows, ((0, -len(rows) % grain), (0, 0)))


def _initial_state(plan: _Plan, outer: OuterParams, inner: InnerParams | None) -> _State:
    def start(template: Template, params: Any) -> tuple[np.ndarray, optax.ScaleByAdamState]:
        flat = template.flatten(params)
        # What _ADAM.init returns, in NumPy: calling it would compile small programs.
        zeros = np.zeros_like(flat)
        adam = optax.ScaleByAdamState(count=np.zeros((), np.int32), mu=zeros, nu=zeros)  # type: ignore[arg-type]
        return flat, adam

    if plan.inner is None:
        return _State(*start(plan.outer, outer))
    return _State(*start(plan.outer, outer), *start(plan.inner, inner))


def _stack(trees: list[Any]) -> Any:
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *trees)


@partial(jax.jit, static_argnames="plan")
def _run_chunk(
    rows: jax.Array,
    state: _State,
    indices: jax.Array,
    kinds: jax.Array,
    knobs: _Knobs,
    plan: _Plan,
) -> tuple[_State, jax.Array]:
    """Run ``CHUNK`` scheduled steps of every problem; the leading axis is the problem."""
    one = partial(_scan_steps, kinds=kinds, knobs=knobs, plan=plan)
    if indices.shape[0] == 1:
        # A mapped axis of length one costs a second of compilation and buys nothing.
        only = jax.tree_util.tree_map(lambda leaf: leaf[0], (rows, state, indices))
        return jax.tree_util.tree_map(lambda leaf: leaf[None], one(*only))
    # The schedule is not mapped over, so that the switch inside stays a switch
    # (a mapped one would run every branch at every step).
    return jax.vmap(one)(rows, state, indices)


def _scan_steps(
    rows: jax.Array,
    state: _State,
    indices: jax.Array,
    *,
    kinds: jax.Array,
    knobs: _Knobs,
    plan: _Plan,
) -> tuple[_State, jax.Array]:
    inner = _no_update if plan.inner is None else partial(_inner_update, knobs=knobs, plan=plan)
    outer = partial(_outer_update, knobs=knobs, plan=plan)

    def step(state: _State, now: tuple[jax.Array, jax.Array]) -> tuple[_State, jax.Array]:
        kind, chosen = now
        return jax.lax.switch(kind, [_no_update, inner, outer], state, rows[chosen])

    return jax.lax.scan(step, state, (kinds, indices))


def _no_update(state: _State, batch: jax.Array) -> tuple[_State, jax.Array]:
    return state, jnp.zeros((), batch.dtype)


def _inner_update(state: _State, batch: jax.Array, *, knobs: _Knobs, plan: _Plan) -> tuple[_State, jax.Array]:
    assert plan.inner is not None  # the schedule has no inner step without z
    x, yz, z = plan.columns(batch)
    outer = plan.outer.unflatten(state.outer)
    u, v = outer.u(x), outer.v(yz)

    def objective(inner: InnerParams) -> jax.Array:
        w = inner.w(z)
        fit = inner_loss(u, v, w, outer.m, inner.n)
        return fit + knobs.reg_str_inner * penalty(w, plan.regularizer)

    loss, gradient = jax.value_and_grad(objective)(plan.inner.unflatten(state.inner))
    inner, adam = _adam_update(
        state.inner,
        plan.inner.flatten(gradient),
        state.inner_adam,
        knobs.lr_inner,
        knobs.clip_norm,
    )
    return state._replace(inner=inner, inner_adam=adam), loss


def _outer_update(state: _State, batch: jax.Array, *, knobs: _Knobs, plan: _Plan) -> tuple[_State, jax.Array]:
    x, yz, z = plan.columns(batch)
    w = None if plan.inner is None else plan.inner.unflatten(state.inner).w(z)

    def objective(outer: OuterParams) -> jax.Array:
        u, v = outer.u(x), outer.v(yz)
        orthonormality = penalty(u, plan.regularizer) + penalty(v, plan.regularizer)
        return outer_loss(u, v, w, outer.m) + knobs.reg_str_outer * orthonormality

    loss, gradient = jax.value_and_grad(objective)(plan.outer.unflatten(state.outer))
    outer, adam = _adam_update(
        state.outer,
        plan.outer.flatten(gradient),
        state.outer_adam,
        knobs.lr_outer,
        knobs.clip_norm,
    )
    return state._replace(outer=outer, outer_adam=adam), loss


def _adam_update(
    params: jax.Array, gradient: jax.Array, adam: Any, learning_rate: Any, clip_norm: Any
) -> tuple[jax.Array, Any]:
    norm = jnp.sqrt(jnp.sum(gradient**2))
    gradient = gradient * jnp.where(norm > clip_norm, clip_norm / norm, 1.0)
    direction, adam = _ADAM.update(gradient, adam)
    return params - learning_rate * direction, adam


def _check_finite(
    losses: np.ndarray,
    start: int,
    kinds: np.ndarray,
    config: PaperConfig,
    problems: Sequence[TrainingProblem],
) -> None:
    bad = np.argwhere(~np.isfinite(losses))
    if bad.size == 0:
        return
    problem, offset = bad[np.argmin(bad[:, 1])]
    step = start + int(offset)
    level = "inner" if kinds[step] == INNER else "outer"
    label = problems[int(problem)].label
    which = f" of {label}" if label else ""
    # Either loss sees the features of both levels, so the level that failed need not be the one to blame.
    cause = (
        f"a learning rate that is too large for these data (lr_inner={config.lr_inner:g},"
        f" lr_outer={config.lr_outer:g}); lower it, or set clip_norm=5.0"
    )
    if config.regularizer == "log-frobenius":
        cause += '; or features that became dependent, which regularizer="frobenius" bears better'
    raise TrainingDivergedError(
        f"Training stopped: the {level} loss{which} is not finite at step {step + 1} of"
        f" {len(kinds)}. Likely cause: {cause}."
    )
