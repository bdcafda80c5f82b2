from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spectralcit import errors, prepare
from spectralcit.inputs.read import read


def normal(n=40, p=None, seed=0):
    return np.random.default_rng(seed).normal(size=n if p is None else (n, p))


def labels(n=40, k=3, seed=5):
    """Text with `k` levels, each of them present."""
    return [chr(97 + code) for code in np.random.default_rng(seed).permutation(np.arange(n) % k)]


# --- what goes in comes out --------------------------------------------------------------------------------


def test_arrays_keep_their_values_and_get_names_by_role():
    x, y, z = normal(seed=1), normal(p=2, seed=2), normal(p=3, seed=3)
    data = prepare(x, y, z)
    assert data.n == 40
    assert data.n_dropped == 0
    assert data.notes == ()
    np.testing.assert_array_equal(data.x.values, x[:, None])
    np.testing.assert_array_equal(data.y.values, y)
    np.testing.assert_array_equal(data.z.values, z)
    assert data.x.names == ("x",)
    assert data.z.names == ("z[0]", "z[1]", "z[2]")
    assert data.z.kinds == ("continuous",) * 3
    assert data.z.groups == (0, 1, 2)


def test_z_none_means_no_block():
    assert prepare(normal(seed=1), normal(seed=2)).z is None


def test_the_input_is_not_aliased():
    x = normal(seed=1)
    data = prepare(x, normal(seed=2))
    before = data.x.values.copy()
    x[:] = 0.0
    np.testing.assert_array_equal(data.x.values, before)


CONTAINERS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "pandas-nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas-arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas-categorical": lambda columns: pd.DataFrame(columns).astype(
        {"stage": "category", "smoker": "category"}
    ),
    "polars": lambda columns: pl.DataFrame(columns),
    "polars-categorical": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("stage").cast(pl.Categorical)
    ),
    "polars-enum": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("stage").cast(pl.Enum(["unused", "c", "b", "a"]))
    ),
    "pyarrow": lambda columns: pl.DataFrame(columns).to_arrow(),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_container_does_not_matter(container):
    columns = {
        "age": [int(v) for v in np.random.default_rng(0).integers(20, 80, 40)],
        "stage": labels(),
        "smoker": [bool(v) for v in np.random.default_rng(1).permutation(np.arange(40) % 2)],
    }
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    expected = prepare(normal(seed=1), normal(seed=2), rows).z
    block = prepare(normal(seed=1), normal(seed=2), CONTAINERS[container](columns)).z
    np.testing.assert_array_equal(block.values, expected.values)
    assert block.kinds == expected.kinds
    assert block.groups == expected.groups == (0, 1, 1, 1, 2)
    assert block.names == ("age", "stage[a]", "stage[b]", "stage[c]", "smoker[True]")


def test_series_bring_their_name_and_unnamed_series_take_the_role():
    data = prepare(
        pd.Series(normal(seed=1), name="gene"), pl.Series(normal(seed=2)), pd.Series(normal(seed=3))
    )
    assert (data.x.names, data.y.names, data.z.names) == (("gene",), ("y",), ("z",))


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, 2, 3, 4] * 10, dtype="Int64"),
        pd.array([1.0, 2.0, 3.0, 4.0] * 10, dtype="Float64"),
        np.array([1, 2, 3, 4] * 10, dtype=np.uint8),
        np.array([1, 2, 3, 4] * 10, dtype=np.float16),
        np.array([1, 2, 3, 4] * 10, dtype=object),
        [Decimal(v) for v in (1, 2, 3, 4)] * 10,
        (1, 2.0, np.float32(3), np.int8(4)) * 10,
        pl.Series([1, 2, 3, 4] * 10, dtype=pl.Decimal(10, 2)),
        pd.Series(pd.arrays.SparseArray([1.0, 2.0, 3.0, 4.0] * 10)),
    ],
    ids=lambda column: f"{type(column).__name__}-{getattr(column, 'dtype', '')}",
)
def test_every_numeric_type_reads_as_the_same_numbers(column):
    data = prepare(column, normal(seed=2))
    np.testing.assert_array_equal(data.x.values[:, 0], [1.0, 2.0, 3.0, 4.0] * 10)
    assert data.x.kinds == ("discrete",)


