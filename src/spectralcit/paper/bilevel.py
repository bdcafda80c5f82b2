"""The bi-level training loop, compiled once per shape.

A training run is a *schedule* of small steps, each of which updates the inner model ``(w, N)``, updates the
outer model ``(u, v, M)``, or does nothing: ``n_warmup`` inner updates, then ``n_steps_inner`` inner updates
before every outer update. The compiled function scans over a fixed number of scheduled steps, so one
compilation serves the warm-up, any number of epochs and any ``n_steps_inner``; learning rates, penalties
and clipping are arguments of it, not constants in it. The number of rows is rounded up (the extra rows are
never drawn), so a few rows more or less compile nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..errors import TrainingDivergedError
from ..learning.compile_cache import use_persistent_cache
from ..numeric.whiten import FloatArray
from .config import PaperConfig
from .networks import InnerParams, OuterParams, Template, init_params
from .schedule import IDLE, INNER, OUTER, Streams, effective_batch_size, schedule
from .steps import Knobs, Plan, initial_state, run_chunk

__all__ = ["CHUNK", "ProgressCallback", "TrainedModel", "TrainingProblem", "train"]

#: Called with (steps done, steps in total) after every ``CHUNK`` steps.
ProgressCallback = Callable[[int, int], None]

#: Scheduled steps in one call of the compiled function. Small enough for a smooth progress bar, large enough
#: that returning to Python costs nothing.
CHUNK = 100


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
    streams = [Streams(problem.seed, n_rows, batch) for problem in problems]
    starts = [init_params(stream.weights, *shape[1:], config) for stream in streams]
    plan = Plan(
        outer=Template.of(starts[0][0]),
        inner=Template.of(starts[0][1]) if conditional else None,
        regularizer=config.regularizer,
        n_x=shape[1],
        n_y=shape[2],
    )
    state = _stack([initial_state(plan, *start) for start in starts])
    rows = jax.device_put(np.stack([_padded_rows(problem) for problem in problems]))  # once, not per chunk
    knobs = Knobs.of(config)

    losses = np.empty((len(problems), len(kinds)))
    for start in range(0, len(kinds), CHUNK):
        stop = min(start + CHUNK, len(kinds))
        now = np.full(CHUNK, IDLE, dtype=np.int32)
        now[: stop - start] = kinds[start:stop]
        indices = np.stack([stream.indices(now) for stream in streams])
        # Full float32 products also on devices whose default is shorter.
        with jax.default_matmul_precision("highest"):
            state, chunk_losses = run_chunk(rows, state, indices, now, knobs, plan)
        losses[:, start:stop] = np.asarray(chunk_losses)[:, : stop - start]
        _check_finite(losses[:, start:stop], start, kinds, config, problems)
        if progress is not None:
            progress(stop, len(kinds))

    outer = np.asarray(state.outer)
    inner = None if state.inner is None else np.asarray(state.inner)
    final = outer if inner is None else np.hstack([outer, inner])
    # The last update comes after the last loss.
    sound = np.isfinite(final).all(axis=1, keepdims=True)
    _check_finite(np.where(sound, 0.0, np.nan), len(kinds) - 1, kinds, config, problems)
    return [
        TrainedModel(
            outer=plan.outer.unflatten(outer[k]),
            inner=None if plan.inner is None or inner is None else plan.inner.unflatten(inner[k]),
            outer_curve=losses[k, kinds == OUTER],
            inner_curve=losses[k, kinds == INNER],
        )
        for k in range(len(problems))
    ]


def _padded_rows(problem: TrainingProblem) -> np.ndarray:
    """All columns side by side (one gather per step fetches a batch of them), with unused rows at the end."""
    blocks = [problem.x, problem.y] if problem.z is None else [problem.x, problem.y, problem.z]
    rows = np.concatenate(blocks, axis=1, dtype=np.float32, casting="same_kind")
    # Steps of an eighth of the size: at most 1/8 of unused memory, and only
    # eight different compilations between n and 2 n.
    grain = max(64, 1 << max(0, len(rows).bit_length() - 4))
    return np.pad(rows, ((0, -len(rows) % grain), (0, 0)))


def _stack(trees: list[Any]) -> Any:
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *trees)


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
