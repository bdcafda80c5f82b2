"""Graphs with known edges and nonlinear data from them."""

from __future__ import annotations

import numpy as np

EIGHT_NODES = ((0, 2), (1, 2), (2, 3), (1, 4), (4, 5), (3, 6), (5, 7))
"""A connected sparse graph on eight nodes: one collider, a fork and three chains."""

TWO_PARTS = ((0, 2), (1, 2), (2, 3), (4, 5), (5, 6), (5, 7))
"""Eight nodes in two parts, a collider with a child and a chain that forks: far fewer tests are needed."""


def additive_noise(edges, n_nodes: int, n: int, seed: int, *, noise: float = 0.5) -> np.ndarray:
    """Draw `n` rows: each node is a sum of nonlinear functions of its parents, standardised, plus noise.

    Nodes must be numbered in a causal order. The functions take turns: none of them is linear, the first two
    are not even monotone.
    """
    shapes = (
        lambda v: np.abs(v),
        lambda v: np.cos(1.5 * v),
        lambda v: np.tanh(2 * v),
        lambda v: v + v**2 / 2,
    )
    rng = np.random.default_rng(seed)
    data = np.zeros((n, n_nodes))
    for node in range(n_nodes):
        parents = [(k, a) for k, (a, b) in enumerate(edges) if b == node]
        signals = [_standard(shapes[k % len(shapes)](data[:, a])) for k, a in parents]
        data[:, node] = sum(signals, np.zeros(n)) + (noise if parents else 1.0) * rng.normal(size=n)
        data[:, node] = _standard(data[:, node])
    return data


def skeleton_f1(found, edges) -> float:
    """F1 of a set of unordered pairs against the true edges."""
    truth = {frozenset(edge) for edge in edges}
    guess = {frozenset(edge) for edge in found}
    return 2 * len(truth & guess) / (len(truth) + len(guess))


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / values.std()