def test_frame_with_labels_that_are_not_text():
    frame = pd.DataFrame(normal(p=2), columns=[0, ("a", "b")])
    assert prepare(frame, normal(seed=9)).x.names == ("0", "('a', 'b')")


# --- bad inputs, each with its own error --------------------------------------------------------------------


def with_value(value, row=7, n=40, dtype=object):
    column = normal(n, seed=4).astype(dtype)
    column[row] = value
    return column


# `@` stands for the role of the bad input.
BAD = {
    "no rows": (np.empty((0, 2)), errors.EmptyInputError, "@ has no rows"),
    "empty list": ([], errors.EmptyInputError, "@ has no rows"),
    "no columns": (np.empty((40, 0)), errors.EmptyInputError, "@ has no columns"),
    "frame without columns": (pd.DataFrame(index=range(40)), errors.EmptyInputError, "without columns"),
    "length": (normal(39), errors.LengthMismatchError, "@ has 39.* rows"),
    "constant": (np.full(40, 3.5), errors.ConstantColumnError, "@ is constant .every row is 3.5"),
    "constant text": (["a"] * 40, errors.ConstantColumnError, "every row is 'a'"),
    "constant bool": (np.ones(40, dtype=bool), errors.ConstantColumnError, "every row is 'True'"),
    "constant second column": (
        pd.DataFrame({"a": normal(), "b": 1}),
        errors.ConstantColumnError,
        "column 'b' of @ is constant",
    ),
    "constant up to rounding": (
        np.where(np.arange(40) % 2, 0.1 + 0.2, 0.3),
        errors.ConstantColumnError,
        "up to rounding",
    ),
    "all zero": (np.zeros(40), errors.ConstantColumnError, "every row is 0"),
    "nan": (with_value(np.nan, dtype=float), errors.MissingValuesError, "@: 1, first in row 7"),
    "None": (with_value(None), errors.MissingValuesError, "first in row 7"),
    "pd.NA": (with_value(pd.NA), errors.MissingValuesError, "first in row 7"),
    "NaT": (with_value(pd.NaT), errors.MissingValuesError, "first in row 7"),
    "Decimal NaN": (with_value(Decimal("sNaN")), errors.MissingValuesError, "first in row 7"),
    "nullable": (
        pd.Series([1, None] * 20, dtype="Int64", name="k"),
        errors.MissingValuesError,
        "'k' of @: 20",
    ),
    "nullable bool": (pd.Series([True, None] * 20, dtype="boolean"), errors.MissingValuesError, "20"),
    "missing text": (["a", None, "b", "c"] * 10, errors.MissingValuesError, "@: 10, first in row 1"),
    "missing category": (
        pd.Series(["a", None] * 20, dtype="category"),
        errors.MissingValuesError,
        "20",
    ),
    "polars null column": (pl.DataFrame({"q": [None] * 40}), errors.MissingValuesError, "'q' of @: all"),
    "masked": (np.ma.masked_less(normal(seed=1), 0.0), errors.MissingValuesError, "@: "),
    "masked bool": (
        np.ma.array([True, False] * 20, mask=[True] + [False] * 39),
        errors.MissingValuesError,
        "@: 1, first in row 0",
    ),
    "masked text": (
        np.ma.array(["a", "b"] * 20, mask=[True] + [False] * 39),
        errors.MissingValuesError,
        "@: 1, first in row 0",
    ),
    "inf": (with_value(np.inf, dtype=float), errors.InfiniteValuesError, "@ has 1 infinite value.*row 7"),
    "minus inf object": (with_value(-np.inf), errors.InfiniteValuesError, "row 7"),
    "integer beyond float64": (with_value(10**400), errors.InfiniteValuesError, "row 7"),
    "negative integer beyond float64": (with_value(-(10**400)), errors.InfiniteValuesError, "row 7"),
    "long double": (np.full(40, 2.0, dtype=np.longdouble) ** 5000, errors.InfiniteValuesError, "40 infinite"),
    "complex": (normal() + 1j, errors.UnsupportedTypeError, "complex"),
    "complex object": (with_value(1j), errors.UnsupportedTypeError, "complex.*row 7.*real and imaginary"),
    "time of day": (pl.Series([datetime.time(3)] * 40), errors.UnsupportedTypeError, "times of day"),
    "time object": ([datetime.time(3)] * 40, errors.UnsupportedTypeError, "row 0: times of day"),
    "dates and numbers": (
        [datetime.date(2020, 1, 1), 3] * 20,
        errors.UnsupportedTypeError,
        "row 0: a column of dates must hold nothing else",
    ),
    "period": (
        pd.Series(pd.period_range("2020", periods=40)),
        errors.UnsupportedTypeError,
        "Period.*periods",
    ),
    "mixed text and numbers": (
        with_value("n/a"),
        errors.UnsupportedTypeError,
        "mixes text.*row 7 holds 'n/a'",
    ),
    "mixed text and booleans": (["yes", True] * 20, errors.UnsupportedTypeError, "row 0 holds 'yes'"),
    "first foreign value": ([1.0, {}, "a", 1j] * 10, errors.UnsupportedTypeError, "type dict in row 1"),
    "objects": ([object()] * 40, errors.UnsupportedTypeError, "type object in row 0"),
    "dicts": ([{}] * 40, errors.UnsupportedTypeError, "type dict in row 0"),
    "lists in polars": (pl.Series([[1], [2]] * 20), errors.UnsupportedTypeError, "type list in row 0"),
    "ragged": ([[1, 2], [3]] * 20, errors.UnsupportedTypeError, "same length"),
    "three dimensions": (np.zeros((40, 2, 2)), errors.UnsupportedTypeError, "3 dimensions"),
    "scalar": (3.0, errors.UnsupportedTypeError, "@ is a float"),
    "mapping": ({"a": [1, 2]}, errors.UnsupportedTypeError, "@ is a dict"),
    "generator": ((i for i in range(40)), errors.UnsupportedTypeError, "@ is a generator"),
    "lazy frame": (pl.DataFrame({"a": [1]}).lazy(), errors.UnsupportedTypeError, r"collect\(\) first"),
    "structured": (np.zeros(40, dtype=[("a", float)]), errors.UnsupportedTypeError, "structured"),
    "text instead of data": ("gene", errors.ParameterError, "data="),
    "None instead of data": (None, errors.ParameterError, "@ must be given"),
    "duplicate names": (
        pd.DataFrame(normal(p=2), columns=["a", "a"]),
        errors.DuplicateColumnError,
        "several columns called 'a'",
    ),
    "names equal as text": (
        pd.DataFrame(normal(p=2), columns=[1, "1"]),
        errors.DuplicateColumnError,
        "several columns called '1'",
    ),
    "too many categories": (
        [f"id{i}" for i in range(40)] + [f"jd{i}" for i in range(40)],
        errors.TooManyCategoriesError,
        "80 categories, more than the 50 allowed; merge",
    ),
    "numbers stored as text": (
        [str(i / 7) for i in range(80)],
        errors.TooManyCategoriesError,
        "numbers stored as text",
    ),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("role", ["x", "y", "z"])
def test_bad_input_raises_its_own_error_and_says_where(case, role):
    bad, error, message = BAD[case]
    if case == "generator":
        bad = (i for i in range(40))  # a generator can be used up by another role
    if role == "z" and bad is None:
        return  # no conditioning set: not an error
    n = 80 if error is errors.TooManyCategoriesError else 40
    inputs = {"x": normal(n, seed=11), "y": normal(n, seed=12), "z": normal(n, seed=13), role: bad}
    with pytest.raises(errors.SpectralCITError, match=message.replace("@", role)) as caught:
        prepare(**inputs)
    assert type(caught.value) is error
    assert isinstance(caught.value, ValueError)


def test_empty_z_tells_how_to_test_unconditionally():
    with pytest.raises(errors.EmptyInputError, match="z=None"):
        prepare(normal(seed=1), normal(seed=2), np.empty((40, 0)))


def test_min_rows_is_counted_after_dropping():
    x = normal(30, seed=1)
    x[:11] = np.nan
    with pytest.raises(errors.TooFewRowsError, match="at least 20 rows, got 19 after 11 row"):
        prepare(x, normal(30, seed=2), missing="drop")
    assert prepare(x, normal(30, seed=2), missing="drop", min_rows=19).n == 19


# --- the same column twice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("roles", [("x", "z"), ("y", "z"), ("x", "y")])
def test_identical_columns_in_two_roles(roles):
    shared = normal(seed=7)
    inputs = {"x": normal(p=2, seed=1), "y": normal(p=2, seed=2), "z": normal(p=2, seed=3)}
    for role in roles:
        inputs[role] = np.column_stack([inputs[role], shared])
    with pytest.raises(errors.OverlappingColumnsError, match=rf"'{roles[0]}\[2\]'.*'{roles[1]}\[2\]'"):
        prepare(**inputs)


def test_overlap_is_found_across_containers_types_and_names():
    flags = np.random.default_rng(0).permutation(np.arange(40) % 2)
    with pytest.raises(errors.OverlappingColumnsError, match=r"'treated\[True\]'.*'z'"):
        prepare(pd.Series(flags == 1, name="treated"), normal(seed=1), flags.astype(float))
    with pytest.raises(errors.OverlappingColumnsError):
        prepare(labels(), normal(seed=1), pd.DataFrame({"s": pd.Categorical(labels()), "t": normal(seed=2)}))


def test_one_level_of_a_conditioning_category_overlaps_but_not_the_other_way_round():
    stage = np.array(labels())
    with pytest.raises(errors.OverlappingColumnsError):
        prepare(stage == "b", normal(seed=1), stage)  # x is a function of z
    other = np.where(stage == "a", "a", np.random.default_rng(3).choice(["p", "q"], 40))
    prepare(other, normal(seed=1), stage)  # shares one indicator only: a fair question


def test_same_name_with_other_values_is_no_overlap():
    x, z = pd.DataFrame({"value": normal(seed=1)}), pd.DataFrame({"value": normal(seed=3)})
    assert prepare(x, normal(seed=2), z).n == 40


def test_negative_zero_does_not_hide_an_overlap():
    x = normal(seed=1)
    x[0] = 0.0
    z = x.copy()
    z[0] = -0.0
    with pytest.raises(errors.OverlappingColumnsError):
        prepare(x, normal(seed=2), z)


# --- notes --------------------------------------------------------------------------------------------------


def test_different_pandas_indexes_are_noted():
    x, y = pd.Series(normal(seed=1)), pd.Series(normal(seed=2))
    assert prepare(x, y).notes == ()
    shifted = y.set_axis(np.arange(1, 41))
    assert any("different pandas indexes" in note for note in prepare(x, shifted).notes)
    mixed = y.set_axis(["a", *range(39)])
    assert any("different pandas indexes" in note for note in prepare(x, mixed).notes)


def test_the_same_index_in_another_order_is_noted_with_the_first_row_that_differs():
    people = [f"p{k}" for k in range(40)]
    x = pd.DataFrame({"a": normal(seed=1)}, index=people)
    y = pd.Series(normal(seed=2), index=people)
    swapped = y.iloc[[0, 1, 3, 2, *range(4, 40)]]
    (note,) = prepare(x, swapped).notes
    assert "same pandas index in another order" in note
    assert "row 2 is 'p2' in x and 'p3' in y" in note
    assert prepare(x, swapped.loc[x.index]).notes == ()
    (note,) = prepare(x, y, swapped.rename("z")).notes
    assert "in x and 'p3' in z" in note


DAYS = np.array([18262.0, 18263.5, np.nan] * 14)  # 2020-01-01, noon of the next day, missing
MOMENTS = [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2, 12), None] * 14


