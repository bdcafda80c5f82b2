from __future__ import annotations

import csv
import io
import math

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from spectralcit import ci_test, read_table
from spectralcit.errors import (
    DuplicateColumnError,
    EmptyInputError,
    MissingExtraError,
    MissingValuesError,
    ParameterError,
    TableFileError,
    TooManyCategoriesError,
    UnsupportedTypeError,
)
from spectralcit.tables import cells, lines
from spectralcit.tables.reading import Reading
from spectralcit.tables.text import read_text


def parse(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_text(io.BytesIO(content), "t.csv", Reading(**options))


def labels(column):
    return [None if code < 0 else column.levels[code] for code in column.values]


numbers = st.floats(allow_nan=False, allow_infinity=False) | st.none()
characters = st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")) | st.just("\n")


def is_plain_text(word):
    return cells.ColumnBuilder("")._number(word) is None and word.lower() not in ("true", "false")


words = st.text(characters, max_size=8).map(str.strip).filter(is_plain_text)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(numbers, words | st.none(), st.booleans(), numbers), min_size=1, max_size=30),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_round_trip_through_the_csv_module(rows, delimiter, newline, bom):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline)
    writer.writerow(["number", "word", "flag", "n 2"])
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    table = parse(text.getvalue().encode("utf-8-sig" if bom else "utf-8"))
    assert table.names == ("number", "word", "flag", "n 2")
    columns = table.columns
    for name, position in (("number", 0), ("n 2", 3)):
        expected = [math.nan if row[position] is None else row[position] for row in rows]
        np.testing.assert_array_equal(columns[name].values, expected)
    if any(row[1] is not None for row in rows):
        assert labels(columns["word"]) == [row[1] for row in rows]
    assert labels(columns["flag"]) == [str(row[2]) for row in rows]


def test_agrees_with_polars_on_a_table_longer_than_a_chunk(tmp_path):
    rng = np.random.default_rng(0)
    n = 23_000  # three chunks; "late" leaves the dictionary in the second of them
    late = np.where(np.arange(n) < 11_000, 1.5, rng.normal(size=n))
    frame = pl.DataFrame(
        {
            "value": rng.normal(size=n),
            "late": late,
            "count": rng.integers(0, 90, n),
            "stage": rng.choice(["I", "II", "III"], n),
            "gaps": [None if i % 7 == 0 else float(i) for i in range(n)],
        }
    )
    frame.write_csv(tmp_path / "t.csv")
    table, oracle = read_table(tmp_path / "t.csv"), pl.read_csv(tmp_path / "t.csv")
    for name in ("value", "late", "count", "gaps"):
        expected = oracle[name].cast(pl.Float64).fill_null(math.nan).to_numpy()
        np.testing.assert_array_equal(table.columns[name].values, expected)
    assert labels(table.columns["stage"]) == oracle["stage"].to_list()
    assert table.columns["value"].lines.tolist() == list(range(2, n + 2))


@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
def test_a_test_sees_the_same_table_in_every_format(tmp_path, format):
    rng = np.random.default_rng(1)
    stage = rng.choice(["low", "high", "none given"], 80)
    frame = pl.DataFrame({"gene": rng.normal(size=80), "stage": stage, "age": rng.integers(20, 80, 80)})
    path = tmp_path / f"t.{format}"
    writers = {
        "csv": frame.write_csv,
        "parquet": lambda p: parquet.write_table(frame.to_arrow(), p),
        "feather": lambda p: feather.write_feather(frame.to_arrow(), str(p)),
    }
    writers[format](path)
    table = read_table(path)
    asked = {"x": "gene", "y": "age", "z": ["stage"], "method": "gcm", "random_state": 4}
    ours, expected = ci_test(data=table, **asked), ci_test(data=frame, **asked)
    assert ours.pvalue == expected.pvalue
    assert ours.n == expected.n
    disguised = tmp_path / "no_suffix"  # found from the first bytes
    disguised.write_bytes(path.read_bytes())
    assert ci_test(data=read_table(disguised), **asked).pvalue == expected.pvalue


