"""Files as people have them: each gives the answer of the plain file, or one sentence that says what to do.

The plain file is made by polars or the csv module, the awkward ones by openpyxl, gzip and by hand.
"""

from __future__ import annotations

import datetime
import gzip
import tracemalloc

import numpy as np
import openpyxl
import polars as pl
import pytest
from typer.testing import CliRunner

from spectralcit import ci_test, read_table
from spectralcit.cli import app
from spectralcit.errors import (
    EmptyInputError,
    InputError,
    MissingExtraError,
    ParameterError,
    TableFileError,
    TooFewRowsError,
    TooManyCategoriesError,
    UnsupportedTypeError,
)

N = 120
RNG = np.random.default_rng(3)
AGE = RNG.normal(50, 10, N).round(2)
FRAME = pl.DataFrame(
    {
        "gene": (AGE / 10 + RNG.normal(size=N)).round(3),
        "outcome": (AGE / 10 + RNG.normal(size=N)).round(3),
        "age": AGE,
        "stage": RNG.choice(["I", "II", "III"], N),
    }
)
ASKED = {"x": "gene", "y": "outcome", "z": ["age", "stage"], "method": "gcm", "random_state": 0}
EXPECTED = ci_test(data=FRAME, **ASKED).pvalue


def answer(path, **options):
    return ci_test(data=read_table(path, **options), **ASKED)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def as_text(frame, mark=",", decimal="."):
    lines = [mark.join(frame.columns)]
    for row in frame.iter_rows():
        cells = [repr(cell).replace(".", decimal) if isinstance(cell, float) else str(cell) for cell in row]
        lines.append(mark.join(cells))
    return "\n".join(lines) + "\n"


# --- semicolons and decimal commas --------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_decimal_commas_are_recognised_where_commas_do_not_separate(tmp_path, mark):
    path = tmp_path / "european.csv"
    path.write_text(as_text(FRAME, mark, ","), encoding="utf-8")
    result = answer(path)
    assert result.pvalue == EXPECTED
    assert sum("read with a decimal comma" in text for text in result.warnings) == 1
    done = run("test", path, "--x", "gene", "--y", "outcome", "--given", "age,stage", "--method", "gcm")
    assert done.exit_code == 0, done.output
    assert done.output.count("read with a decimal comma") == 1
    assert "give --decimal ." in done.output