@pytest.mark.parametrize(
    "given",
    [
        MOMENTS,
        pd.Series(MOMENTS),
        pd.Series(MOMENTS).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pl.Series(MOMENTS),
        pl.Series(MOMENTS, dtype=pl.Datetime("ms")),
        np.array(MOMENTS, dtype="datetime64[s]"),
        pd.Series(MOMENTS, dtype=object),
        pl.DataFrame({"t": MOMENTS}).to_arrow(),
    ],
    ids=["list", "pandas", "zone", "polars", "ms", "numpy", "objects", "arrow"],
)
def test_dates_are_days_since_1970(given):
    np.testing.assert_array_equal(read(given, "x").columns[0].values, DAYS)


def test_whole_dates_and_durations_are_days():
    dates = [datetime.date(1969, 12, 31), datetime.date(2020, 1, 1)]
    for dated in (dates, pl.Series(dates), np.array(dates, dtype="datetime64[D]")):
        np.testing.assert_array_equal(read(dated, "x").columns[0].values, [-1.0, 18262.0])
    spans = [datetime.timedelta(hours=36), datetime.timedelta(days=-2)]
    for dated in (pd.Series(spans), pl.Series(spans), np.array(spans, dtype="timedelta64[h]")):
        np.testing.assert_array_equal(read(dated, "x").columns[0].values, [1.5, -2.0])


