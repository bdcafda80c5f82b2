import json
import re
from xml.etree import ElementTree

import numpy as np

from spectralcit.discovery import DiscoveredGraph

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


def test_edges_run_from_cause_to_effect_with_their_weakest_pvalue():
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


def test_page_is_escaped_self_contained_and_complete():
    page = example().to_html()
    assert "<script" not in page
    assert not re.search(r"(src|href)=|url\((?!#)", page)
    assert "prefers-color-scheme: dark" in page
    svg = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    lines = svg.findall("line")
    assert [line.get("marker-end") for line in lines] == ["url(#arrow)", "url(#arrow)", None]
    labels = [text.text for text in svg.findall("text")]
    assert {"0.02", "0.003", "0.005", *NAMES} <= set(labels)
    body = page[page.index("<h2>Separating") :]
    assert body.count("<tr>") == 4
    assert "nothing" in body
