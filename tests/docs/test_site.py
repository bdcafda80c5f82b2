from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest

from spectralcit import list_tests

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="the site needs mkdocs-material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == ""
    return folder


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


def test_the_reference_names_the_public_functions(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    for name in (
        "ci_test",
        "CITestResult",
        "SpectralCIT",
        "write_report",
        "plot_null",
        "read_table",
        "InputError",
        "integer",
        "choice",
    ):
        assert f'id="{name.lower()}"' in text, name
    assert "Seed of every random choice; the same seed gives the same result." in text