def test_one_error_names_all_unusable_columns():
    frame = pd.DataFrame({"a": normal(seed=1), "one": 1.0, "id": [f"p{k}" for k in range(40)], "two": "x"})
    frame = pd.concat([frame] * 2, ignore_index=True)
    frame["id"] = [f"p{k}" for k in range(80)]
    y = pd.Series(normal(n=80, seed=2), name="y")
    with pytest.raises(errors.InputError, match=r"^3 columns cannot be used: ") as caught:
        prepare(frame["a"], y, frame[["one", "id", "two"]])
    for name in ("'one' of z is constant", "'id' of z has 80 categories", "'two' of z is constant"):
        assert name in str(caught.value)
    with pytest.raises(errors.ConstantColumnError, match=r"2 columns cannot be used: .*'one'.*'two'"):
        prepare(frame["a"], y, frame[["one", "two"]])
    infinite = pd.DataFrame({"u": [np.inf] * 80, "v": [-np.inf] * 80})
    with pytest.raises(errors.InfiniteValuesError, match=r"2 columns cannot be used: .*'u'.*'v'"):
        prepare(frame["a"], y, infinite)
    foreign = pd.DataFrame({"u": [1j] * 80, "v": [{}] * 80})
    with pytest.raises(errors.UnsupportedTypeError, match=r"2 columns cannot be used: .*'u'.*'v'"):
        prepare(frame["a"], y, foreign)


