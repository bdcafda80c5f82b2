from __future__ import annotations

import numpy as np
import pandas as pd

from spectralcit import prepare
from spectralcit.inputs.sources import source_columns


def test_undoing_the_encoding_gives_back_what_was_given():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a[0]": rng.normal(size=60),
            "stage": np.array(["I", "II", "III"])[rng.integers(3, size=60)],
            "q[1]": rng.integers(2, size=60),
            "n": np.arange(60) % 7,
        }
    )
    found = source_columns(prepare(frame, rng.normal(size=60)).x, known=tuple(frame))
    assert [one.name for one in found] == list(frame)
    for one in found:
        given = frame[one.name]
        back = np.array(one.labels)[one.values] if one.labels else one.values
        assert (back == given).all()
