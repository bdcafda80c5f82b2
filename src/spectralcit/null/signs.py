"""Random signs and the groups of rows that get them; those of the last seed are remembered."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numeric.grouped import members_of

__all__ = ["drawn_signs", "whole_clusters"]

_MOST_KEPT = 2_000_000  # signs that are remembered from one test to the next: 16 MB
# The last ones, by where their generator started; many tests in a row start from one seed.
_LAST_DRAWN: dict[tuple[str, int, int, int], tuple[np.ndarray, np.ndarray, Any]] = {}


def drawn_signs(
    rng: np.random.Generator, n: int, n_groups: int, n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a permutation of the rows and the signs of groups."""
    key = (repr(rng.bit_generator.state), n, n_groups, n_draws)
    known = _LAST_DRAWN.get(key)
    if known is None:
        permutation = rng.permutation(n)
        signs = rng.choice(np.array([-1.0, 1.0]), size=(n_draws, n_groups))
        signs.flags.writeable = permutation.flags.writeable = False
        known = permutation, signs, rng.bit_generator.state
        _LAST_DRAWN.clear()
        if signs.size <= _MOST_KEPT:
            _LAST_DRAWN[key] = known
    rng.bit_generator.state = known[2]  # as if they were drawn now
    return known[0], known[1]


def whole_clusters(
    clusters: np.ndarray, max_groups: int, rng: np.random.Generator, order: np.ndarray | None
) -> list[np.ndarray]:
    """Gather whole clusters, numbered as they come in `order`: neither row order nor labels matter."""
    order = np.arange(len(clusters)) if order is None else order
    _, first, codes = np.unique(clusters[order], return_index=True, return_inverse=True)
    members = members_of(np.argsort(np.argsort(first))[codes.ravel()])
    gathered = np.array_split(rng.permutation(len(members)), min(len(members), max_groups))
    return [order[np.concatenate([members[k] for k in some])] for some in gathered]