def test_texts_that_were_meant_as_numbers_or_dates_are_told_so():
    commas = pd.Series([f"{k},5" for k in range(80)], name="dose")
    y = pd.Series(normal(n=80, seed=2), name="y")
    with pytest.raises(errors.TooManyCategoriesError, match="decimal comma; convert it"):
        prepare(commas, y)
    (note,) = prepare(pd.Series(["1,5", "2,5"] * 40, name="dose"), y).notes
    assert "taken as 2 categories; it looks like numbers with a decimal comma" in note
    dates = pd.Series([f"2020-01-{1 + k % 28:02d} 10:{k:02d}" for k in range(60)], name="visit")
    with pytest.raises(errors.TooManyCategoriesError, match="dates stored as text; convert them"):
        prepare(dates, y[:60])
    assert prepare(pd.Series(["1,5", "none"] * 40, name="dose"), y).notes == ()


@pytest.mark.parametrize("size", [1e300, 1.7e308, 1e-300, 5e-324])
def test_extreme_magnitudes_are_rescaled_exactly_and_noted(size):
    pattern = np.random.default_rng(0).integers(-1, 2, 40).astype(float)
    data = prepare(pattern * size, normal(seed=2))
    assert "magnitude is extreme" in data.notes[0]
    values = data.x.values[:, 0]
    assert 0.25 <= np.abs(values).max() <= 1.0
    np.testing.assert_array_equal(values, pattern * np.abs(values).max())


