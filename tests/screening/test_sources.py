"""The same columns, whatever they are stored in, and no more of them in memory than were asked for."""

import datetime

import numpy as np
import polars as pl
import pytest
from pyarrow import feather, parquet

from spectralcit.errors import SpectralCITError, TableFileError, UnsupportedTypeError
from spectralcit.inputs import DataTable
from spectralcit.screening.sources import open_source
from spectralcit.tables import read_table
from spectralcit.tables.reading import Reading


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "a": rng.normal(size=30),
            "stage": ["I", "II", None] * 10,
            "when": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 30), eager=True),
            "clock": [datetime.time(3)] * 30,
        }
    )


@pytest.fixture
def stored(frame, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    table = frame.to_arrow()
    parquet.write_table(table, tmp_path / "t.parquet")
    feather.write_feather(table, str(tmp_path / "t.feather"), compression="uncompressed")
    for k in range(3):
        parquet.write_table(table.slice(10 * k, 10), parts / f"part-{k}.parquet")
    return {
        "eager": frame,
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "parquet": tmp_path / "t.parquet",
        "feather": tmp_path / "t.feather",
        "folder": parts,
        "table": read_table(tmp_path / "t.parquet"),
    }


@pytest.mark.parametrize("kind", ["eager", "lazy", "pandas", "parquet", "feather", "folder", "table"])
def test_same_columns_from_anywhere(frame, stored, kind):
    source = open_source(stored[kind])
    assert source.names == ("a", "stage", "when", "clock")
    read = source.read(["stage", "a", "when", "clock"])
    assert list(read) == ["stage", "a", "when", "clock"]
    np.testing.assert_array_equal(read["a"].values, frame["a"].to_numpy())
    assert read["stage"].levels == ("I", "II")
    assert read["stage"].missing.sum() == 10
    np.testing.assert_array_equal(read["when"].values, 18262.0 + np.arange(30))
    assert isinstance(read["clock"], SpectralCITError)
    assert "times of day" in str(read["clock"])


def test_a_lazy_frame_is_collected_for_the_columns_in_demand():
    def explode(_):
        raise AssertionError("this column was not asked for")

    lazy = pl.LazyFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}).with_columns(
        pl.col("b").map_batches(explode, return_dtype=pl.Float64)
    )
    assert open_source(lazy).read(["a"])["a"].values.tolist() == [1.0, 2.0]


def test_options_of_reading_hold_for_parquet(stored):
    source = open_source(stored["parquet"], Reading(categorical="a"))
    assert source.read(["a"])["a"].levels is not None


def test_what_is_no_table_is_named(tmp_path):
    with pytest.raises(UnsupportedTypeError, match="give an array names first"):
        open_source(np.zeros((3, 2)))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(TableFileError, match="cannot be read as parquet"):
        open_source(tmp_path / "bad.parquet")
    with pytest.raises(TableFileError, match="there is no file"):
        open_source(tmp_path / "missing.parquet")


def test_a_table_with_problems_hands_them_out():
    table = DataTable("t", 0, {}, {"id": TableFileError("too many")}, ("id",))
    assert isinstance(open_source(table).read(["id"])["id"], TableFileError)
