import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from spectralcit.discovery import DiscoveredGraph
from spectralcit.discovery.drawing import MAX_DRAWN

NAMES = ("<script>", 'say "hi"', "c&d", "e\\f")


def example():
    marks = np.zeros((4, 4), dtype=int)
    marks[0, 1], marks[1, 0] = -1, 1  # 0 -> 1
    marks[2, 1], marks[1, 2] = -1, 1  # 2 -> 1
    marks[2, 3] = marks[3, 2] = -1  # 2 -- 3
    pvalues = {(i, j, ()): 0.001 * (i + j) for i in range(4) for j in range(i + 1, 4)}
    pvalues |= {(0, 2, ()): 0.4, (0, 3, ()): 0.6, (1, 3, (2,)): 0.7, (0, 1, (2,)): 0.02}
    sepsets = {(0, 2): ((),), (0, 3): ((),), (1, 3): ((2,),)}
    return DiscoveredGraph(
        names=NAMES,
        marks=marks,
        pvalues=pvalues,
        sepsets=sepsets,
        alpha=0.05,
        test="fisher-z",
        random_state=0,
        depth=1,
        n_rows=50,
        n_computed=8,
        warnings=("look at <script>",),
    )


def test_edges_run_along_their_arrows_with_their_weakest_pvalue():
    found = [(e.source, e.kind, e.target, e.pvalue, e.n_tests) for e in example().edges]
    assert found == [
        (NAMES[0], "->", NAMES[1], 0.02, 2),
        (NAMES[2], "->", NAMES[1], 0.003, 1),
        (NAMES[2], "--", NAMES[3], 0.005, 1),
    ]


def test_json_holds_everything():
    content = json.loads(example().to_json())
    assert content["nodes"] == list(NAMES)
    assert content["edges"][0] == {
        "source": "<script>",
        "target": 'say "hi"',
        "kind": "->",
        "pvalue": 0.02,
        "n_tests": 2,
        "given": False,
    }
    assert content["separating_sets"][-1] == {"pair": ['say "hi"', "e\\f"], "given": ["c&d"], "pvalue": 0.7}


def test_dot_quotes_names():
    lines = example().to_dot().splitlines()
    assert '  "<script>" -> "say \\"hi\\"" [label="p = 0.02"];' in lines
    assert '  "c&d" -> "e\\\\f" [label="p = 0.005", dir=none];' in lines


def parsed(page, which):
    start = page.index(f'<div class="drawing {which}"')
    return ElementTree.fromstring(page[page.index("<svg", start) : page.index("</svg>", start) + 6])


@pytest.mark.parametrize("which", ["wide", "narrow"])
def test_drawing_has_every_edge_with_its_head_its_width_and_its_pvalue(which):
    svg = parsed(example().to_html(), which)
    groups = {group.find("title").text: group for group in svg.findall("g") if "edge" in group.get("class")}
    assert list(groups) == [
        'c&d: arrow to say "hi"; largest p = 0.003 in 1 test',
        "c&d: joined to e\\f; largest p = 0.005 in 1 test",
        '<script>: arrow to say "hi"; largest p = 0.02 in 2 tests',
    ]
    heads = [len([p for p in group.findall("path") if p.get("class") == "head"]) for group in groups.values()]
    assert heads == [1, 0, 1]
    widths = [float(group.findall("path")[1].get("stroke-width")) for group in groups.values()]
    assert widths == sorted(widths, reverse=True)
    shown = {group.find("text").text for group in svg.findall("g") if group.get("class") == "node"}
    assert shown == set(NAMES)


def test_page_is_escaped_self_contained_and_complete():
    page = example().to_html()
    assert "<script" not in page
    assert not re.search(r"(src|href)=|url\(", page)
    assert "prefers-color-scheme: dark" in page
    assert "causes" not in page
    body = page[page.index("<details>") :]
    assert body.count("<tr>") == 4
    assert "nothing" in body
    assert '<th scope="col">node</th><th scope="col">edge</th><th scope="col">node</th>' in page


def test_isolated_nodes_stand_apart_and_a_graph_without_edges_is_no_picture():
    found = replace(example(), marks=np.zeros((4, 4), dtype=int))
    page = found.to_html()
    assert "Without an edge: 4" in page
    assert "<svg" not in page
    assert "<p>None.</p>" in page
    one = example().marks.copy()
    one[2] = one[:, 2] = 0
    page = replace(example(), marks=one).to_html()
    assert page.count("<li>") == 2
    assert len([g for g in parsed(page, "wide").findall("g") if g.get("class") == "node"]) == 2


def test_of_many_edges_the_strongest_are_drawn_and_all_are_in_the_table():
    m = 25
    marks = np.where(np.eye(m, dtype=bool), 0, -1)
    pvalues = {(i, j, ()): 0.01 / (1 + 31 * i + j) for i in range(m) for j in range(i + 1, m)}
    names = tuple(f"V{k}" for k in range(m))
    found = replace(example(), names=names, marks=marks, pvalues=pvalues, sepsets={})
    page = found.to_html()
    drawn = [g.find("title").text for g in parsed(page, "wide").findall("g") if "edge" in g.get("class")]
    assert len(drawn) == MAX_DRAWN
    least = sorted(pvalues.values())[:MAX_DRAWN]
    assert drawn[0].startswith("V23: joined to V24; ")
    assert f"p = {least[-1]:.2g} " in drawn[-1]
    assert page.count("joined to, direction unknown") == 300


def test_a_notebook_shows_the_drawing():
    fragment = example()._repr_html_()
    assert "<svg" in fragment
    assert "<html" not in fragment
    assert "<script" not in fragment
    outside = re.sub(
        r"\.graph|@media[^{]*", "", fragment[fragment.index("<style>") : fragment.index("</style>")]
    )
    assert "body" not in outside  # nothing of the notebook itself is restyled


def test_networkx_has_an_edge_for_each_arrow_and_two_without_direction():
    nx = pytest.importorskip("networkx")
    graph = example().to_networkx()
    assert list(graph.nodes) == list(NAMES)
    a, b, c, d = NAMES
    assert set(graph.edges) == {(a, b), (c, b), (c, d), (d, c)}
    assert graph.edges[d, c] == {"kind": "--", "pvalue": 0.005, "n_tests": 1, "given": False}
    assert isinstance(graph, nx.DiGraph)
