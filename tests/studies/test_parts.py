from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from spectralcit.studies import ask, chance_given, prediction_gain, redrawn, rejections_of_redrawn

QUESTION = {"x": ["gene"], "y": "died", "z": ["age", "stage"]}


def patients(n=300, effect=0.0, seed=0):
    rng = np.random.default_rng(seed)
    age, gene = rng.normal(size=(2, n))
    stage = rng.choice(["I", "II", "III"], n)
    logit = 1.5 * age + (stage == "III") + effect * gene
    died = (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype(float)
    return pd.DataFrame({"gene": gene + age, "age": age, "stage": stage, "died": died}), 1 / (
        1 + np.exp(-logit)
    )


def test_prediction_gains_from_a_gene_that_speaks_and_not_from_one_that_does_not():
    for effect, gains in ((2.0, True), (0.0, False)):
        frame, _ = patients(effect=effect)
        found = {
            (g.model, g.measure): g
            for g in prediction_gain(frame, ["gene"], "died", ["age", "stage"], repeats=2)
        }
        assert set(found) == {
            (m, k) for m in ("logistic", "boosted trees") for k in ("accuracy", "AUC", "log loss")
        }
        for model in ("logistic", "boosted trees"):
            auc, loss = found[model, "AUC"], found[model, "log loss"]
            assert (auc.with_x - auc.without > 0.03) == gains
            assert (loss.without - loss.with_x > 0.03) == gains
            assert auc.without > 0.65  # age and stage say something


def test_the_auc_is_that_of_scikit_learn_on_the_same_splits():
    """The oracle: the library's own loop over the folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame, _ = patients()
    columns = np.column_stack(
        [frame["age"], *(frame["stage"] == level for level in ("I", "II", "III"))]
    ).astype(float)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, C=1.0))
    splits = StratifiedKFold(5, shuffle=True, random_state=3)
    chance = cross_val_predict(model, columns, frame["died"].astype(int), cv=splits, method="predict_proba")[
        :, 1
    ]
    gains = prediction_gain(frame, ["gene"], "died", ["age", "stage"], repeats=2, seed=3)
    splits = StratifiedKFold(5, shuffle=True, random_state=4)
    second = cross_val_predict(model, columns, frame["died"].astype(int), cv=splits, method="predict_proba")[
        :, 1
    ]
    expected = np.mean([roc_auc_score(frame["died"], each) for each in (chance, second)])
    ours = next(g for g in gains if (g.model, g.measure) == ("logistic", "AUC"))
    assert ours.without == pytest.approx(
        expected, abs=5e-3
    )  # one redundant level more or less, under a ridge


def test_the_chance_given_z_is_near_the_true_one_and_knows_nothing_of_x():
    frame, truth = patients(n=2000)
    chance = chance_given(frame, "died", ["age", "stage"])
    assert np.abs(chance - truth).mean() < 0.05
    np.testing.assert_array_equal(chance, chance_given(frame.assign(gene=0.0), "died", ["age", "stage"]))
    for column in ("age", "stage"):  # rows that agree in Z agree in their chance
        repeated = pd.concat([frame[:50]] * 2)
        assert np.unique(chance_given(repeated, "died", [column]).reshape(2, -1), axis=0).shape[0] == 1


def test_a_redrawn_outcome_follows_its_chance_and_leaves_the_frame_alone():
    frame, _ = patients(n=400)
    before = frame.copy()
    chance = np.linspace(0, 1, 400)
    mean = np.mean(
        [redrawn(frame, "died", chance, np.random.default_rng(k))["died"] for k in range(400)], axis=0
    )
    assert np.abs(mean - chance).max() < 5 * 0.5 / np.sqrt(400)
    assert mean[0] == 0.0
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(
        redrawn(frame, "died", chance, np.random.default_rng(0)).drop(columns="died"),
        frame.drop(columns="died"),
    )


def test_redrawn_outcomes_are_rejected_at_the_level_and_not_for_their_old_tie_to_x():
    frame, _ = patients(effect=2.0)
    assert ask(frame, QUESTION, "fisher-z").pvalue < 1e-6
    told = []
    counts = rejections_of_redrawn(
        frame, QUESTION, {"fisher-z": 60, "rcot": 10}, progress=lambda: told.append(1)
    )
    assert {test: done for test, (_, done) in counts.items()} == {"fisher-z": 60, "rcot": 10}
    assert counts["fisher-z"][0] <= 9  # 60 at .05: more than nine with a chance of .001
    assert len(told) == 60
    # Each test sees the same redraws, whoever else does.
    assert rejections_of_redrawn(frame, QUESTION, {"rcot": 10})["rcot"] == counts["rcot"]


def test_a_test_that_cannot_answer_says_why():
    frame, _ = patients()
    answer = ask(frame, QUESTION, "chi2")
    assert answer.pvalue is None
    assert "looks continuous" in answer.notes[0]
    assert rejections_of_redrawn(frame, QUESTION, {"chi2": 2})["chi2"] == (0, 0)
