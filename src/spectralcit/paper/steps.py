"""One update of the inner or the outer model, and the compiled scan over many of them.

Parameters travel as one flat vector per level: Adam is then one loop over memory instead of a dozen, which
halves the time to compile.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from .config import PaperConfig, Regularizer
from .losses import inner_loss, outer_loss, penalty
from .networks import InnerParams, OuterParams, Template

__all__ = ["Knobs", "Plan", "State", "initial_state", "run_chunk"]

_ADAM = optax.scale_by_adam()


class State(NamedTuple):
    """Flat parameters of both levels and their Adam moments."""

    outer: Any
    outer_adam: Any
    inner: Any = None
    inner_adam: Any = None


class Plan(NamedTuple):
    """What a compilation depends on besides shapes."""

    outer: Template
    inner: Template | None
    regularizer: Regularizer
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
        values = [getattr(config, name) for name in cls._fields]
        with np.errstate(over="ignore"):  # an absurd number becomes infinite, and training reports it
            return cls(*(np.float32(np.inf if value is None else value) for value in values))


def initial_state(plan: Plan, outer: OuterParams, inner: InnerParams | None) -> State:
    """Flat parameters with Adam at its start."""

    def start(template: Template, params: Any) -> tuple[np.ndarray, optax.ScaleByAdamState]:
        flat = template.flatten(params)
        # What _ADAM.init returns, in NumPy: calling it would compile small programs.
        zeros = np.zeros_like(flat)
        adam = optax.ScaleByAdamState(count=np.zeros((), np.int32), mu=zeros, nu=zeros)  # type: ignore[arg-type]
        return flat, adam

    if plan.inner is None:
        return State(*start(plan.outer, outer))
    return State(*start(plan.outer, outer), *start(plan.inner, inner))


@partial(jax.jit, static_argnames="plan")
def run_chunk(
    rows: jax.Array,
    state: State,
    indices: jax.Array,
    kinds: jax.Array,
    knobs: Knobs,
    plan: Plan,
) -> tuple[State, jax.Array]:
    """Run the scheduled steps `kinds` of every problem; the leading axis of the rest is the problem."""
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
    state: State,
    indices: jax.Array,
    *,
    kinds: jax.Array,
    knobs: Knobs,
    plan: Plan,
) -> tuple[State, jax.Array]:
    inner = _no_update if plan.inner is None else partial(_inner_update, knobs=knobs, plan=plan)
    outer = partial(_outer_update, knobs=knobs, plan=plan)

    def step(state: State, now: tuple[jax.Array, jax.Array]) -> tuple[State, jax.Array]:
        kind, chosen = now
        return jax.lax.switch(kind, [_no_update, inner, outer], state, rows[chosen])

    return jax.lax.scan(step, state, (kinds, indices))


def _no_update(state: State, batch: jax.Array) -> tuple[State, jax.Array]:
    return state, jnp.zeros((), batch.dtype)


def _inner_update(state: State, batch: jax.Array, *, knobs: Knobs, plan: Plan) -> tuple[State, jax.Array]:
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


def _outer_update(state: State, batch: jax.Array, *, knobs: Knobs, plan: Plan) -> tuple[State, jax.Array]:
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
