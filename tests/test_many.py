import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from spectralcit import BaseCITest, NullDistribution, Outcome
from spectralcit.errors import (
    ConstantColumnError,
    ParameterError,
    TooFewRowsError,
    TrainingDivergedError,
    UnknownColumnError,
)
from spectralcit.many import problem_seeds
from spectralcit.many import test_many as run_many
from spectralcit.paper import groups
from spectralcit.paper.test import PaperSpectralCIT

SMALL = {
    "output_dim": 3,
    "n_hidden_u": 1,
    "n_hidden_v": 1,
    "n_hidden_w": 1,
    "layer_size_u": 16,
    "layer_size_v": 16,
    "layer_size_w": 16,
    "n_epochs": 30,
    "lr_outer": 1e-2,
}


def problems(count, n=300, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=n), rng.normal(size=n), rng.normal(size=(n, 2))) for _ in range(count)]


def pvalues(results):
    return [result.pvalue for result in results]


def one_by_one(test, tasks, random_state):
    seeds = problem_seeds(random_state, len(tasks))
    return [
        clone(test).set_params(random_state=seed).test(*task) for seed, task in zip(seeds, tasks, strict=True)
    ]


def test_trained_together_equals_one_by_one():
    test, tasks = PaperSpectralCIT(**SMALL), problems(5)
    together, alone = run_many(tasks, test=test, random_state=3), one_by_one(test, tasks, 3)
    np.testing.assert_allclose(pvalues(together), pvalues(alone), atol=1e-4)
    assert [r.seed for r in together] == [r.seed for r in alone]
    assert [r.method for r in together] == ["spectral-paper"] * 5
    assert all(r.seconds > 0 for r in together)


def test_shapes_may_be_mixed_and_order_is_kept():
    rng = np.random.default_rng(1)
    tasks = problems(2)
    tasks.insert(1, (rng.normal(size=300), rng.normal(size=300)))
    tasks.append({"x": rng.normal(size=260), "y": rng.normal(size=260), "z": rng.normal(size=(260, 2))})
    test = PaperSpectralCIT(**SMALL)
    results = run_many(tasks, test=test, random_state=0)
    tasks[-1] = tuple(tasks[-1].values())
    np.testing.assert_allclose(pvalues(results), pvalues(one_by_one(test, tasks, 0)), atol=1e-4)
    assert [r.n for r in results] == [300, 300, 300, 260]


def test_number_of_jobs_changes_nothing(monkeypatch):
    # Groups of two, so that there is something to distribute.
    monkeypatch.setattr(groups, "_GROUP_SIZE", 2)
    test, tasks = PaperSpectralCIT(**SMALL), problems(5)
    first, second = (run_many(tasks, test=test, random_state=0, n_jobs=jobs) for jobs in (1, 2))
    assert pvalues(first) == pvalues(second)


def test_groups_respect_the_memory_limit(monkeypatch):
    monkeypatch.setattr(groups, "_GROUP_BYTES", 1)
    small = PaperSpectralCIT(**SMALL).config
    assert groups._group_capacity((1000, 1, 1, 5), small) == 1
    monkeypatch.undo()
    assert groups._group_capacity((1000, 1, 1, 5), small) == 16


def test_networks_whose_arithmetic_takes_the_time_train_one_after_another():
    """At the published width a group is slower than its members, see benchmarks/training_speed.py."""
    published, small = PaperSpectralCIT(), PaperSpectralCIT(**SMALL)
    assert (published.together, small.together) == (1, 16)
    assert groups._group_capacity((1000, 1, 1, 50), published.config) == 1
    assert groups.group_size(small.config, (1, 1, 5000)) == 1
    # By hand: u has 8 + 8 * 4 weights (2 outputs), v 2 * 8 + 8 * 4, w 8 + 8 * 8, times a batch.
    by_hand = {f"layer_size_{net}": 8 for net in "uvw"} | {f"n_hidden_{net}": 1 for net in "uvw"}
    config = PaperSpectralCIT(output_dim=4, batch_size=6_250, **by_hand).config
    assert groups.group_size(config) == 16
    assert groups.group_size(PaperSpectralCIT(output_dim=4, batch_size=6_251, **by_hand).config) == 1


def test_any_test_will_do(toy):
    tasks = problems(4)
    results = run_many(tasks, test=toy(offset=1.0), random_state=0)
    assert pvalues(results) == pvalues(one_by_one(toy(offset=1.0), tasks, 0))
    draws = [r.diagnostics["draw"] for r in results]
    assert len(set(draws)) == 4


def test_processes_agree_with_one_process_for_any_test():
    class Draw(BaseCITest):
        """Sent to the workers by value, as a class from a notebook would be."""

        def _run(self, data, seed):
            import numpy

            return Outcome(0.0, numpy.random.default_rng(seed).uniform(), NullDistribution("normal"))

    tasks = problems(4)
    first, second = (run_many(tasks, test=Draw(), random_state=0, n_jobs=jobs) for jobs in (1, 2))
    assert pvalues(first) == pvalues(second)
    assert [r.seed for r in first] == [r.seed for r in second]


