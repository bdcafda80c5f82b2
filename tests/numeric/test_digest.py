from __future__ import annotations

import numpy as np

from spectralcit.numeric.digest import column_digest, digest


def test_equal_values_have_equal_digests_whatever_their_layout():
    table = np.arange(12.0).reshape(4, 3)
    assert column_digest(table[:, 1]) == column_digest(table[:, 1].copy())
    assert column_digest(np.array([0.0, 2.0])) == column_digest(np.array([-0.0, 2.0]))


def test_what_differs_has_another_digest():
    codes = np.array([0, 1, 1])
    found = [
        column_digest(codes),
        column_digest(codes.astype(float)),
        column_digest(codes, ("a", "b")),
        column_digest(codes, ("a", "c")),
        column_digest(codes[::-1], ("a", "b")),
        digest(b"a", b""),
        digest(b"", b"a"),
        digest(b"a"),
    ]
    assert len(set(found)) == len(found)
