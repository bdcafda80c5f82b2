"""The page of a graph in a real browser, at the width of a desk and of a telephone; and its colours."""

from __future__ import annotations

import json
import re
from html import escape

import numpy as np
import pytest

from spectralcit.discovery import DiscoveredGraph
from spectralcit.discovery.page import _STYLE

from ..browser import needs_chromium, opened

PROBE = """
<script>
onload = () => {
  const view = document.querySelector('iframe').contentWindow, doc = view.document;
  const seen = node => node.getClientRects().length > 0;
  const sizes = [...doc.querySelectorAll('text')].filter(seen).map(node => {
    const svg = node.ownerSVGElement;
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return parseFloat(view.getComputedStyle(node).fontSize) * scale; });
  const words = [...doc.querySelectorAll('p, td, th, li, span, summary')].filter(seen)
    .map(node => parseFloat(view.getComputedStyle(node).fontSize));
  const spill = [...doc.querySelectorAll('.node')].filter(seen).filter(node =>
    node.querySelector('text').getBBox().width > node.querySelector('rect').getBBox().width).length;
  document.title = JSON.stringify({wide: doc.documentElement.scrollWidth, room: view.innerWidth, spill,
    boxes: sizes.length, least: Math.min(...sizes), words: Math.min(...words)});
};
</script>
"""


def thirty_four_nodes():
    rng = np.random.default_rng(1)
    names = (
        *(f"GENE{k}" for k in range(31)),
        "age",
        "systolic blood pressure in mmHg",
        "WWWWWWWWWWWWWWWWWWWWWWWW",
    )
    marks = np.zeros((34, 34), dtype=int)
    for b in range(1, 34):
        for a in rng.choice(b, size=min(b, 1 + b % 2), replace=False):
            marks[a, b], marks[b, a] = -1, 1 if rng.uniform() < 0.8 else -1
    pvalues = {(i, j, ()): float(10 ** -rng.uniform(1.3, 20)) for j in range(34) for i in range(j)}
    sepsets = {(i, j): ((),) for i, j, _ in pvalues if not marks[i, j]}
    settings = {"alpha": 0.05, "test": "spectral", "random_state": 0, "depth": 1, "n_rows": 200}
    return DiscoveredGraph(
        names=names, marks=marks, pvalues=pvalues, sepsets=sepsets, n_computed=0, **settings
    )


@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_34_nodes_are_legible_and_nothing_overflows(tmp_path, width):
    page = thirty_four_nodes().to_html()
    frame = (
        f'<iframe style="border:0;width:{width}px;height:900px" srcdoc="{escape(page, quote=True)}"></iframe>'
    )
    (tmp_path / "frame.html").write_text(f"<!doctype html><body>{frame}{PROBE}", encoding="utf-8")
    options = ("--hide-scrollbars", "--window-size=1400,1000", "--dump-dom")
    done = opened((tmp_path / "frame.html").as_uri(), tmp_path, *options)
    seen = json.loads(re.search(r"<title>(.*?)</title>", done.stdout)[1])
    assert seen["room"] == width
    assert seen["wide"] <= width
    assert seen["boxes"] == 34
    assert seen["spill"] == 0
    assert min(seen["least"], seen["words"]) >= 9


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read(scheme):
    """The contrasts of WCAG AA: 4.5 for text, 3 for lines."""
    light, dark = _STYLE.split("@media (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--(\w+): (#\w+)", light if scheme == "light" else dark.partition("} }")[0]))
    colours = {
        name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
        for name, value in colours.items()
    }
    for text in ("text", "quiet"):
        assert contrast(colours[text], colours["page"]) >= 4.5
    assert contrast(colours["text"], colours["box"]) >= 4.5
    for line in ("line", "rim", "strong"):
        assert contrast(colours[line], colours["page"]) >= 3
