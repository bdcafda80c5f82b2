from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spectralcit.discovery.layers import BOX, layered


def random_dag(seed, n, chance):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    pairs = [(int(order[a]), int(order[b])) for a, b in combinations(range(n), 2) if rng.uniform() < chance]
    return pairs, rng.uniform(30, 150, n).tolist()


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000),
    st.integers(1, 20),
    st.sampled_from([0.05, 0.15, 0.4]),
    st.sampled_from([340, 900]),
)
def test_arrows_run_down_and_nothing_covers_a_box(seed, n, chance, room):
    edges, widths = random_dag(seed, n, chance)
    layout = layered(edges, [True] * len(edges), widths, room)
    places = layout.places
    for a, b in edges:
        assert places[a][1] < places[b][1]
    for a, b in combinations(range(n), 2):
        (xa, ya), (xb, yb) = places[a], places[b]
        assert abs(xa - xb) >= (widths[a] + widths[b]) / 2 - 1e-6 or abs(ya - yb) >= BOX
    for (a, b), route in zip(edges, layout.routes, strict=True):
        assert (route[0], route[-1]) == (places[a], places[b])
        for x, y in route[1:-1]:  # where the line passes a layer it passes between the boxes
            for node, (left, top) in enumerate(places):
                assert top != y or abs(left - x) >= widths[node] / 2
        assert all(upper[1] < lower[1] for upper, lower in pairwise(route))
    for node, (x, y) in enumerate(places):
        assert widths[node] / 2 - 1e-6 <= x <= layout.width - widths[node] / 2 + 1e-6
        assert BOX / 2 <= y <= layout.height - BOX / 2


def test_a_tree_is_drawn_without_crossings():
    edges = [(k, child) for k in range(7) for child in (2 * k + 1, 2 * k + 2)]
    shuffled = np.random.default_rng(0).permutation(15).tolist()
    edges = [(shuffled[a], shuffled[b]) for a, b in edges]
    places = layered(edges, [True] * len(edges), [40.0] * 15, 900).places
    for (a, b), (c, d) in combinations(edges, 2):
        if places[a][1] == places[c][1] and a != c:
            assert (places[a][0] - places[c][0]) * (places[b][0] - places[d][0]) > 0


def test_a_cycle_and_a_pair_of_opposite_lines_can_be_drawn():
    layout = layered([(0, 1), (1, 2), (2, 0), (3, 4)], [True, True, True, False], [50.0] * 5, 300)
    assert sorted(y for _, y in layout.places[:3]) == [14.0, 98.0, 182.0]
    assert len(layout.routes[3]) == 2


def test_layers_that_are_full_go_on_below():
    star = [(0, k) for k in range(1, 13)]
    layout = layered(star, [True] * 12, [100.0] * 13, 400)
    by_layer = {y: [p for p in layout.places if p[1] == y] for _, y in layout.places}
    assert max(map(len, by_layer.values())) == 3
    assert layout.width <= 480  # boxes in 400, and lanes for the lines that pass them


def test_same_graph_same_drawing():
    edges, widths = random_dag(3, 12, 0.3)
    first, second = (layered(edges, [True] * len(edges), widths, 500) for _ in range(2))
    assert first == second
