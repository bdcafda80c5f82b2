from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import spectralcit
from spectralcit.cli import app
from spectralcit.cli.demo import N_ROWS, confounded_triple, dependent_triple

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def residual(a, z):
    basis = np.polynomial.polynomial.polyvander(z, 9)
    return a - basis @ np.linalg.lstsq(basis, a, rcond=None)[0]


def test_the_dependent_triple_hides_its_dependence_from_correlation():
    x, y, z = dependent_triple(np.random.default_rng(1), 20_000)
    rx, ry = residual(x, z), residual(y, z)
    assert abs(stats.pearsonr(rx, ry).statistic) < 0.05
    assert stats.pearsonr(rx**2, ry).statistic > 0.5


def test_the_confounded_triple_is_correlated_only_through_z():
    x, y, z = confounded_triple(np.random.default_rng(1), 20_000)
    assert stats.pearsonr(x, y).statistic > 0.5
    rx, ry = residual(x, z), residual(y, z)
    for a in (rx, rx**2):
        for b in (ry, ry**2):
            assert abs(stats.pearsonr(a, b).statistic) < 4 / np.sqrt(20_000)


@pytest.mark.usefixtures("toy")
def test_demo_prints_both_results_and_writes_the_picture(tmp_path):
    out = tmp_path / "deep" / "picture.png"
    done = CliRunner().invoke(app, ["demo", "--method", "toy", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_bytes().startswith(PNG_SIGNATURE)
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in done.output.splitlines()
        if "│ toy" in line
    ]
    assert [row[:2] for row in rows] == [["dependent", "toy"], ["confounded", "toy"]]
    assert f"{N_ROWS} rows" in done.output
    # A partial correlation is blind to the dependence through the square, and the table admits it.
    assert rows[0][-2:] == ["no tie beyond Z seen", "wrong"]
    assert "\x1b[" not in done.output  # no progress bar and no colours outside a terminal


@pytest.mark.usefixtures("toy")
def test_demo_is_reproducible_and_the_seed_matters(tmp_path):
    def table(seed):
        out = str(tmp_path / "p.png")
        output = CliRunner().invoke(app, ["demo", "--method", "toy", "--out", out, "--seed", seed]).output
        return [line.split("│")[1:5] for line in output.splitlines() if "│ toy" in line]

    assert len(table("1")) == 2
    assert table("1") == table("1")
    assert table("1") != table("2")


def test_an_unknown_method_is_explained(tmp_path):
    done = CliRunner().invoke(app, ["demo", "--method", "spektral", "--out", str(tmp_path / "p.png")])
    assert done.exit_code == 2
    assert "Did you mean 'spectral'" in done.output
    assert "Traceback" not in done.output
    assert not (tmp_path / "p.png").exists()


def test_version():
    done = CliRunner().invoke(app, ["--version"])
    assert done.output.strip() == f"spectralcit {spectralcit.__version__}"


def test_the_default_tour_shows_both_spectral_tests_and_both_find_the_dependence(tmp_path):
    out = tmp_path / "picture.png"
    done = CliRunner().invoke(app, ["demo", "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]]
        for line in done.output.splitlines()
        if "│ spec" in line
    ]
    shown = [(row[0], row[1]) for row in rows]
    assert shown == [
        (data, test) for data in ("dependent", "confounded") for test in ("spectral", "spectral-paper")
    ]
    assert [row[-1] for row in rows[:2]] == ["right", "right"]
    assert out.read_bytes().startswith(PNG_SIGNATURE)