@pytest.mark.parametrize("marker", ["", "NA", "NaN", "null", "None", "?", " n/a "])
def test_missing_markers(marker):
    table = parse(f"a,b\n1,u\n{marker},{marker}\n3,v\n")
    assert np.isnan(table.columns["a"].values).tolist() == [False, True, False]
    assert labels(table.columns["b"]) == ["u", None, "v"]


def test_quoted_newlines_blank_lines_and_line_numbers():
    table = parse('\n\na,"b ""x"", y"\n1,"one\ntwo"\n\n2,three\n')
    assert table.names == ("a", 'b "x", y')
    assert table.columns["a"].lines.tolist() == [4, 7]
    assert labels(table.columns['b "x", y']) == ["one\ntwo", "three"]


def test_columns_can_be_forced_to_be_categories_or_numbers():
    text = "code,dose\n01,10\n02,20mg\n01,30\n"
    table = parse(text, categorical="co*")
    assert table.columns["code"].levels == ("01", "02")
    assert "'20mg' on line 3" in table.notes["dose"]
    with pytest.raises(UnsupportedTypeError, match="column 'dose' holds '20mg' on line 3"):
        parse(text, numeric="dose").pick("dose")
    with pytest.raises(ParameterError, match="both numeric and categorical"):
        parse(text, numeric="dose", categorical="dose")


