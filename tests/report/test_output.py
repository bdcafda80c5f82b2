from __future__ import annotations

import hashlib
import sys
import zlib

import numpy as np
import pytest

from spectralcit import ci_test, prepare
from spectralcit.errors import MissingExtraError, ParameterError
from spectralcit.report import Question, write_report
from spectralcit.report.output import check_target
from spectralcit.report.provenance import file_facts


@pytest.fixture(scope="module")
def answered():
    x, y, z = np.random.default_rng(0).normal(size=(3, 120))
    result = ci_test(x, y, z, random_state=0)
    return result, {"data": prepare(x, y, z), "question": Question(("größe",), ("y",), ("z",))}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/r.html", "the folder .*missing does not exist: make it"),
        ("r.docx", "an .html or a .pdf file, not 'r.docx'"),
        ("report", "an .html or a .pdf file, not 'report'"),
        (".", "is a folder; a report needs the name of a file"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_made(tmp_path, answered, name, message):
    with pytest.raises(ParameterError, match=message):
        write_report(answered[0], tmp_path / name, **answered[1])
    assert list(tmp_path.iterdir()) == []


def test_a_pdf_holds_the_words_and_the_pictures(tmp_path, answered):
    pytest.importorskip("weasyprint")
    file = write_report(answered[0], tmp_path / "r.PDF", **answered[1])
    content = file.read_bytes()
    assert content.startswith(b"%PDF-")
    # Scatter plots carry images; a page without its pictures has none.
    assert content.count(b"/Subtype /Image") + _inside(content).count(b"/Subtype /Image") >= 4
    assert [path.name for path in tmp_path.iterdir()] == ["r.PDF"]


def _inside(content):
    """What is in the compressed streams."""
    found = []
    for part in content.split(b"stream\n")[1:]:
        try:
            found.append(zlib.decompressobj().decompress(part))
        except zlib.error:
            continue
    return b"".join(found)


def test_without_the_extra_a_pdf_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    monkeypatch.setitem(sys.modules, "weasyprint.urls", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spectralcit\[pdf\]'; or write an .html file"):
        check_target(tmp_path / "r.pdf")


def test_the_file_is_known_by_its_checksum(tmp_path):
    file = tmp_path / "d.csv"
    file.write_bytes(b"a,b\n1,2\n")
    facts = dict(file_facts(str(file)))
    assert facts["SHA-256"] == hashlib.sha256(b"a,b\n1,2\n").hexdigest()
    assert (facts["file"], facts["bytes"]) == ("d.csv", "8")


@pytest.mark.parametrize("source", ["", "-", "standard input", "no such file", "a\0b", "."])
def test_what_is_not_a_file_has_no_checksum(source):
    assert file_facts(source) == []
