"""The site in a real browser, opened from disk: its search, and whether pages fit."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape

import pytest

from ..browser import needs_chromium, opened

pytestmark = [pytest.mark.browser, needs_chromium]


def open_page(address, folder, *options):
    """The document as the browser holds it when its scripts are done."""
    options = ("--virtual-time-budget=120000", "--dump-dom", *options)
    return opened(address, folder, *options, timeout=240).stdout


@pytest.mark.parametrize(
    "page, query, found",
    [
        ("index.html", "betting", "sequential.html"),
        ("tests/crt.html", "equalised", "fairness.html"),
        ("index.html", "qxzv", None),
    ],
)
def test_search_from_disk(site, tmp_path, page, query, found):
    document = open_page(f"{(site / page).as_uri()}?q={query}", tmp_path)
    assert re.search(r'class="md-search-result__meta">(?:\d+|No) matching document', document)
    results = re.findall(r'<a href="([^"#?]*)[^"]*" class="md-search-result__link"', document)
    assert results == [] if found is None else any(address.endswith(f"/{found}") for address in results)


MEASURE = """
const measured = {};
const clipped = (element, view) => {
  for (let outer = element.parentElement; outer; outer = outer.parentElement)
    if (view.getComputedStyle(outer).overflowX !== "visible") return true;
  return false;
};
const height = (element, view) => {
  const size = parseFloat(view.getComputedStyle(element).fontSize);
  const scale = element.closest("svg.drawing") ? element.getScreenCTM() : null;
  return scale ? size * Math.hypot(scale.a, scale.b) : size;
};
(async () => {
  for (const page of PAGES) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "border: 0; height: 900px; width: WIDTHpx";
    frame.src = page;
    await new Promise((done) => { frame.onload = done; document.body.append(frame); });
    await new Promise((done) => setTimeout(done, 100));
    const view = frame.contentWindow, inside = frame.contentDocument;
    const box = (e) => e.getBoundingClientRect();
    const shown = [...inside.querySelectorAll(".md-content *")].filter((e) => box(e).width > 0);
    const says = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    measured[page] = {
      scrolls: inside.documentElement.scrollWidth > view.innerWidth,
      sticks_out: shown.filter((e) => box(e).right > view.innerWidth + 1 && !clipped(e, view))
        .map((e) => e.outerHTML.slice(0, 80)),
      tiny: shown.filter((e) => says(e) && height(e, view) < 9).map((e) => e.textContent.slice(0, 40)),
      scheme: inside.body.dataset.mdColorScheme,
    };
    frame.remove();
  }
  document.querySelector("pre").textContent = JSON.stringify(measured);
})();
"""
# What the measurement must notice.
BAD = '<body><div class="md-content"><p style="width: 2000px; font-size: 8px">too wide, too small</p></div>'


@pytest.mark.parametrize("width, scheme", [(390, "slate"), (1280, "default")])
def test_every_page_fits_a_phone_and_a_desk(site, tmp_path, width, scheme):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if path.name != "404.html")
    copy = shutil.copytree(site, tmp_path / "site")
    (copy / "bad.html").write_text(BAD, encoding="utf-8")
    script = MEASURE.replace("PAGES", json.dumps([*pages, "bad.html"])).replace("WIDTH", str(width))
    probe = copy / "probe.html"
    probe.write_text(f"<!doctype html><body><pre></pre><script>{script}</script>", encoding="utf-8")
    choice = f"--blink-settings=preferredColorScheme={0 if scheme == 'slate' else 1}"
    document = open_page(probe.as_uri(), tmp_path, "--allow-file-access-from-files", choice)
    measured = json.loads(unescape(re.search(r"<pre>(.*?)</pre>", document, re.DOTALL)[1]))
    bad = measured.pop("bad.html")
    assert bad["scrolls"]
    assert bad["sticks_out"]
    assert bad["tiny"]
    assert set(measured) == set(pages)
    for page, found in measured.items():
        assert found == {"scrolls": False, "sticks_out": [], "tiny": [], "scheme": scheme}, page