def test_parquet_columns_can_be_forced_too(tmp_path):
    frame = pa.table({"code": [1, 2, 1], "text": ["1.5", "2", None], "bad": ["1", "x", "2"]})
    parquet.write_table(frame, tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", categorical="code", numeric="text,bad")
    assert table.columns["code"].levels == ("1", "2")
    np.testing.assert_array_equal(table.columns["text"].values, [1.5, 2.0, math.nan])
    with pytest.raises(UnsupportedTypeError, match="'bad' holds 'x' in row 1"):
        table.pick("bad")


def test_decimal_comma():
    text = "a;b\n1,5;u\n-2,25;v\n"
    assert "'1,5' on line 2" in parse(text, decimal=".").notes["a"]
    assert "give decimal=','" in parse(text, decimal=".").notes["a"]
    assert parse('a\n1\n"2,5"\n', delimiter=",").notes["a"].endswith("give decimal=','")
    np.testing.assert_array_equal(parse(text, decimal=",").columns["a"].values, [1.5, -2.25])
    with pytest.raises(UnsupportedTypeError, match="give decimal=','"):
        parse(text, numeric="a", decimal=".").pick("a")
    with pytest.raises(ParameterError, match="decimal must be"):
        parse(text, decimal="'")


def test_a_useless_column_is_an_error_only_when_it_is_picked():
    rows = "".join(f"{i},patient {i}\n" for i in range(1500))
    table = parse("value,name\n" + rows)
    assert table.pick("value").n == 1500
    with pytest.raises(TooManyCategoriesError, match=r"'name' is not all numbers .'patient 0' on line 2"):
        table.pick("name")


def test_a_stray_text_late_in_a_long_column_of_numbers_is_named_with_its_line():
    rows = "".join(f"{i},{i % 3}\n" for i in range(15_000))
    table = parse("value,k\n" + rows + "oops,1\n")
    with pytest.raises(TooManyCategoriesError, match="'oops' on line 15002"):
        table.pick("value")


def test_underscores_do_not_make_numbers():
    assert parse("a\n1_000\n2\n").columns["a"].levels == ("1_000", "2")
    rows = "".join(f"{i}\n" for i in range(1200))
    with pytest.raises(TooManyCategoriesError, match="'1_0' on line 1202"):
        parse("a,b\n" + rows.replace("\n", ",1\n") + "1_0,2\n").pick("a")


def test_an_empty_column_can_be_there_but_not_be_used():
    table = parse("a,b\n1,\n2,NA\n")
    with pytest.raises(MissingValuesError, match=r"column 'b' of t.csv is empty: all 2 values"):
        table.pick("b")


@pytest.mark.parametrize(
    "text, error, message",
    [
        (b"", EmptyInputError, "t.csv is empty"),
        (b"\n \n", EmptyInputError, "t.csv is empty"),
        (b"a,b\n", EmptyInputError, "a header .'a', 'b'. and no rows"),
        (b"a,b,a\n1,2,3\n", DuplicateColumnError, "2 columns called 'a' .number 1 and 3."),
        (b"a,b\n1,2\n3\n", TableFileError, "line 3 of t.csv has 1 values, but its header has 2 names"),
        (b"a,b\n1,2,3\n", TableFileError, "line 2 .* perhaps a value holds ',' without quotes"),
        (b"a,b\n1,2\n\xe9,3\n", TableFileError, "byte 0xe9 at offset 8, line 3.*encoding='latin-1'"),
        (b"\xef\xbb\xbfa,b\n\xff,3\n", TableFileError, "byte 0xff at offset 7, line 2"),
        (b"a,b\n1,\x002\n", TableFileError, "NUL byte .byte 6, line 2."),
        (b'a,b\n1,2\n"1,2\n3,4\n', TableFileError, "line 3: a quotation mark is opened"),
        (b"a,b\r1,2\r3,4\r", TableFileError, "carriage return"),
        (b"0.5,1.5\n1,2\n", TableFileError, "first line of t.csv holds numbers"),
    ],
)
def test_malformed_text(text, error, message):
    with pytest.raises(error, match=message):
        parse(text)


def test_numbered_columns_are_names():
    assert parse("0,1,2\n5,6,7\n").names == ("0", "1", "2")


def test_the_right_delimiter_is_found_or_suggested():
    for mark in ",;\t|":
        assert parse(f"a{mark}b\n1{mark}2\n").names == ("a", "b")
    assert parse("a b\n1 2\n", delimiter="space").names == ("a", "b")
    with pytest.raises(TableFileError, match="3 parts separated by ';': give delimiter='semicolon'"):
        parse("a;b;c\n1;2;3\n", delimiter=",")
    with pytest.raises(ParameterError, match="one character"):
        parse("a,b\n1,2\n", delimiter=",,")


def test_encodings():
    assert labels(parse("a\né\nü\n".encode("latin-1"), encoding="latin-1").columns["a"]) == ["é", "ü"]
    assert parse("a,b\n1,é\n".encode("utf-16"), encoding="utf-16").names == ("a", "b")
    with pytest.raises(ParameterError, match="unknown encoding"):
        parse("a\n1\n", encoding="utf-9")


class Endless(io.RawIOBase):
    """A stream without end and without newline, which counts what was read."""

    def __init__(self):
        self.count = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = b"7" * len(buffer)
        self.count += len(buffer)
        return len(buffer)


def test_a_line_without_end_is_given_up():
    raw = Endless()
    with pytest.raises(TableFileError, match=r"line 1 of t.csv is longer than 16 MiB"):
        read_text(io.BufferedReader(raw), "t.csv", Reading())
    assert raw.count < 2 * lines.MAX_LINE


@pytest.mark.parametrize(
    "content, message",
    [
        (b"PK\x03\x04 xlsx", "Excel"),
        (b"\xd0\xcf\x11\xe0 doc", "Excel"),
        (b"\x1f\x8b\x08", "damaged gzip"),
        (b"PAR1 but no more", "cannot be read as parquet"),
    ],
)
def test_foreign_files(tmp_path, content, message):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(TableFileError, match=message):
        read_table(path)


def test_files_that_cannot_be_opened(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(TableFileError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableFileError, match=r"no file .*patient.csv. Did you mean 'patients.csv'\?"):
        read_table(tmp_path / "patient.csv")
    with pytest.raises(ParameterError, match="format must be one of"):
        read_table(tmp_path / "patients.csv", format="stata")


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    parquet.write_table(pa.table({"a": [1.0]}), tmp_path / "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spectralcit\[files\]'"):
        read_table(tmp_path / "t.parquet")
