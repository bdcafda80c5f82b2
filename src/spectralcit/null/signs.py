"""Random signs, how many of them, and the groups of rows that get them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numeric.grouped import members_of, numbered_in

__all__ = ["are_too_few", "drawn_signs", "more_signs", "whole_clusters"]

# By hand. P-values between these get more signs: .05 and .01, where people decide, are three standard errors
# of 200 signs inside. What the first signs said outside, all signs would hardly ever have said differently at
# these levels: the decision is that of all signs, mostly for the price of the first.
_NEAR_A_LEVEL = (0.005, 0.12)
_FEW_SIGNS = 400  # by hand: with fewer, tails that are fitted to draws are rough further out too
_MORE = 4  # times as many in all: half the error
_MOST_SIGNS = 4000  # by hand: more are drawn only where somebody asked for them
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


def are_too_few(signs: np.ndarray, pvalue: float) -> bool:
    """Tell whether chance in drawing these signs could decide what people make of a p-value.

    Examples
    --------
    >>> signs = np.ones((1000, 2))
    >>> are_too_few(signs, 0.06), are_too_few(signs, 0.5), are_too_few(signs, 1e-6)
    (True, False, False)
    """
    least, most = _NEAR_A_LEVEL
    return len(signs) < _MOST_SIGNS and pvalue <= most and (pvalue >= least or len(signs) < _FEW_SIGNS)


def more_signs(signs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return these sign vectors and, below them, further ones."""
    total = max(min(_MORE * len(signs), _MOST_SIGNS), len(signs))
    further = rng.choice(np.array([-1.0, 1.0]), size=(total - len(signs), signs.shape[1]))
    return np.vstack([signs, further])


def whole_clusters(
    clusters: np.ndarray, max_groups: int, rng: np.random.Generator, order: np.ndarray | None
) -> list[np.ndarray]:
    """Gather whole clusters, numbered as they come in `order`: neither row order nor labels matter."""
    order = np.arange(len(clusters)) if order is None else order
    members = members_of(numbered_in(order, clusters)[order])
    gathered = np.array_split(rng.permutation(len(members)), min(len(members), max_groups))
    return [order[np.concatenate([members[k] for k in some])] for some in gathered]
