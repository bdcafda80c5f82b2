from __future__ import annotations

import re
from html import escape

import spectralcit
from spectralcit import list_tests

from .pages import ROOT, figures


def test_every_page_is_in_the_nav(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 15
    for page in pages:
        target = str(page.with_suffix(".html"))
        assert (site / target).exists()
        assert f'href="{target}"' in home, target


def test_no_page_asks_another_host_for_anything(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        # Links may lead elsewhere; scripts, styles, fonts and images may not come from there.
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]*)", text)
        assert loaded == [], page.name
        assert "fonts.googleapis" not in text


def test_the_table_of_tests_has_all_of_them(site):
    text = (site / "which-test.html").read_text(encoding="utf-8")
    for info in list_tests():
        assert f"<code>{info.name}</code>" in text
        assert escape(info.tags.summary, quote=False) in text
    assert '<a href="tests/gcm.html"><code>wgcm</code></a>' in text


def test_the_reference_begins_with_ci_test_and_has_a_page_for_every_module(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    headings = re.findall(r'<h2 id="([^"]*)"', text)
    assert headings[0] == "ci_test"
    assert set(headings) == {name.lower() for name in spectralcit.__all__} - {"__version__", "errors"}
    assert "Seed of every random choice; the same seed gives the same result." in text
    assert "weight_kind: str = &#39;probability&#39;," in text.replace("'", "&#39;")
    for page, names in {
        "report": ["write_report"],
        "plots": ["plot_null"],
        "tables": ["columns_matching"],
        "errors": ["InputError"],
        "parameters": ["integer", "choice"],
        "tuning": ["tune", "Task"],
    }.items():
        assert f'href="api/{page}.html"' in text
        module = (site / "api" / f"{page}.html").read_text(encoding="utf-8")
        assert all(f'<h2 id="{name.lower()}"' in module for name in names), page


def test_the_gallery_shows_every_example_and_every_figure(site):
    gallery = (site / "gallery.html").read_text(encoding="utf-8")
    drawn = figures()
    for path in (ROOT / "examples").glob("*.py"):
        if path.stem == "make_study":  # it writes a file and draws nothing
            continue
        assert f'href="examples/{path.stem}.html"' in gallery
        page = (site / "examples" / f"{path.stem}.html").read_text(encoding="utf-8")
        assert page.count('<svg class="drawing"') == 1
        assert "What it prints" in page
    shown = re.findall(r'href="([\w/-]+)\.html"><svg class="drawing"', gallery)
    assert len(shown) == len(list(drawn.FIGURES.glob("*.svg")))
    for page in drawn.pages_with_figures():
        text = (site / f"{page.stem}.html").read_text(encoding="utf-8")
        assert text.count('<svg class="drawing"') == len(drawn.saved_figures(page))


def test_drawings_take_the_colour_of_the_text(site):
    for path in [site / "gallery.html", *(site / "examples").glob("*.html")]:
        drawings = re.findall(r'<svg class="drawing".*?</svg>', path.read_text(encoding="utf-8"), re.DOTALL)
        assert drawings
        for drawing in drawings:
            assert "currentColor" in drawing
            # Neither black nor white, nor a style that would reach the page.
            assert not re.search(r"#0{6}|#f{6}\b|<style", drawing)
        names = re.findall(r'\bid="([^"]+)"', "".join(drawings))
        assert len(names) == len(set(names))
