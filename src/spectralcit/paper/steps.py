"""One update of the inner or the outer model.

Parameters travel as one flat vector per level: Adam is then one loop over memory instead of a dozen, which
halves the time to compile.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..learning.training import Learned, adam_step, start_adam
from .config import Matrices, PairTerms, PaperConfig, Regularizer
from .losses import inner_loss, outer_loss, penalty
from .matrices import inner_matrix, outer_matrix
from .networks import InnerParams, OuterParams, Template
from .schedule import INNER

__all__ = ["Bilevel", "Knobs", "Plan", "State", "initial_state"]


class State(NamedTuple):
    """Flat parameters of both levels and their Adam moments."""

    outer: Learned
    inner: Learned | None = None


class Plan(NamedTuple):
    """What a compilation depends on besides shapes."""

    outer: Template
    inner: Template | None
    regularizer: Regularizer
    matrices: Matrices
    pair_terms: PairTerms
    n_x: int
    n_y: int

    def columns(self, batch: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The inputs of ``u``, ``v`` and ``w``."""
        return batch[:, : self.n_x], batch[:, self.n_x :], batch[:, self.n_x + self.n_y :]


class Knobs(NamedTuple):
    """Numbers that the compiled function takes as arguments."""

    lr_inner: Any
    lr_outer: Any
    reg_str_inner: Any
    reg_str_outer: Any
    clip_norm: Any

    @classmethod
    def of(cls, config: PaperConfig) -> Knobs:
        """Those of `config` in single precision; no clipping is clipping at infinity."""
        values = [getattr(config, name) for name in cls._fields]
        return cls(*(np.float32(np.inf if value is None else value) for value in values))


def initial_state(plan: Plan, outer: OuterParams, inner: InnerParams | None) -> State:
    """Flat parameters with Adam at its start."""
    start = start_adam(plan.outer.flatten(outer))
    return State(start, None if plan.inner is None else start_adam(plan.inner.flatten(inner)))


class Bilevel(eqx.Module):
    """The loop of `run_steps` for problems side by side: their rows, and how a step of each kind goes."""

    rows: jax.Array  # of shape (problems, rows, columns)
    knobs: Knobs
    plan: Plan = eqx.field(static=True)

    def step(self, state: State, now: tuple[jax.Array, jax.Array], number: Any) -> tuple[State, jax.Array]:
        """One step of the kind that is scheduled, on the chosen rows of every problem."""
        kind, chosen = now
        one = partial(self._step_one, kind)
        if len(self.rows) == 1:
            # A mapped axis of length one costs a second of compilation and buys nothing.
            only = jax.tree_util.tree_map(lambda leaf: leaf[0], (self.rows, state, chosen))
            return jax.tree_util.tree_map(lambda leaf: leaf[None], one(*only))
        # The kind is not mapped over, so that the switch inside stays a switch (a mapped one would run every
        # branch at every step).
        return jax.vmap(one)(self.rows, state, chosen)

    def _step_one(
        self, kind: jax.Array, rows: jax.Array, state: State, chosen: jax.Array
    ) -> tuple[State, jax.Array]:
        knobs, plan = self.knobs, self.plan
        inner = _no_update if plan.inner is None else partial(_update_inner, knobs=knobs, plan=plan)
        outer = partial(_update_outer, knobs=knobs, plan=plan)
        return jax.lax.switch(kind - INNER, [inner, outer], state, rows[chosen])


def _no_update(state: State, batch: jax.Array) -> tuple[State, jax.Array]:
    return state, jnp.zeros((), batch.dtype)


def _update_inner(state: State, batch: jax.Array, *, knobs: Knobs, plan: Plan) -> tuple[State, jax.Array]:
    assert plan.inner is not None  # no inner step is scheduled without z
    assert state.inner is not None
    x, yz, z = plan.columns(batch)
    outer = plan.outer.unflatten(state.outer.params)
    u, v, m = outer.u(x), outer.v(yz), outer_matrix(outer.m, plan.matrices)

    def objective(inner: InnerParams) -> jax.Array:
        w, n = inner.w(z), inner_matrix(inner.n_raw, plan.matrices)
        fit = inner_loss(u, v, w, m, n, plan.pair_terms)
        return fit + knobs.reg_str_inner * penalty(w, plan.regularizer)

    loss, gradient = jax.value_and_grad(objective)(plan.inner.unflatten(state.inner.params))
    clipped = _clipped(plan.inner.flatten(gradient), knobs.clip_norm)
    return state._replace(inner=adam_step(state.inner, clipped, knobs.lr_inner)), loss


def _update_outer(state: State, batch: jax.Array, *, knobs: Knobs, plan: Plan) -> tuple[State, jax.Array]:
    x, yz, z = plan.columns(batch)
    w = None
    if plan.inner is not None and state.inner is not None:
        w = plan.inner.unflatten(state.inner.params).w(z)

    def objective(outer: OuterParams) -> jax.Array:
        u, v = outer.u(x), outer.v(yz)
        orthonormality = penalty(u, plan.regularizer) + penalty(v, plan.regularizer)
        m = outer_matrix(outer.m, plan.matrices)
        return outer_loss(u, v, w, m, plan.pair_terms) + knobs.reg_str_outer * orthonormality

    loss, gradient = jax.value_and_grad(objective)(plan.outer.unflatten(state.outer.params))
    clipped = _clipped(plan.outer.flatten(gradient), knobs.clip_norm)
    return state._replace(outer=adam_step(state.outer, clipped, knobs.lr_outer)), loss


def _clipped(gradient: jax.Array, clip_norm: Any) -> jax.Array:
    # Not the clipping of `adam_step`: here the norm is an argument of the compiled code, which optax rounds
    # in another order.
    norm = jnp.sqrt(jnp.sum(gradient**2))
    return gradient * jnp.where(norm > clip_norm, clip_norm / norm, 1.0)
