"""Ordinal scales of text: their order is said, or numbered, or an error asks for it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from spectralcit.cli import app
from spectralcit.errors import ParameterError
from spectralcit.tables import read_table


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "study.csv"
    rows = [
        f"grade {1 + k % 11},{('low', 'medium', 'high')[k % 3]},{(7 * k) % 40},{(11 * k) % 43 / 7},{k % 4}"
        for k in range(60)
    ]
    path.write_text("\n".join(["grade,pain,age,dose,stage", *rows, "NA,,3,2.5,1"]) + "\n")
    return path


def test_numbered_labels_are_ordered_by_their_numbers(file):
    column = read_table(file, ordinal="grade").columns["grade"]
    assert column.scale == tuple(f"grade {k}" for k in range(1, 12))  # not grade 1, grade 10, grade 11
    assert column.values[:12].tolist() == [*range(11), 0]
    assert column.missing.tolist() == [False] * 60 + [True]


def test_labels_in_the_order_written(file):
    table = read_table(file, ordinal="pain=low<medium<much<high, stage=3<2<1<0")
    assert table.columns["pain"].values[:3].tolist() == [0, 1, 3]
    assert table.columns["stage"].values[:4].tolist() == [3, 2, 1, 0]


def test_numbers_stay_numbers(file):
    assert read_table(file, ordinal="age").columns["age"].scale is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pain", "its labels do not say their order"),
        ("pain=low<medium", "'high' is not on its scale"),
        ("pain=low", "write the labels from low to high"),
        ("pain=low<low", "write the labels from low to high"),
        ("pain=none<low", "means in a file that the value is missing"),
    ],
)
def test_an_unclear_order_is_an_error(file, spec, message):
    with pytest.raises(ParameterError, match=message):
        read_table(file, ordinal=spec)


def test_on_the_command_line(file):
    done = CliRunner().invoke(
        app,
        [
            *("test", str(file), "--x", "age", "--y", "dose", "--given", "pain", "--method", "fisher-z"),
            *("--ordinal", "pain=low<medium<high", "--missing", "drop"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "ordinal, 3 levels: low < medium < high" in done.output