def test_commas_that_may_be_thousands_marks_are_not_taken_for_decimals(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("price;size\n" + "".join(f"{k},250;{k}\n" for k in range(1, 61)))
    assert read_table(path).columns["price"].levels is not None
    with pytest.raises(TooManyCategoriesError, match="decimal comma; give decimal=','"):
        ci_test(data=read_table(path), x="price", y="size", method="gcm")
    assert read_table(path, decimal=",").columns["price"].values[0] == 1.25
    path.write_text("price;size\n1,25;1.5\n2,5;2.5\n")  # both marks: nothing is guessed, and a note says so
    table = read_table(path)
    assert table.columns["price"].levels == ("1,25", "2,5")
    assert "give decimal=','" in table.notes["price"]
    np.testing.assert_array_equal(table.columns["size"].values, [1.5, 2.5])


def test_points_are_thousands_marks_where_commas_are_decimals(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1.250,5;1\n-2.000.125,25;2\n3,5;3\n")
    np.testing.assert_array_equal(read_table(path).columns["a"].values, [1250.5, -2000125.25, 3.5])
    path.write_text("a;b\n1.25,5;1\n1,5;2\n")
    assert read_table(path).columns["a"].levels == ("1,5", "1.25,5")


def test_the_line_by_which_excel_is_told_the_separator(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=;\na,b;c\n1,5;2\n2,5;3\n")
    table = read_table(path)
    assert table.names == ("a,b", "c")
    assert table.columns["c"].lines.tolist() == [3, 4]
    np.testing.assert_array_equal(table.columns["a,b"].values, [1.5, 2.5])


def test_the_hint_is_there_above_the_levels_that_are_remembered(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{k},25;{k}.5\n" for k in range(1500)))
    with pytest.raises(TooManyCategoriesError, match="for numbers with a decimal comma give decimal=','"):
        read_table(path).pick("a")


def test_searches_tell_what_was_guessed(tmp_path):
    path = tmp_path / "european.csv"
    path.write_text(as_text(FRAME, ";", ","), encoding="utf-8")
    done = run("discover", path, "--columns", "gene,outcome,age", "--method", "fisher-z")
    assert done.exit_code == 0, done.output
    assert done.output.count("note: numbers of european.csv are read with a decimal comma") == 1


# --- byte-order marks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks(tmp_path, encoding):
    path = tmp_path / "bom.csv"
    mark = "" if encoding in ("utf-8-sig", "utf-16") else "\ufeff"
    path.write_bytes((mark + as_text(FRAME)).encode(encoding))
    assert read_table(path).names == ("gene", "outcome", "age", "stage")
    assert answer(path).pvalue == EXPECTED


# --- workbooks ----------------------------------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    cover = book.active
    cover.title = "Read me"
    cover.append(["about"])
    cover.append(["this study"])
    sheet = book.create_sheet("Data 2020")
    sheet.append([])  # people leave rows blank
    sheet.append([*FRAME.columns, "visit", "flag"])
    for k, row in enumerate(FRAME.iter_rows()):
        day = datetime.datetime(2020, 1, 1) + datetime.timedelta(days=3 * k, hours=12 * (k % 2))
        sheet.append([*row, day, k % 3 == 0])
    sheet["A5"].value = None
    book.create_sheet("empty")
    book.save(tmp_path / "study.xlsx")
    return tmp_path / "study.xlsx"


def test_a_sheet_is_what_its_csv_export_would_be(workbook, tmp_path):
    table = read_table(workbook, sheet="Data 2020")
    plain = FRAME.with_columns(
        pl.Series("gene", [None if k == 2 else v for k, v in enumerate(FRAME["gene"])], dtype=pl.Float64)
    )
    plain.write_csv(tmp_path / "export.csv")
    export = read_table(tmp_path / "export.csv")
    for name in FRAME.columns:
        np.testing.assert_array_equal(table.columns[name].values, export.columns[name].values)
    assert table.columns["gene"].place(2) == "line 5"
    np.testing.assert_array_equal(
        table.columns["visit"].values, 18262 + 3.0 * np.arange(N) + 0.5 * (np.arange(N) % 2)
    )
    assert table.columns["flag"].levels == ("False", "True")
    numbered = ci_test(data=read_table(workbook, sheet="2"), **ASKED, missing="drop")
    assert numbered.pvalue == ci_test(data=export, **ASKED, missing="drop").pvalue


def test_sheets_by_name_and_number_and_what_is_wrong(workbook, tmp_path):
    assert read_table(workbook).names == ("about",)
    assert "the first sheet of study.xlsx, 'Read me', was read" in read_table(workbook).notes["about"]
    assert read_table(workbook, sheet="1").notes == {}
    with pytest.raises(TableFileError, match=r"no sheet 'Data'.*Its sheets are: 'Read me', 'Data 2020'"):
        read_table(workbook, sheet="Data")
    with pytest.raises(EmptyInputError, match=r"sheet 'empty' of study.xlsx is empty"):
        read_table(workbook, sheet="empty")
    plain = tmp_path / "t.csv"
    plain.write_text("a\n1\n")
    with pytest.raises(TableFileError, match="no Excel workbook and has no sheet"):
        read_table(plain, sheet="1")
    done = run(
        *("test", workbook, "--sheet", "Data 2020", "--x", "gene", "--y", "outcome", "--given", "age,stage"),
        *("--method", "gcm", "--missing", "drop"),
    )
    assert done.exit_code == 0, done.output
    assert "119" in done.output


def test_without_calamine_the_extra_is_named(workbook, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spectralcit\[excel\]'"):
        read_table(workbook)


# --- dates --------------------------------------------------------------------------------------------------

DAYS = [datetime.date(2019, 12, 30) + datetime.timedelta(days=k) for k in range(40)]


@pytest.mark.parametrize(
    "written",
    ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%Y-%m-%dT00:00:00Z", "%d-%m-%Y 00:00"],
)
def test_dates_in_text_are_days_with_a_note(tmp_path, written):
    path = tmp_path / "t.csv"
    rows = [f"{day.strftime(written)},{k % 7}" for k, day in enumerate(DAYS)]
    path.write_text("\n".join(["visit,k", *rows, "NA,3"]) + "\n")
    table = read_table(path)
    expected = [(day - datetime.date(1970, 1, 1)).days for day in DAYS]
    np.testing.assert_array_equal(table.columns["visit"].values, [*expected, np.nan])
    assert "'visit' holds dates" in table.notes["visit"]
    assert read_table(path, categorical="visit").columns["visit"].levels is not None
    result = ci_test(data=table, x="visit", y="k", method="gcm", missing="drop")
    assert any("holds dates" in text for text in result.warnings)


def test_times_of_day_and_zones_are_fractions_of_days(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t\n1970-01-02 06:00\n1970-01-02T06:00:00.000Z\n1970-01-02T08:00:00+02:00\n")
    np.testing.assert_allclose(read_table(path).columns["t"].values, 1.25, atol=1e-12)


def test_more_dates_than_levels_that_are_remembered(tmp_path):
    moments = [datetime.datetime(2020, 1, 1) + datetime.timedelta(minutes=37 * k) for k in range(12_000)]
    path = tmp_path / "t.csv"
    path.write_text("t\n" + "\n".join(str(moment) for moment in moments) + "\n")
    expected = np.array(moments, dtype="datetime64[s]").astype(float) / 86400
    np.testing.assert_allclose(read_table(path).columns["t"].values, expected, rtol=1e-14)
    path.write_text(path.read_text() + "soon\n")
    with pytest.raises(UnsupportedTypeError, match=r"holds dates .year-month-day., but 'soon' on line 12002"):
        read_table(path).pick("t")


def test_dates_that_may_be_read_two_ways_stay_text_and_are_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("t\n" + "\n".join(f"0{1 + k % 3}/0{1 + k % 5}/2020" for k in range(30)) + "\n")
    table = read_table(path)
    assert table.columns["t"].levels is not None
    assert "write them as year-month-day" in table.notes["t"]


@pytest.mark.parametrize("text", ["2020-13-01", "2020-02-30", "31.04.2020", "20-1-1", "1/2/20", "12:30"])
def test_what_is_no_date_stays_text(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(f"t,u\n{text},1\n{text},2\nb,3\n")
    assert read_table(path).columns["t"].levels is not None
    path.write_text(f"t,u\n{text},1\n{text},2\n")
    assert read_table(path).columns["t"].levels == (text,)


# --- names and ids ------------------------------------------------------------------------------------------


def test_ids_are_named_all_at_once_with_what_to_do(tmp_path):
    frame = FRAME.with_columns(
        pl.Series("id", [f"P{k:04d}" for k in range(N)]),
        pl.Series("doctor", [f"Dr {k}" for k in range(N)]),
        pl.Series("blank", [None] * N, dtype=pl.Float64),
        pl.Series("centre", ["A"] * N),
        pl.Series("row", np.arange(1, N + 1)),
    )
    path = tmp_path / "ids.csv"
    frame.write_csv(path)
    done = run("test", path, "--x", "gene", "--y", "outcome", "--given", "*", "--method", "gcm")
    assert done.exit_code == 2
    assert "'blank' of ids.csv is empty" in done.output
    done = run("test", path, "--x", "gene", "--y", "outcome", "--given", "*,!blank", "--method", "gcm")
    assert done.exit_code == 2
    assert "3 columns cannot be used" in done.output
    assert "put ! before its name" in done.output
    for name in ("'id' of z has 120", "'doctor' of z has 120", "'centre' of z is constant"):
        assert name in done.output
    done = run("test", path, "--x", "gene", "--y", "outcome", "--given", "age,row", "--method", "gcm")
    assert done.exit_code == 0
    assert "column 'row' numbers the rows, 1 to 120: leave it out" in done.output


def test_columns_given_up_while_reading_are_named_all_at_once(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,id,name\n" + "".join(f"{k % 9},P{k}x,Q{k}\n" for k in range(1500)))
    with pytest.raises(TooManyCategoriesError, match=r"^2 columns cannot be used: .*'id'.*'name'"):
        ci_test(data=read_table(path), x="a", y="id", z="name")


# --- text with many levels ----------------------------------------------------------------------------------


def test_text_with_two_hundred_levels(tmp_path):
    rng = np.random.default_rng(0)
    n = 1000
    city = [f"city {k % 200}" for k in range(n)]
    frame = pl.DataFrame({"city": city, "a": rng.normal(size=n), "b": rng.normal(size=n)})
    path = tmp_path / "t.csv"
    frame.write_csv(path)
    given = ci_test(data=read_table(path), x="a", y="b", z="city", method="fisher-z")
    assert any("200 categories; the 151 rarest" in text for text in given.warnings)
    with pytest.raises(TooManyCategoriesError, match="or allow more: max_levels=200"):
        ci_test(data=read_table(path), x="city", y="b", method="fisher-z")
    whole = ci_test(data=read_table(path, max_levels=200), x="a", y="b", z="city", method="fisher-z")
    assert whole.warnings == ()
    # The oracle: least squares on 200 dummies is taking the mean of each city away.
    centred = frame.with_columns(pl.col("a", "b") - pl.col("a", "b").mean().over("city"))
    r = np.corrcoef(centred["a"], centred["b"])[0, 1]
    assert whole.effect_size == pytest.approx(abs(r), abs=1e-9)
    done = run("test", path, "--x", "city", "--y", "b", "--method", "fisher-z")
    assert "--max-levels 200" in done.output
    for wrong in (1, 10**6, 2.5):
        with pytest.raises(ParameterError, match="max_levels must be"):
            read_table(path, max_levels=wrong)


# --- compressed, large, short -------------------------------------------------------------------------------


@pytest.mark.parametrize("name, mark", [("t.csv.gz", ","), ("t.tsv.gz", "\t"), ("disguised.csv", ",")])
def test_gzip(tmp_path, name, mark):
    path = tmp_path / name
    path.write_bytes(gzip.compress(as_text(FRAME, mark).encode()))
    assert answer(path).pvalue == EXPECTED
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(TableFileError, match="is compressed twice; unpack it"):
        read_table(path)
    path.write_bytes(gzip.compress(as_text(FRAME, mark).encode())[:-20])
    with pytest.raises(TableFileError, match="is a damaged gzip file"):
        read_table(path)


def large(path, megabytes, width=20):
    rng = np.random.default_rng(0)
    block = "\n".join(",".join(f"{v:.4f}" for v in row) for row in rng.normal(size=(500, width))) + "\n"
    with path.open("w") as file:
        file.write(",".join(f"c{k}" for k in range(width)) + "\n")
        for _ in range(int(megabytes * 1e6 / len(block)) + 1):
            file.write(block)
    return path.stat().st_size


def test_a_file_is_read_in_little_more_memory_than_its_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("spectralcit.tables.rows._CHUNK", 1000)
    large(tmp_path / "t.csv", 0.8, width=2)
    tracemalloc.start()
    table = read_table(tmp_path / "t.csv")
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    numbers = 8 * table.n * (len(table.columns) + 1)
    assert held < 1.2 * numbers + 0.5e6
    # Twice for the last concatenation, and two chunks of rows as texts; all of them would be 6 MB.
    assert peak < 2 * numbers + 2e6


@pytest.mark.slow
def test_eighty_megabytes(tmp_path):
    size = large(tmp_path / "t.csv", 80)
    table = read_table(tmp_path / "t.csv")
    assert size > 79e6
    assert not table.problems
    assert all(column.levels is None for column in table.columns.values())


@pytest.mark.parametrize(
    "text, error, message",
    [
        ("", EmptyInputError, "t.csv is empty"),
        ("gene,outcome,age,stage\n", EmptyInputError, "no rows below it"),
        ("gene,outcome,age,stage\n1.5,2.5,3.5,I\n", TooFewRowsError, "at least 20 rows, got 1"),
    ],
)
def test_empty_and_one_row(tmp_path, text, error, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(error, match=message) as caught:
        answer(tmp_path / "t.csv")
    assert isinstance(caught.value, InputError)
    assert str(caught.value).count("\n") == 0
    done = run("test", tmp_path / "t.csv", "--x", "gene", "--y", "outcome", "--method", "gcm")
    assert done.exit_code == 2
    assert "error:" in done.output
