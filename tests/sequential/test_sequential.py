"""`SequentialCI`: looks at batches, level and power in small, and what it remembers."""

import numpy as np
import pandas as pd
import pytest

from spectralcit import SequentialCI
from spectralcit.errors import CensoredTimesError, LengthMismatchError, ParameterError, UnsupportedTypeError


def draw(seed, n=400, effect=0.0):
    rng = np.random.default_rng(seed)
    z, x, y = rng.normal(size=(3, n))
    return np.sin(2 * z) + x, np.sin(2 * z) + effect * x + y, z


def run(data, looks=8):
    test = SequentialCI()
    for rows in np.array_split(np.arange(len(data[0])), looks):
        test.update(*(column[rows] for column in data))
    return test


def test_level_and_power():
    assert sum(run(draw(seed)).reject(0.05) for seed in range(12)) <= 2
    assert all(run(draw(seed, effect=0.5)).reject(0.05) for seed in range(3))


def test_first_rows_only_teach():
    x, y, z = draw(0, effect=1.0)
    test = SequentialCI()
    for start in (0, 20, 40):
        test.update(x[start : start + 20], y[start : start + 20], z[start : start + 20])
        assert test.evalue == 1.0
    test.update(x[60:], y[60:], z[60:])
    assert test.evalue > 100.0
    assert [n for n, _ in test.history] == [20, 40, 60, 400]


def test_bets_on_a_batch_do_not_know_it():
    """Stakes are fixed before the batch is seen, so the order of its rows cannot matter."""
    x, y, z = draw(1, effect=0.3)
    whole, flipped = SequentialCI(), SequentialCI()
    whole.update(x[:100], y[:100], z[:100])
    whole.update(x[100:], y[100:], z[100:])
    flipped.update(x[:100], y[:100], z[:100])
    order = np.random.default_rng(0).permutation(np.arange(100, 400))
    flipped.update(x[order], y[order], z[order])
    assert whole.evalue == pytest.approx(flipped.evalue)


def test_pvalue_remembers_the_best_look():
    x, y, z = draw(2, n=800, effect=0.5)
    test = run((x[:400], y[:400], z[:400]))
    best = test.pvalue
    null = draw(3, n=400)
    test.update(*null)
    assert test.pvalue <= best
    assert test.pvalue <= 1.0 / max(value for _, value in test.history) * (1 + 1e-9)


def test_categories_vectors_missing_values_and_no_z():
    x, y, _ = draw(4, effect=0.6)
    frame = pd.DataFrame({"a": np.where(x > 0, "high", "low"), "b": x})
    frame.loc[10, "b"] = np.nan
    test = SequentialCI(missing="drop")
    for rows in np.array_split(np.arange(400), 4):
        test.update(frame.iloc[rows], np.column_stack([y, y**2])[rows])
    assert test.n == 399
    assert test.evalue > 1.0


def test_batches_of_one_row_and_a_column_that_varies_late():
    x, y, z = draw(7, n=65)
    late = np.where(np.arange(65) < 58, 0.0, x)
    test = SequentialCI()
    for row in range(65):
        test.update(late[[row]], y[[row]], z[[row]])
        assert (test.evalue == 1.0) or row >= 58
    assert test.n == 65


def test_new_levels_may_come_later():
    x, y, z = draw(5)
    label = np.where(np.arange(400) < 200, np.where(x > 0, "a", "b"), np.where(x > 0, "a", "c"))
    test = SequentialCI()
    test.update(label[:200], y[:200], z[:200])
    test.update(label[200:], y[200:], z[200:])
    assert test.n == 400


def test_bad_batches_leave_the_test_as_it_was():
    x, y, z = draw(6)
    test = SequentialCI()
    test.update(x, y, z)
    with pytest.raises(LengthMismatchError, match="same columns in every batch"):
        test.update(x, y)
    with pytest.raises(UnsupportedTypeError, match="held numbers in earlier batches"):
        test.update(np.where(x > 0, "a", "b"), y, z)
    with pytest.raises(CensoredTimesError, match="cannot take censored times"):
        test.update(x, (np.abs(y), y > 0), z)
    with pytest.raises(ParameterError, match="level"):
        test.reject(1.0)
    assert test.n == 400
    assert len(test.history) == 1