# --- hypothesis: a result or a documented error, never anything else ----------------------------------------

numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-(10**30), 10**30),
    st.sampled_from([0, 0.0, -0.0, 1, 1e308, -1e308, 5e-324, 2**63, 10**400]),
)
cells = st.one_of(
    numbers,
    st.booleans(),
    st.text(max_size=3),
    st.none(),
    st.sampled_from([np.nan, pd.NA, pd.NaT, 1j, b"a", datetime.date(2020, 1, 1), Decimal("1.5"), (), [], {}]),
)
dtypes = st.sampled_from(
    [
        "bool",
        "int8",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex128",
        "U3",
        "S2",
        "O",
        "datetime64[s]",
    ]
)


@st.composite
def columns(draw, n):
    """Python lists that favour degenerate content: constants, two values, nearly constant, mixtures."""
    pool = draw(
        st.one_of(
            st.lists(numbers, min_size=1, max_size=3),
            st.lists(st.text(max_size=3), min_size=1, max_size=4),
            st.lists(cells, min_size=1, max_size=4),
            st.lists(st.floats(-10, 10), min_size=n, max_size=n),
        )
    )
    return [pool[i % len(pool)] for i in draw(st.lists(st.integers(0, n), min_size=n, max_size=n))]


def _frame(maker, content):
    """A frame, or the plain list where the library itself refuses to build one."""
    try:
        return maker(content)
    except Exception:
        return content


@st.composite
def inputs(draw):
    n = draw(st.integers(0, 12))
    kind = draw(st.sampled_from(["list", "array", "rows", "pandas", "polars", "series"]))
    n_rows = draw(st.sampled_from([n, n, n, n + 1]))
    if kind == "array":
        shape = draw(st.sampled_from([(n_rows,), (n_rows, 1), (n_rows, 2), (n_rows, 0), (n_rows, 1, 1), ()]))
        dtype = draw(dtypes)
        return draw(hnp.arrays(dtype, shape, elements=cells if dtype == "O" else None))
    first, second = draw(columns(n_rows)), draw(columns(n_rows))
    if kind == "rows":
        return [list(row) for row in zip(first, second, strict=True)]
    if kind == "pandas":
        return _frame(lambda c: pd.DataFrame({"a": c[0], "b": c[1]}), (first, second))
    if kind == "polars":
        return _frame(lambda c: pl.DataFrame({"a": c[0], "b": c[1]}, strict=False), (first, second))
    if kind == "series":
        return _frame(lambda c: pd.Series(c, name="s"), first)
    return first


@given(x=inputs(), y=inputs(), z=st.one_of(st.none(), inputs()), missing=st.sampled_from(["raise", "drop"]))
def test_any_input_gives_clean_data_or_a_documented_error(x, y, z, missing):
    try:
        data = prepare(x, y, z, missing=missing, min_rows=1)
    except errors.SpectralCITError:
        return
    for block in (data.x, data.y, data.z):
        if block is None:
            continue
        assert block.values.dtype == np.float64
        assert block.values.shape == (data.n, len(block.names))
        assert np.isfinite(block.values).all()
        assert (np.ptp(block.values, axis=0) > 0).all()
        assert len(block.names) == len(block.kinds) == len(block.groups)


finite_columns = hnp.arrays(np.float64, 12, elements=st.floats(-1e6, 1e6))


@given(x=finite_columns, y=finite_columns, z=finite_columns, order=st.permutations(range(12)))
def test_permuting_the_rows_permutes_the_blocks(x, y, z, order):
    try:
        data = prepare(x, y, z, min_rows=1)
    except errors.SpectralCITError as error:
        with pytest.raises(type(error)):
            prepare(x[order], y[order], z[order], min_rows=1)
        return
    shuffled = prepare(x[order], y[order], z[order], min_rows=1)
    for role in ("x", "y", "z"):
        before, after = getattr(data, role), getattr(shuffled, role)
        np.testing.assert_array_equal(after.values, before.values[list(order)])
        assert (after.kinds, after.names) == (before.kinds, before.names)
