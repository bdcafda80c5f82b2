"""The report in a real browser: what is logged, what is asked for, what is shown."""

from __future__ import annotations

import json
import os
import re
from html import escape, unescape
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test, prepare
from spectralcit.report import Question, write_report

from ..browser import needs_chromium, opened

pytestmark = [pytest.mark.browser, needs_chromium]
MEASURE = Path(__file__).with_name("measure.js")
EVIL = "<script>alert(1)</script>"


def browse(page, folder, *options):
    """Open a page; return the document as the browser holds it, its log, and the addresses it asked for."""
    netlog = folder / "net.json"
    watched = ("--disable-quic", "--hide-scrollbars", "--enable-logging=stderr", f"--log-net-log={netlog}")
    done = opened(page.as_uri(), folder, *watched, *options)
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


@pytest.fixture(scope="module")
def joint_page(tmp_path_factory):
    """A joint question with categories: tables per column, levels on axes."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=["protein_a", "protein_b", "protein_c"])
    z = pd.DataFrame({"age": rng.normal(60, 9, size=150), "ward": rng.choice(["I", "II", "III"], size=150)})
    y = frame["protein_b"] ** 2 + rng.normal(size=150)
    question = Question(tuple(frame), ("outcome",), tuple(z))
    path = tmp_path_factory.mktemp("report") / "joint.html"
    result = ci_test(frame, y, z, random_state=0)
    return write_report(result, path, data=prepare(frame, y, z), question=question)


def axe_core():
    """The file of axe-core, from ``npm install axe-core`` in the repository or where AXE_CORE says."""
    root = Path(__file__).parents[2]
    places = [os.environ.get("AXE_CORE", ""), root / "node_modules" / "axe-core" / "axe.min.js"]
    return next((Path(place) for place in places if place and Path(place).is_file()), None)


def measured(page, folder, width, scheme="1", *scripts):
    """The report has no script; a copy that carries some measures it."""
    text = re.sub(r"<meta http-equiv[^>]*>", "", page.read_text(encoding="utf-8"))
    probe = folder / "probe.html"
    inside = "".join(
        f"<script>{script}</script>" for script in (*scripts, MEASURE.read_text(encoding="utf-8"))
    )
    # In a frame of that width: a window of a desktop browser is never as narrow as a phone.
    content = escape(text.replace("</body>", f"{inside}</body>"))
    frame = f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{content}"></iframe>'
    probe.write_text(f"<!doctype html><title></title>{frame}", encoding="utf-8")
    options = ("--window-size=1400,1000", f"--blink-settings=preferredColorScheme={scheme}")
    document, _, _ = browse(probe, folder, *options, "--virtual-time-budget=20000", "--dump-dom")
    return json.loads(unescape(re.search(r"<title>(.*?)</title>", document, re.DOTALL)[1]))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["page", "joint_page"])
def test_nothing_is_cut_off_too_wide_or_too_small(name, width, tmp_path, request):
    found = measured(request.getfixturevalue(name), tmp_path, width)
    assert found["available"] == width
    assert found["needed"] <= width
    assert found["wide"] == []
    assert found["small"] == []


def test_the_measure_sees_small_wide_and_pale_text(tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<html lang=en><title>t</title><body><main><h1>h</h1><p style='font-size:8px'>small</p>"
        "<p style='width:2000px;color:#ccc;background:#fff'>wide</p><svg viewBox='0 0 1000 9' width='300'>"
        "<text font-size='20' y='9'>shrunk</text></svg></main></body></html>"
    )
    axe = axe_core()
    scripts = [] if axe is None else [axe.read_text(encoding="utf-8")]
    found = measured(bad, tmp_path, 390, "1", *scripts)
    assert [text for text, _ in found["small"]] == ["small", "shrunk"]
    assert "wide" in [one[0] for one in found["wide"]]
    assert found["needed"] > found["available"]
    if axe is not None:
        assert "color-contrast" in [rule for rule, _ in found["violations"]]


@pytest.mark.skipif(axe_core() is None, reason="no axe-core: npm install --no-save axe-core")
@pytest.mark.parametrize("scheme", ["0", "1"])
@pytest.mark.parametrize("name", ["page", "joint_page"])
def test_axe_finds_nothing_to_complain_about(name, scheme, tmp_path, request):
    axe = axe_core().read_text(encoding="utf-8")
    found = measured(request.getfixturevalue(name), tmp_path, 1280, scheme, axe)
    assert found["violations"] == []
    assert {"color-contrast", "svg-img-alt", "heading-order"} <= set(found["passes"])