def test_seeds_depend_on_the_position_only(toy):
    tasks = problems(3)
    longer, shorter = (
        run_many(tasks, test=toy(), random_state=5),
        run_many(tasks[:2], test=toy(), random_state=5),
    )
    assert [r.seed for r in longer[:2]] == [r.seed for r in shorter]
    assert len(set(problem_seeds(0, 1000))) == 1000


def test_the_tests_own_seed_is_used_when_none_is_given(toy):
    tasks = problems(2)
    by_test = run_many(tasks, test=toy(random_state=7))
    assert pvalues(by_test) == pvalues(run_many(tasks, test=toy(), random_state=7))
    unseeded = run_many(tasks, test=toy())
    assert [r.seed for r in unseeded] != [r.seed for r in run_many(tasks, test=toy())]


def test_no_problems_no_results(toy):
    assert run_many([], test=toy()) == []
    assert run_many([], test=PaperSpectralCIT()) == []


def test_progress_bar_counts_problems(toy, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    run_many(problems(3), test=toy(), random_state=0, progress=True)
    assert "Testing" in capsys.readouterr().err
    seen = []
    run_many(problems(3), test=toy(), random_state=0, progress=lambda *now: seen.append(now))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_test_may_run_its_problems_in_batches_of_its_own(toy):
    class Pairs(toy):
        def batches(self, datas):
            return [[0, 2], [1, 1]]  # the second is filled up

        def run_batch(self, datas, seeds, labels):
            seen.append(tuple(labels))
            return super().run_batch(datas, seeds, labels)

    seen, tasks = [], problems(3)
    results = run_many(tasks, test=Pairs(), random_state=0)
    assert seen == [("problem 0", "problem 2"), ("problem 1", "problem 1")]
    assert pvalues(results) == pvalues(one_by_one(toy(), tasks, 0))


@pytest.mark.parametrize("bad", [(1,), (1, 2, 3, 4), 5, {"x": [1]}, {"x": [1], "y": [2], "w": [3]}], ids=repr)
def test_malformed_problems_are_named(toy, bad):
    with pytest.raises(ParameterError, match="problem 1"):
        run_many([problems(1)[0], bad], test=toy())


def test_errors_come_through_with_the_number_of_the_problem():
    with pytest.raises(TrainingDivergedError, match="problem 0"):
        run_many(problems(2), test=PaperSpectralCIT(**(SMALL | {"lr_inner": 1e30})), random_state=0)
    with pytest.raises(TooFewRowsError):
        run_many(problems(2, n=22), test=PaperSpectralCIT(**SMALL), random_state=0)


def test_names_and_formulas_with_a_frame_equal_arrays(toy):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "c": ["u", "v", "w"] * 20})
    other = frame.assign(a=frame.a**2)
    arrays = [
        (frame.a, frame.b),
        (frame.a, frame.b, frame[["c"]]),
        (frame.b, frame.a, frame[["c"]]),
        (other.a, other.b),
    ]
    asked = [
        ("a", "b"),
        {"x": "a", "y": "b", "z": ["c"]},
        "a ~ b | c",
        {"x": "a", "y": "b", "data": other},
    ]
    for name in ("test", "method"):
        found = run_many(asked, data=frame, random_state=1, **{name: "toy"})
        assert pvalues(found) == pvalues(run_many(arrays, test=toy, random_state=1))
    assert [result.question.z for result in found] == [(), ("c",), ("c",), ()]
    grouped = run_many(
        [{"x": "a", "y": "b", "weights": "c"}], data=frame.assign(c=np.arange(1.0, 61.0)), test="gcm"
    )
    assert grouped[0].question.rows == (("weights", "c"),)
    with pytest.raises(UnknownColumnError, match=r"^problem 1: .*no column 'd'"):
        run_many([("a", "b"), ("a", "d")], data=frame, test=toy)
    with pytest.raises(ParameterError, match="two names"):
        run_many([("a", "b")], data=frame, test="toy", method="gcm")


def test_an_error_says_which_problem_it_is_about(toy):
    tasks = problems(3, n=60)
    tasks[1] = (np.ones(60), *tasks[1][1:])
    with pytest.raises(ConstantColumnError, match=r"^problem 1: .* is constant"):
        run_many(tasks, test=toy())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_test_that_fails_says_on_which_problem(jobs):
    class Fails(BaseCITest):
        """Sent to the workers by value, as a class from a notebook would be."""

        def _run(self, data, seed):
            if data.n == 61:
                raise ZeroDivisionError("nothing to divide by")
            return Outcome(0.0, 0.5, NullDistribution("normal"))

    tasks = [problems(1, n=n)[0] for n in (60, 60, 61)]
    with pytest.raises(ZeroDivisionError, match="nothing to divide by") as caught:
        run_many(tasks, test=Fails(), n_jobs=jobs)
    assert "in problem 2" in caught.value.__notes__


def test_results_of_many_do_not_keep_their_data(toy):
    assert run_many(problems(1), test=toy())[0].kept is None
