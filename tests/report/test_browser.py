"""The report in a real browser: what is logged, what is asked for, what is shown."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from urllib.parse import urlsplit

import numpy as np
import pytest

from spectralcit import ci_test, prepare
from spectralcit.report import Question, write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
EVIL = "<script>alert(1)</script>"


def browse(page, folder, *options):
    """Open a page; return the document as the browser holds it, its log, and the addresses it asked for."""
    netlog = folder / "net.json"
    command = [
        str(CHROMIUM),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        f"--log-net-log={netlog}",
        f"--user-data-dir={folder / 'profile'}",
        *options,
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    text = netlog.read_text(encoding="utf-8")
    addresses = set(re.findall(r'"url":"((?:https?|wss?|ftp):[^"]*)"', text))
    # The browser's own affairs (clock, updates), which it minds on an empty page too.
    own = (".google.com", ".googleapis.com", ".gvt1.com")
    addresses = {address for address in addresses if not str(urlsplit(address).hostname).endswith(own)}
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console, addresses


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(2, 150))
    y = z + x + rng.normal(size=150)
    question = Question((EVIL,), ("outcome",), ("a column with a rather long name " * 3,), f"{EVIL}.csv")
    result = ci_test(x, y, z, random_state=0)
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_report(result, path, data=prepare(x, y, z), question=question)


def test_the_probe_sees_console_errors_and_requests(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<img src='http://127.0.0.1:9/leak.png'><script>console.error('hello')</script>")
    _, console, addresses = browse(bad, tmp_path, "--dump-dom")
    assert any("hello" in line for line in console)
    assert "http://127.0.0.1:9/leak.png" in addresses


def test_no_console_message_no_request_and_no_script(page, tmp_path):
    document, console, addresses = browse(page, tmp_path, "--dump-dom")
    assert console == []
    assert addresses == set()
    assert "<script" not in document
    heading = re.search(r"<h1>(.*?)</h1>", document, re.DOTALL)[1]
    assert unescape(heading).startswith(f"Is {EVIL} independent of outcome once")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_at_both_widths(page, tmp_path, width, scheme):
    picture = tmp_path / "shot.png"
    choice = {"dark": "0", "light": "1"}[scheme]
    browse(
        page,
        tmp_path,
        f"--blink-settings=preferredColorScheme={choice}",
        f"--window-size={width},1200",
        f"--screenshot={picture}",
    )
    from matplotlib.image import imread

    pixels = imread(picture)[..., :3].mean(axis=2)
    assert pixels.shape[1] == width
    paper = np.median(pixels)
    assert paper < 0.2 if scheme == "dark" else paper > 0.8
    # Text and lines stand out from the paper.
    assert np.mean(np.abs(pixels - paper) > 0.5) > 0.005


def test_a_phone_need_not_scroll_sideways(page, tmp_path):
    # The report has no script; a copy that carries one measures it.
    probe = tmp_path / "probe.html"
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<meta http-equiv[^>]*>", "", text)
    script = (
        "<script>document.title = JSON.stringify([document.documentElement.scrollWidth, innerWidth])</script>"
    )
    probe.write_text(text.replace("</body>", f"{script}</body>"), encoding="utf-8")
    document, _, _ = browse(probe, tmp_path, "--window-size=390,900", "--dump-dom")
    needed, available = json.loads(unescape(re.search(r"<title>(.*?)</title>", document)[1]))
    assert needed <= available
