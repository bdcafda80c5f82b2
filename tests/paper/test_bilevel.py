import jax
import numpy as np
import optax
import pytest

from spectralcit.errors import TrainingDivergedError
from spectralcit.learning import training
from spectralcit.learning.training import CHUNK
from spectralcit.paper.bilevel import TrainingProblem, train
from spectralcit.paper.config import PaperConfig
from spectralcit.paper.losses import inner_loss, outer_loss, penalty
from spectralcit.paper.matrices import inner_matrix
from spectralcit.paper.networks import init_params

# One small architecture for all tests of this file, so that its loop is compiled once.
SMALL = {
    "output_dim": 3,
    "n_hidden_u": 1,
    "n_hidden_v": 1,
    "n_hidden_w": 1,
    "layer_size_u": 16,
    "layer_size_v": 16,
    "layer_size_w": 16,
    "batch_size": 64,
    "lr_inner": 1e-2,
    "lr_outer": 1e-2,
}


def config(**changes):
    return PaperConfig(**({"n_epochs": 2, "n_warmup": 3} | SMALL | changes))


def problem(n=200, n_z=2, seed=0, label=""):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 1))
    y = x + rng.normal(size=(n, 1))
    z = rng.normal(size=(n, n_z)) if n_z else None
    return TrainingProblem(x, y, z, np.random.SeedSequence(seed), label)


