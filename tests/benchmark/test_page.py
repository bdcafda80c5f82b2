"""The report: complete, escaped, self-contained, the same for the same results."""

from __future__ import annotations

import csv
from html.parser import HTMLParser

import pytest

from spectralcit.benchmark import Store, Suite, run_suite, write_report
from spectralcit.errors import StoreError

SUITE = Suite.define(
    name="<b>bold",
    description="A & B",
    tests={"fisher-z": {}, "<i>x</i>": {"method": "spearman-z"}},
    datasets=[
        {"name": "linear-gaussian", "d_z": [1, 2, 10]},
        {"name": "sin-cos", "d_z": 2, "n": [30, 60]},
        {"name": "hard-no-z"},
    ],
    n=40,
    replicates=4,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    run_suite(SUITE, path, backend="serial")
    return path


@pytest.fixture(scope="module")
def report(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(store, folder, suite=SUITE)
    return folder


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.found.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]


def test_the_page_is_self_contained_and_escaped(report):
    text = (report / "index.html").read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.links
    assert all(link.startswith("data:image/svg+xml;base64,") for link in tags.links)
    assert not {"script", "link", "i", "b"} & set(tags.found)
    assert "Benchmark &lt;b&gt;bold" in text
    assert "&lt;i&gt;x&lt;/i&gt;" in text
    assert "A &amp; B" in text
    assert "prefers-color-scheme: dark" in text


def test_every_figure_is_there_as_png_and_svg_with_labels(report):
    names = {"type1", "power", "type1-points", "power-points", "qq", "time-n", "time-dz", "ranking"}
    assert (
        {path.stem for path in report.glob("*.png")} == {path.stem for path in report.glob("*.svg")} == names
    )
    assert all((report / f"{name}.png").read_bytes().startswith(b"\x89PNG") for name in names)


def test_rates_are_those_of_the_store(report, store):
    with Store(store, read_only=True) as opened:
        found = [
            r.pvalue
            for r in opened.records()
            if r.test == "fisher-z" and r.dataset == "hard-no-z" and r.dependent
        ]
    with (report / "rates.csv").open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["test"], row["dataset"], row["hypothesis"]) == ("fisher-z", "hard-no-z", "alternative")
        ]
    assert [float(row["rate"]) for row in rows] == [sum(p <= 0.05 for p in found) / len(found)]


def test_the_same_results_give_the_same_bytes(report, store, tmp_path):
    write_report(store, tmp_path / "again", suite=SUITE)
    for path in report.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_nothing_to_report(tmp_path):
    with Store(tmp_path / "s.sqlite"):
        pass
    with pytest.raises(StoreError, match="no results"):
        write_report(tmp_path / "s.sqlite", tmp_path / "out")
    assert not (tmp_path / "out").exists()
