"""Bi-level training of problems side by side, compiled once per shape.

A training run is a *schedule* of small steps, each of which updates the inner model ``(w, N)`` or the outer
model ``(u, v, M)``: ``n_warmup`` inner updates, then ``n_steps_inner`` inner updates before every outer
update; `schedule` has the authors' variant. One compilation serves the warm-up, any number of epochs and any
``n_steps_inner``; learning rates, penalties and clipping are arguments of it, not constants in it. The number
of rows is rounded up (the extra rows are never drawn), so a few rows more or less compile nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ..errors import TrainingDivergedError
from ..learning.batches import effective_batch_size
from ..learning.training import run_steps
from ..numeric.whiten import FloatArray
from ..progress import Report
from .config import PaperConfig
from .networks import InnerParams, OuterParams, Template, init_params
from .problem import TrainingProblem
from .schedule import INNER, OUTER, Streams, schedule
from .steps import Bilevel, Knobs, Plan, initial_state

__all__ = ["TrainedModel", "TrainingProblem", "train"]


@dataclass(frozen=True)
class TrainedModel:
    """Final parameters (as NumPy arrays) and the loss at every update of each level."""

    outer: OuterParams
    inner: InnerParams | None
    outer_curve: FloatArray
    inner_curve: FloatArray


def train(
    problems: Sequence[TrainingProblem], config: PaperConfig, progress: Report | None = None
) -> list[TrainedModel]:
    """Train problems of one shape side by side: the paper's algorithm 1."""
    shape = problems[0].shape
    n_rows, conditional = shape[0], problems[0].z is not None
    batch = effective_batch_size(n_rows, config.batch_size)
    kinds = schedule(n_rows, batch, config, conditional=conditional)
    shared = config.epoch == "shared"
    streams = [Streams(problem.seed, n_rows, batch, shared=shared) for problem in problems]
    starts = [init_params(stream.weights, *shape[1:], config) for stream in streams]
    plan = Plan(
        outer=Template.of(starts[0][0]),
        inner=Template.of(starts[0][1]) if conditional else None,
        regularizer=config.regularizer,
        matrices=config.matrices,
        pair_terms=config.pair_terms,
        n_x=shape[1],
        n_y=shape[2],
    )
    rows = jax.device_put(np.stack([_padded_rows(problem) for problem in problems]))  # once, not per chunk
    scheduled = iter(kinds)

    def inputs(count: int) -> tuple[np.ndarray, np.ndarray]:
        now = np.array([next(scheduled) for _ in range(count)])
        return now, np.stack([stream.indices(now) for stream in streams], axis=1)

    def diverged(step: int, problem: tuple[int, ...]) -> TrainingDivergedError:
        return _diverged(step, kinds, config, problems[problem[0]].label)

    state, losses = run_steps(
        Bilevel(rows, Knobs.of(config), plan),
        _stack([initial_state(plan, *start) for start in starts]),
        inputs,
        len(kinds),
        diverged=diverged,
        report=progress,
    )
    return [
        TrainedModel(
            outer=plan.outer.unflatten(state.outer.params[k]),
            inner=None if plan.inner is None else plan.inner.unflatten(state.inner.params[k]),
            outer_curve=losses[kinds == OUTER, k],
            inner_curve=losses[kinds == INNER, k],
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


def _diverged(step: int, kinds: np.ndarray, config: PaperConfig, label: str) -> TrainingDivergedError:
    level = "inner" if kinds[step] == INNER else "outer"
    which = f" of {label}" if label else ""
    # Either loss sees the features of both levels, so the level that failed need not be the one to blame.
    cause = (
        f"a learning rate that is too large for these data (lr_inner={config.lr_inner:g},"
        f" lr_outer={config.lr_outer:g}); lower it, or set clip_norm=5.0"
    )
    if config.regularizer == "log-frobenius":
        cause += '; or features that became dependent, which regularizer="frobenius" bears better'
    return TrainingDivergedError(
        f"Training stopped: the {level} loss{which} is not finite at step {step + 1} of"
        f" {len(kinds)}. Likely cause: {cause}."
    )
