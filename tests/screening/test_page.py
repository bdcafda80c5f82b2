"""The page of a screen: every text escaped, no network, hits marked."""

import re

import numpy as np

from spectralcit import screen
from spectralcit.screening import ScreenResult
from spectralcit.screening.page import screen_page
from spectralcit.screening.pictures import _thinned
from spectralcit.screening.rows import ScreenRow


def result():
    rows = (
        ScreenRow("<b>gene</b>", "y", 1e-6, "full", 0.4, 0.2, 0.5, -1, "linear", 100),
        ScreenRow("b", "y", 0.4, "quick", 0.1, 0.0, 0.2, 1, None, 100),
        ScreenRow("c", "y", reason="column 'c' of x is constant & <dull>"),
    )
    return ScreenResult(rows, ("age", "<z>"), "bh", "two-stage", "spectral", 7, 3)


def test_an_effect_lies_within_its_interval_whatever_its_sign():
    page = screen_page(result(), source="study.csv", level=0.1)
    assert ">-0.40<" in page
    assert ">-0.50 to -0.20<" in page
    assert ">0.00 to 0.20<" in page
    assert "-0.00" not in page


def test_everything_is_told_and_escaped():
    page = screen_page(result(), source="<study>.csv", level=0.1)
    for raw in ("<b>gene", "<dull>", "<study>", "<z>"):
        assert raw not in page
    assert "&lt;b&gt;gene" in page
    assert "random_state=7" in page
    assert page.count("<tr class=hit>") == 1
    assert "data-v='-0.4'" in page
    assert not re.search(r"(src|href)=.http", page)
    assert page.count("<svg") == 2


def test_hits_come_with_a_picture_of_what_z_leaves(study):
    names = ["g0", "g1", "g2", "g3", "site", "constant"]
    found = screen(study, x=names, y="relapse", z=["age"], mode="full", groups=np.arange(160) // 2)
    page = screen_page(found, source="study", level=0.1)
    hits = [row.x for row in found.hits(0.1)]
    assert {"g0", "g1"} <= set(hits)
    cards = re.findall(r"<h3>(.*?) and relapse</h3>", page)
    assert cards == hits
    told = re.findall(r'role="img" aria-label="([^"]*)"', page)
    assert len(told) == 2 + len(cards)
    assert all("Z taken out" in text for text in told[2:])
    assert "groups=..." in page
    row = next(row for row in found.rows if row.x == "g0")
    left = found.leading_pair(row).x.residual
    assert (
        abs(np.corrcoef(left, study["age"])[0, 1]) < 0.3 < abs(np.corrcoef(study["g0"], study["age"])[0, 1])
    )
    assert found.leading_pair(next(row for row in found.rows if row.x == "constant")) is None


def test_a_crowd_is_thinned_but_for_its_smallest():
    kept = _thinned(np.arange(20_000))
    assert len(kept) == 3000
    assert kept[:500].tolist() == list(range(500))
    assert kept[-1] == 19_999
