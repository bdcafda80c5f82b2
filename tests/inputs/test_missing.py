from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralcit import prepare
from spectralcit.errors import MissingValuesError, ParameterError

rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(3, 40))
CATEGORIES = np.resize(np.array(["a", "b", "c"], dtype=object), 40)


def test_the_error_counts_and_names_every_affected_column():
    x = X.copy()
    x[[3, 9]] = np.nan
    z = pd.DataFrame({"age": Z, "stage": CATEGORIES}).astype({"stage": object})
    z.loc[5, "stage"] = None
    with pytest.raises(MissingValuesError) as caught:
        prepare(x, Y, z)
    message = str(caught.value)
    assert "x: 2, first in row 3" in message
    assert "column 'stage' of z: 1, first in row 5" in message
    assert "'age'" not in message
    assert "missing='drop'" in message


@given(gone=st.tuples(*[st.sets(st.integers(0, 39), max_size=8)] * 3))
def test_dropping_equals_deleting_the_rows_by_hand(gone):
    x, y, z = X.copy(), pd.array(Y, dtype="Float64"), CATEGORIES.copy()
    x[list(gone[0])] = np.nan
    y[list(gone[1])] = pd.NA
    z[list(gone[2])] = None
    kept = sorted(set(range(40)) - set.union(*gone))
    data = prepare(x, pd.Series(y), z, missing="drop", min_rows=1)
    by_hand = prepare(X[kept], Y[kept], CATEGORIES[kept], min_rows=1)
    assert data.n == len(kept)
    assert data.n_dropped == 40 - len(kept)
    for role in ("x", "y", "z"):
        np.testing.assert_array_equal(getattr(data, role).values, getattr(by_hand, role).values)
    assert len(data.notes) == (len(kept) < 40)
    if data.notes:
        assert data.notes[0].startswith(f"{40 - len(kept)} of 40 rows were dropped")


def test_unknown_policy_is_refused_even_without_missing_values():
    with pytest.raises(ParameterError, match="'guess'"):
        prepare(X, Y, missing="guess")
