"""Rows that belong together: whole groups left out of a linear fit, or freed of what the fit did to them.

A linear smoother with hat matrix ``H = P P' + U diag(g) U'`` predicts the rows of a group from the other
groups alone with the errors ``(I - H_gg)^-1 r_g``, where r are its residuals: leave-one-out, with
groups for rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

__all__ = [
    "leave_groups_out",
    "members_of",
    "numbered_in",
    "standard_error",
    "sums_by_group",
    "unit_noise_factors",
]

# A direction in which a group alone decides its fit has no residual; this share below one keeps 0 / 0 at
# zero.
_ALMOST_ONE = 1.0 - 1e-8
_LEVERAGE_CAP = 0.98  # as for single rows: what is left of noise is divided by at least the root of 0.02
_BATCH_CELLS = 4_000_000  # 32 MB at a time


def members_of(codes: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each group, groups in the order of their codes.

    Examples
    --------
    >>> [rows.tolist() for rows in members_of(np.array([7, 3, 7]))]
    [[1], [0, 2]]
    """
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def numbered_in(order: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the codes of groups as numbers from zero, in which groups come up in `order`.

    Examples
    --------
    >>> numbered_in(np.array([2, 0, 1]), np.array([5, 9, 9])).tolist()
    [1, 0, 0]
    """
    _, first, places = np.unique(codes[order], return_index=True, return_inverse=True)
    numbers = np.empty_like(order)
    numbers[order] = np.argsort(np.argsort(first))[places.ravel()]
    return numbers


def sums_by_group(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the sums of `values` over the rows of each group."""
    order = np.argsort(codes, kind="stable")
    starts = np.append(0, np.flatnonzero(np.diff(codes[order])) + 1)
    return np.add.reduceat(values[order], starts, axis=0)


def standard_error(values: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
    """Return the standard error of the mean of each column when rows of one group are not independent."""
    if codes is None:
        return values.std(axis=0) / np.sqrt(len(values))
    sums = sums_by_group(values - values.mean(axis=0), codes)
    return np.sqrt(np.square(sums).sum(axis=0)) / len(values)


def _batches(members: list[np.ndarray], width: int) -> Iterator[np.ndarray]:
    """Yield the rows of groups of one size, one group per line: their matrices are handled together."""
    sizes = np.array([len(rows) for rows in members])
    for size in np.unique(sizes):
        alike = np.stack([members[k] for k in np.flatnonzero(sizes == size)])
        step = max(1, _BATCH_CELLS // int(size * max(size, width)))
        for start in range(0, len(alike), step):
            yield alike[start : start + step]


def leave_groups_out(
    residuals: np.ndarray, basis: np.ndarray, kept: np.ndarray, members: list[np.ndarray]
) -> np.ndarray:
    """Return each row's error under the fit to the other groups.

    Parameters
    ----------
    residuals
        Of the fit to all rows, shape (n, t).
    basis, kept
        Orthonormal columns and the share that the hat matrix keeps of each.
    members
        The rows of each group.

    Examples
    --------
    >>> values = np.array([[1.0], [1.0], [4.0]])
    >>> mean = np.full((3, 1), 1 / np.sqrt(3))
    >>> left_out = leave_groups_out(values - 2.0, mean, np.ones(1), [np.array([0, 1]), np.array([2])])
    >>> left_out.round(6).ravel().tolist()
    [-3.0, -3.0, 3.0]
    """
    out = np.empty_like(residuals)
    root = np.sqrt(_ALMOST_ONE * kept)
    for rows in _batches(members, basis.shape[1]):
        part, left = basis[rows] * root, residuals[rows]
        if rows.shape[1] <= basis.shape[1]:
            hat = part @ part.transpose(0, 2, 1)
            out[rows] = np.linalg.solve(np.eye(rows.shape[1]) - hat, left)
        else:  # the same through the smaller matrix, by Woodbury's identity
            turned = part.transpose(0, 2, 1)
            out[rows] = left + part @ np.linalg.solve(np.eye(basis.shape[1]) - turned @ part, turned @ left)
    return out


def unit_noise_factors(
    basis: np.ndarray, lost: np.ndarray, members: list[np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return factors of ``(I - C_g)^-1/2`` for each group, where ``C = U diag(lost) U'`` is what noise lost.

    Multiplied by it, a group's residuals have the covariance of unit noise again (the correction known as
    CR2). Each entry is the rows of some groups, directions V and factors d of ``I + V diag(d) V'``.
    """
    found = []
    root = np.sqrt(np.maximum(lost, 0.0))
    for rows in _batches(members, basis.shape[1]):
        part = basis[rows] * root
        if rows.shape[1] <= basis.shape[1]:
            values, vectors = np.linalg.eigh(part @ part.transpose(0, 2, 1))
        else:
            values, vectors = np.linalg.eigh(part.transpose(0, 2, 1) @ part)
            vectors = part @ vectors / np.sqrt(np.maximum(values, 1e-300))[:, None, :]
            vectors *= (values > 1e-12)[:, None, :]
        found.append((rows, vectors, 1.0 / np.sqrt(1.0 - np.clip(values, 0.0, _LEVERAGE_CAP)) - 1.0))
    return found