def reference_training(task, settings, batches):
    """Algorithm 1 of the paper, one step after another, with optax's own optimiser."""
    outer, inner = init_params(batches["weights"], 1, 1, task.z.shape[1], settings)

    def inner_objective(inner, outer, x, yz, z):
        w = inner.w(z)
        fit = inner_loss(outer.u(x), outer.v(yz), w, outer.m, inner_matrix(inner.n_raw, "free"))
        return fit + settings.reg_str_inner * penalty(w, settings.regularizer)

    def outer_objective(outer, inner, x, yz, z):
        u, v = outer.u(x), outer.v(yz)
        fit = outer_loss(u, v, inner.w(z), outer.m)
        return fit + settings.reg_str_outer * sum(penalty(f, settings.regularizer) for f in (u, v))

    def stepper(objective, rate, params):
        clip = np.inf if settings.clip_norm is None else settings.clip_norm
        optimiser = optax.chain(optax.clip_by_global_norm(clip), optax.adam(rate))

        @jax.jit
        def step(params, state, *fixed):
            updates, state = optimiser.update(jax.grad(objective)(params, *fixed), state)
            return optax.apply_updates(params, updates), state

        return step, optimiser.init(params)

    step_inner, inner_state = stepper(inner_objective, settings.lr_inner, inner)
    step_outer, outer_state = stepper(outer_objective, settings.lr_outer, outer)

    def rows(which):
        chosen = next(batches[which])
        x, y, z = (b[chosen].astype(np.float32) for b in (task.x, task.y, task.z))
        return x, np.concatenate([y, z], axis=1), z

    for _ in range(settings.n_warmup):
        inner, inner_state = step_inner(inner, inner_state, outer, *rows("inner"))
    for _ in range(settings.n_epochs * (len(task.x) // settings.batch_size)):
        for _ in range(settings.n_steps_inner):
            inner, inner_state = step_inner(inner, inner_state, outer, *rows("inner"))
        outer, outer_state = step_outer(outer, outer_state, inner, *rows("outer"))
    return outer, inner


def features(task, outer, inner):
    """Everything a model says: centred features and both matrices.

    Not its parameters: centring makes the gradient of the last bias zero up to rounding, so Adam moves it at
    random and to no effect.
    """
    raw = outer.u(task.x), outer.v(np.concatenate([task.y, task.z], axis=1)), inner.w(task.z)
    matrices = outer.m, inner_matrix(inner.n_raw, "free")
    return [*(np.asarray(f) - np.asarray(f).mean(axis=0) for f in raw), *matrices]


def assert_same_model(task, first, second, tolerance):
    for a, b in zip(features(task, *first), features(task, *second), strict=True):
        np.testing.assert_allclose(a, b, atol=tolerance)


def shuffled(rng, n, batch):
    while True:
        order = rng.permutation(n)
        yield from (order[k : k + batch] for k in range(0, n - batch + 1, batch))


@pytest.mark.parametrize("changes", [{"n_steps_inner": 2}, {"clip_norm": None}, {"clip_norm": 0.1}])
def test_compiled_loop_equals_the_algorithm_step_by_step(changes):
    task, settings = problem(), config(n_epochs=1, **changes)
    generators = [np.random.default_rng(s) for s in np.random.SeedSequence(0).spawn(3)]
    batches = {
        "weights": generators[0],
        "inner": shuffled(generators[1], 200, 64),
        "outer": shuffled(generators[2], 200, 64),
    }
    expected = reference_training(task, settings, batches)
    model = train([task], settings)[0]
    assert_same_model(task, (model.outer, model.inner), expected, 1e-4)


@pytest.mark.parametrize("regularizer", ["frobenius", "log-frobenius"])
def test_training_lowers_both_losses(regularizer):
    model = train([problem()], config(n_epochs=60, regularizer=regularizer))[0]
    for curve in (model.outer_curve, model.inner_curve):
        assert np.mean(curve[-20:]) < 0.7 * np.mean(curve[:5])


def test_curves_have_one_entry_per_update():
    model = train([problem()], config(n_epochs=4, n_warmup=7, n_steps_inner=2))[0]
    assert len(model.outer_curve) == 4 * 3
    assert len(model.inner_curve) == 7 + 2 * 12


def test_without_z_only_the_outer_model_is_trained():
    model = train([problem(n_z=0)], config())[0]
    assert model.inner is None
    assert len(model.inner_curve) == 0
    assert len(model.outer_curve) == 6


def test_same_seed_same_model_and_another_seed_another():
    first, second = (train([problem()], config())[0] for _ in range(2))
    for a, b in zip(jax.tree.leaves(first.outer), jax.tree.leaves(second.outer), strict=True):
        np.testing.assert_array_equal(a, b)
    task = problem()
    other = train([TrainingProblem(task.x, task.y, task.z, np.random.SeedSequence(1))], config())[0]
    assert (np.asarray(other.outer.m) != np.asarray(first.outer.m)).any()


def test_problems_trained_together_are_what_they_are_alone():
    tasks = [problem(seed=seed) for seed in range(3)]
    for together, task in zip(train(tasks, config()), tasks, strict=True):
        alone = train([task], config())[0]
        assert_same_model(task, (together.outer, together.inner), (alone.outer, alone.inner), 1e-4)
        np.testing.assert_allclose(together.outer_curve, alone.outer_curve, atol=1e-3)


def test_nothing_is_compiled_again_for_another_length_rate_or_neighbouring_number_of_rows():
    train([problem(200)], config())
    compilations = []
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compilations.append(event))
    train([problem(200, seed=5)], config())
    train([problem(203)], config(lr_outer=3e-3, reg_str_inner=1.0, clip_norm=None))
    train([problem(197)], config(n_epochs=40, n_warmup=0, n_steps_inner=3))
    assert not [event for event in compilations if "backend_compile" in event]
    train([problem(400)], config())
    assert [event for event in compilations if "backend_compile" in event]


def test_a_last_update_that_is_not_finite_is_noticed_too(monkeypatch):
    def losing_the_parameters(*arguments):
        state, losses = run_chunk(*arguments)
        lost = state.outer._replace(params=state.outer.params * np.nan)
        return state._replace(outer=lost), losses

    run_chunk = training._run_chunk
    monkeypatch.setattr(training, "_run_chunk", losing_the_parameters)
    with pytest.raises(TrainingDivergedError, match="step 15 of 15"):
        train([problem()], config())


def test_progress_counts_up_to_the_total():
    seen = []
    train([problem()], config(n_epochs=60), progress=lambda done, total: seen.append((done, total)))
    total = 3 + 2 * 180
    assert [t for _, t in seen] == [total] * len(seen)
    assert [d for d, _ in seen] == [*range(CHUNK, total, CHUNK), total]


def test_a_loss_that_is_not_finite_stops_with_the_step_and_the_cause():
    with pytest.raises(TrainingDivergedError, match=r"not finite at step \d+ of 363.*lr_outer=1e\+30"):
        train([problem()], config(n_epochs=60, lr_outer=1e30))
    with pytest.raises(
        TrainingDivergedError, match=r"inner loss of problem 4 is not finite.*lr_inner=1e\+30"
    ):
        train([problem(label="problem 4")], config(lr_inner=1e30))
