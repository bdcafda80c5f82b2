"""groups=, time= and weights=: oracles, refusals, and what must not change."""

import numpy as np
import pandas as pd
import pytest

from spectralcit import ci_test, list_tests, prepare, screen, test_many
from spectralcit.base import make_test
from spectralcit.discovery import QueryTester, pc
from spectralcit.discovery.selection import CISelector
from spectralcit.errors import (
    LengthMismatchError,
    MissingValuesError,
    ParameterError,
    TooFewRowsError,
    UnknownColumnError,
)
from spectralcit.inputs.split import folds_of, halves, train_test_rows

N = 120
ABLE = ["spectral", "gcm", "wgcm", "pcm", "fisher-z", "spearman-z", "crt", "cpt", "local-permutation"]
QUICK = {
    "cpt": {"n_permutations": 39, "n_steps": 5, "early_stop": None},
    "crt": {"n_draws": 39, "early_stop": None},
    "local-permutation": {"n_permutations": 39, "early_stop": None},
    "pcm": {"n_splits": 1},
    "spectral-paper": {"output_dim": 2, "layer_size_u": 8, "layer_size_v": 8, "n_epochs": 2},
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(12), 10)
    z = rng.standard_normal(N) + rng.standard_normal(12)[groups]
    x = z + rng.standard_normal(N) + rng.standard_normal(12)[groups]
    y = z + rng.standard_normal(N) + rng.standard_normal(12)[groups]
    return {"x": x, "y": y, "z": z, "groups": groups}


def ask(table, method="fisher-z", **rows):
    return ci_test(table["x"], table["y"], table["z"], method=method, random_state=0, **rows)


@pytest.mark.parametrize("method", [info.name for info in list_tests() if info.tags.honours])
def test_one_group_per_row_and_equal_weights_change_nothing(table, method):
    """Bit for bit, for every test, also for those that would refuse groups or weights that say something."""
    params = QUICK.get(method, {})
    plain = ask(table, method, **params)
    assert ask(table, method, groups=[f"p{k}" for k in range(N)], **params).pvalue == plain.pvalue
    assert ask(table, method, weights=np.full(N, 3.0), **params).pvalue == plain.pvalue


@pytest.mark.parametrize("method", [info.name for info in list_tests()])
def test_what_says_nothing_makes_the_same_data_for_every_test(table, method):
    """Where rows and cells are as usual, what every test is given does not depend on how that was said."""
    test = make_test(method)
    plain = test.prepare(*(table[name] for name in "xyz"))
    time = np.exp(table["y"])
    said = {
        "groups": (test.prepare(*(table[name] for name in "xyz"), groups=np.arange(N)), plain),
        "weights": (test.prepare(*(table[name] for name in "xyz"), weights=np.full(N, 0.1)), plain),
        "impute": (make_test(method, missing="impute").prepare(*(table[name] for name in "xyz")), plain),
        "event": (
            test.prepare(table["x"], (time, np.ones(N)), table["z"]),
            test.prepare(table["x"], time, table["z"]),
        ),
    }
    for data, expected in said.values():
        assert data.design is None
        assert data.incomplete is None
        assert data.y.event is None
        for role in "xyz":
            mine, other = getattr(data, role), getattr(expected, role)
            assert np.array_equal(mine.values, other.values)
            assert (mine.names, mine.kinds, mine.groups) == (other.names, other.kinds, other.groups)


@pytest.mark.parametrize("method", ABLE)
def test_groups_are_honoured_and_told(table, method):
    result = ask(table, method, groups=table["groups"], **QUICK.get(method, {}))
    assert result.diagnostics["rows"] == {"n_groups": 12}
    assert result.pvalue != ask(table, method, **QUICK.get(method, {})).pvalue


@pytest.mark.parametrize("what", ["groups", "time", "weights"])
@pytest.mark.parametrize("method", [info.name for info in list_tests()])
def test_a_test_that_cannot_honour_says_so(table, method, what):
    given = {"groups": table["groups"], "time": True, "weights": np.linspace(1, 2, N)}[what]
    able = [info.name for info in list_tests() if what in info.tags.honours]
    assert "spectral" in able
    if method in able:
        return
    with pytest.raises(ParameterError, match=rf"cannot honour {what}=; tests that can: .*spectral"):
        ask(table, method, **{what: given})


def test_labels_and_order_of_rows_do_not_matter(table):
    base = ask(table, "spectral", groups=table["groups"]).pvalue
    order = np.random.default_rng(1).permutation(N)
    moved = {name: values[order] for name, values in table.items()}
    names = np.array([f"patient {k * 7 % 12}" for k in moved["groups"]])
    assert ask(moved, "spectral", groups=names).pvalue == pytest.approx(base, rel=1e-9)


def test_frequency_weights_are_repeated_rows(table):
    counts = np.arange(N) % 3
    rows = np.repeat(np.arange(N), counts)
    repeated = {name: table[name][rows] for name in "xyz"}
    for method in ("spectral", "fisher-z"):
        counted = ask(table, method, weights=counts, weight_kind="frequency")
        assert counted.pvalue == ask(repeated, method).pvalue
        assert counted.n == counts.sum()


def test_a_scale_of_weights_and_rows_of_weight_zero_do_not_matter(table):
    weights = np.random.default_rng(2).exponential(size=N)
    weights[:10] = 0.0
    kept = {name: table[name][10:] for name in "xyz"}
    for method in ("spectral", "fisher-z", "gcm"):
        p = ask(table, method, weights=weights).pvalue
        assert p == pytest.approx(ask(kept, method, weights=2.0 * weights[10:]).pvalue, rel=1e-9)
    told = ask(table, weights=weights).diagnostics["rows"]["effective_sample_size"]
    assert told == pytest.approx(weights.sum() ** 2 / np.square(weights).sum())


def test_twins_as_groups_are_worth_the_single_rows():
    rng = np.random.default_rng(3)
    z = rng.standard_normal(150)
    x, y = z + rng.standard_normal(150), z + rng.standard_normal(150)
    rows = np.repeat(np.arange(150), 2)
    for method, tolerance in (("fisher-z", 0.06), ("spectral", 0.12)):
        single = ci_test(x, y, z, method=method, random_state=0).pvalue
        double = ci_test(x[rows], y[rows], z[rows], groups=rows, method=method, random_state=0).pvalue
        assert double == pytest.approx(single, abs=tolerance)
        assert ci_test(x[rows], y[rows], z[rows], method=method, random_state=0).pvalue < single


def test_fisher_z_with_groups_is_the_cluster_robust_t():
    """Where the intercept takes nothing from any group, it is Student's t of the groups' sums."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(9), 8)
    x, y = rng.standard_normal((2, 72))
    x, y = x - x.mean(), y - y.mean()
    for k in range(9):  # no group mean: the intercept takes nothing from any group, and CR2 is the identity
        x[groups == k] -= x[groups == k].mean()
    sums = np.array([(x * y)[groups == k].sum() for k in range(9)])
    ratio = sums.sum() / np.sqrt(np.square(sums).sum() * 9 / 8)
    result = ci_test(x, y, method="fisher-z", groups=groups)
    assert result.statistic == pytest.approx(ratio * np.sqrt(8 / (9 - ratio**2)))
    assert result.null.parameters["df"] == pytest.approx(8)


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ({"groups": np.zeros(N)}, TooFewRowsError, "only one group"),
        ({"groups": np.arange(N) % 4}, TooFewRowsError, "only 4 groups"),
        ({"groups": np.arange(N - 1)}, LengthMismatchError, "groups has 119"),
        ({"groups": [None, *range(N - 1)]}, MissingValuesError, "groups is missing in 1 row"),
        ({"weights": np.full(N, -1.0)}, ParameterError, "must not be negative: row 0 has -1"),
        ({"weights": np.zeros(N)}, ParameterError, "all zero"),
        ({"weights": np.full(N, np.nan)}, MissingValuesError, "weights is missing in 120"),
        ({"weights": np.full(N, np.inf)}, ParameterError, "finite"),
        ({"weights": ["a"] * N}, ParameterError, "numbers"),
        ({"weights": np.full(N, 1.5), "weight_kind": "frequency"}, ParameterError, "whole: row 0 has 1.5"),
        ({"weights": np.ones(N), "weight_kind": "survey"}, ParameterError, "weight_kind must be one of"),
        ({"time": np.zeros(N)}, ParameterError, "same moment twice"),
        ({"time": np.r_[np.nan, np.arange(N - 1)]}, MissingValuesError, "time is missing"),
        ({"time": ["soon"] * N}, ParameterError, "numbers or dates"),
        ({"time": True, "block_length": 0}, ParameterError, "block_length must be"),
        ({"time": True, "block_length": 100}, ParameterError, "from 1 to 20"),
        ({"groups": np.arange(N), "block_length": 5}, ParameterError, "needs time="),
        ({"groups": "patient"}, ParameterError, "give the data frame as data="),
        ({"groups": np.zeros((N, 2))}, ParameterError, "one column, got 2; of nested groups give the widest"),
        ({"weights": np.r_[1e6, np.ones(N - 1)]}, TooFewRowsError, r"worth 1\.0 of equal weight"),
        ({"weights": np.full(N, 10**12), "weight_kind": "frequency"}, ParameterError, "more than fit in mem"),
        ({"weight_kind": "survey"}, ParameterError, "weight_kind must be one of"),
    ],
)
def test_bad_arguments_have_one_clear_error(table, rows, error, text):
    with pytest.raises(error, match=text):
        ask(table, **rows)


def test_groups_that_missing_values_leave_are_counted(table):
    holes = np.where(table["groups"] > 3, np.nan, table["x"])
    with pytest.raises(TooFewRowsError, match="only 4 groups once rows with missing values are left out"):
        ci_test(holes, table["y"], table["z"], groups=table["groups"], missing="drop", method="fisher-z")


def test_several_columns_named_as_groups_are_refused(table):
    frame = pd.DataFrame({**table, "site": table["groups"] // 2})
    with pytest.raises(ParameterError, match="of nested groups give the widest"):
        ci_test("x", "y", "z", data=frame, groups=["site", "groups"], method="fisher-z")


def test_dates_may_be_kept_in_anything(table):
    days = pd.date_range("2024-01-01", periods=N)
    expected = ask(table, time=True).pvalue
    zoned, python = days.tz_localize("UTC"), list(days.to_pydatetime())
    for given in (days, zoned, zoned.to_series(), days.to_numpy(), python, [d.date() for d in python]):
        assert ask(table, time=given).pvalue == expected
    assert ask(table, time=False).pvalue == ask(table).pvalue
    by_day = ask(table, groups=pd.Index(days[table["groups"]])).pvalue
    assert by_day == ask(table, groups=table["groups"]).pvalue


def test_weights_of_any_size(table):
    weights = np.linspace(0.1, 1, N)
    for method in ("fisher-z", "gcm"):
        expected = ask(table, method, weights=weights).pvalue
        for size in (1e308, 1e-300):
            assert ask(table, method, weights=size * weights).pvalue == pytest.approx(expected, rel=1e-9)


def test_columns_of_a_frame_say_it(table):
    frame = pd.DataFrame({**table, "day": pd.date_range("2024-01-01", periods=N), "w": np.linspace(1, 2, N)})
    by_name = ci_test("x", "y", "z", data=frame, groups="groups", weights="w", method="fisher-z")
    by_array = ask(table, groups=table["groups"], weights=np.linspace(1, 2, N))
    assert by_name.pvalue == by_array.pvalue
    dated = ci_test("x", "y", "z", data=frame, time="day", method="fisher-z")
    assert dated.pvalue == ask(table, time=True).pvalue
    with pytest.raises(UnknownColumnError, match="patient"):
        ci_test("x", "y", "z", data=frame, groups="patient")
    assert ci_test("x", "y", "z", data=frame, method="wgcm", weights="estimated").n == N


def test_times_are_sorted_here_and_rows_of_a_block_are_near_in_time(table):
    order = np.random.default_rng(0).permutation(N)
    moved = {name: values[order] for name, values in table.items()}
    given = ask(moved, time=order, block_length=7)
    assert given.pvalue == pytest.approx(ask(table, time=True, block_length=7).pvalue, rel=1e-9)
    assert given.diagnostics["rows"] == {"block_length": 7, "n_blocks": 17}


def test_blocks_grow_with_the_memory_and_never_cross_series():
    rng = np.random.default_rng(8)

    def design_of(memory):
        noise = rng.standard_normal((3, 600))
        for t in range(1, 600):
            noise[:, t] = memory * noise[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
        return prepare(noise[0], noise[1], noise[2], time=True).design

    short, long = design_of(0.1), design_of(0.9)
    assert short.facts["block_length"] < long.facts["block_length"]
    assert short.inflation < 1.1 < long.inflation
    x, y, z = rng.standard_normal((3, 600))
    groups = np.repeat(np.arange(8), 75)
    design = prepare(x, y, z, groups=groups, time=np.tile(np.arange(75), 8), block_length=10).design
    assert all(len(np.unique(groups[rows])) == 1 for rows in design.members)
    many = prepare(x, y, z, groups=np.repeat(np.arange(30), 20), time=np.tile(np.arange(20), 30)).design
    assert len(many.members) == 30


def test_rows_dropped_for_missing_values_take_their_groups_along(table):
    holes = dict(table, x=np.where(np.arange(N) % 11 == 0, np.nan, table["x"]))
    kept = ~np.isnan(holes["x"])
    full = {name: values[kept] for name, values in table.items()}
    dropped = ask(holes, groups=table["groups"], missing="drop")
    assert dropped.pvalue == ask(full, groups=full["groups"]).pvalue


def test_folds_and_splits_keep_groups_whole():
    codes = np.repeat(np.arange(10), 7)
    rng = np.random.default_rng(0)
    for first, second in (halves(70, rng, codes), train_test_rows(70, 0.2, rng, codes)):
        assert not set(codes[first]) & set(codes[second])
        assert len(first) + len(second) == 70
    fold = folds_of(70, 5, rng, codes)
    assert all(len(set(fold[codes == k])) == 1 for k in range(10))


def test_everyone_hands_the_groups_on(table):
    groups = table["groups"]
    alone = ask(table, groups=groups).pvalue
    problem = {name: table[name] for name in "xyz"} | {"groups": groups}
    assert test_many([problem], test="fisher-z", random_state=0)[0].pvalue == alone
    frame = pd.DataFrame({name: table[name] for name in "xyz"} | {"patient": [f"p{k}" for k in groups]})
    tester = QueryTester(frame, test="fisher-z", groups="patient")
    assert tester.names == ("x", "y", "z")
    assert tester.pvalue("x", "y", ["z"]) == alone
    assert tester.fingerprint != QueryTester(frame[["x", "y", "z"]], test="fisher-z").fingerprint
    assert set(pc(frame, "fisher-z", groups="patient", progress=False).names) == {"x", "y", "z"}
    frame["day"] = pd.date_range("2024-01-01", periods=N)[::-1]
    dated = QueryTester(frame.set_index(frame.index + 5), test="fisher-z", groups="patient", time="day")
    expected = ask(table, groups=groups, time=-np.arange(N)).pvalue
    assert dated.names == ("x", "y", "z")
    assert dated.pvalue("x", "y", ["z"]) == expected
    frame = frame.drop(columns="day")
    with pytest.raises(ParameterError, match="cannot honour groups"):
        pc(frame, "kcit", groups="patient", progress=False)
    features = np.column_stack([table["x"], table["z"]])
    chosen = CISelector("fisher-z").fit(features, table["y"], groups=groups)
    assert chosen.pvalues_[0] == pytest.approx(alone)
    weighted = CISelector("fisher-z").fit(features, table["y"], sample_weight=np.linspace(1, 2, N))
    assert weighted.pvalues_[0] == pytest.approx(ask(table, weights=np.linspace(1, 2, N)).pvalue)


@pytest.mark.parametrize(
    "time",
    [True, np.arange(N)[::-1], pd.Series(pd.date_range("2024-01-01", periods=N))],
    ids=["in order", "numbers", "dates"],
)
def test_a_selector_takes_times(table, time):
    features = np.column_stack([table["x"], table["z"]])
    told = {"groups": table["groups"], "time": time}
    chosen = CISelector("fisher-z").fit(features, table["y"], **told)
    assert chosen.pvalues_[0] == pytest.approx(ask(table, **told).pvalue)
    assert chosen.pvalues_[0] != pytest.approx(CISelector("fisher-z").fit(features, table["y"]).pvalues_[0])


@pytest.mark.parametrize("argument", ["groups", "sample_weight", "time"])
def test_a_selector_takes_values_and_no_names(table, argument):
    frame = pd.DataFrame({"x": table["x"], "visit": np.arange(N), "z": table["z"]})
    with pytest.raises(ParameterError, match=f"{argument} must be one value per row, got the text 'visit'"):
        CISelector("fisher-z").fit(frame, table["y"], **{argument: "visit"})
    with pytest.raises(ParameterError, match="'kcit' cannot honour time=; tests that can: "):
        CISelector("kcit").fit(frame, table["y"], time=True)


def test_the_default_refuses_statistics_that_take_rows_for_independent(table):
    with pytest.raises(ParameterError, match="need statistic='blocks'"):
        ask(table, "spectral", groups=table["groups"], statistic="witness")


@pytest.mark.parametrize("method", ["spectral", "fisher-z", "gcm"])
def test_level_with_few_groups_whose_rows_are_alike(method):
    """Ten groups, seven tenths of all variance between them: 7 of 40 rejections have a chance of .004."""
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(90_000 + seed)
        groups = np.repeat(np.arange(10), 8)
        x, y, z = (
            np.sqrt(0.7) * rng.standard_normal(10)[groups] + np.sqrt(0.3) * rng.standard_normal(80)
            for _ in range(3)
        )
        p = ci_test(x + z, y + z, z, groups=groups, method=method, random_state=0).pvalue
        rejected += p <= 0.05
    assert rejected <= 6


def test_weights_that_leave_few_rows_are_noted(table):
    heavy = np.ones(N)
    heavy[:8] = 1000.0
    assert any("worth 8 of equal weight" in text for text in ask(table, weights=heavy).warnings)
    assert not any("of equal weight" in text for text in ask(table, weights=np.linspace(1, 2, N)).warnings)


@pytest.mark.parametrize("method", ["spectral", "fisher-z"])
def test_one_group_per_row_and_equal_weights_change_nothing_for_those_who_ask_many_questions(table, method):
    frame = pd.DataFrame({name: table[name] for name in "xyz"})
    own, even = [f"p{k}" for k in range(N)], np.full(N, 0.7)
    for rows in ({"groups": own}, {"weights": even}):
        testers = [QueryTester(frame, test=method, **said) for said in ({}, rows)]
        assert len({tester.pvalue("x", "y", ["z"]) for tester in testers}) == 1
        graphs = [pc(frame, method, progress=False, **said) for said in ({}, rows)]
        assert graphs[0].edges == graphs[1].edges
        screens = [
            screen(frame, ["x"], "y", ["z"], test=method, random_state=0, **said) for said in ({}, rows)
        ]
        assert screens[0].rows[0].pvalue == screens[1].rows[0].pvalue
        problem = {name: table[name] for name in "xyz"}
        many = [test_many([problem | said], test=method, random_state=0)[0].pvalue for said in ({}, rows)]
        assert many[0] == many[1]
    features = frame[["x", "z"]]
    fits = [
        CISelector(method, random_state=0).fit(features, frame["y"], **said).pvalues_
        for said in ({}, {"groups": own}, {"sample_weight": even})
    ]
    assert np.array_equal(fits[0], fits[1])
    assert np.array_equal(fits[0], fits[2])


BAD = {
    "another length": ({"groups": np.arange(N - 1)}, LengthMismatchError, "groups has 119"),
    "one group": ({"groups": np.zeros(N)}, TooFewRowsError, "only one group"),
    "a gap": ({"groups": [None, *range(N - 1)]}, MissingValuesError, "groups is missing in 1 row"),
    "negative": ({"weights": -np.ones(N)}, ParameterError, "must not be negative: row 0 has -1"),
    "all zero": ({"weights": np.zeros(N)}, ParameterError, "all zero"),
    "not a number": ({"weights": np.r_[np.nan, np.ones(N - 1)]}, MissingValuesError, "weights is missing"),
    "one moment": ({"time": np.zeros(N)}, ParameterError, "same moment twice"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_have_the_same_error_everywhere(table, name):
    rows, error, text = BAD[name]
    frame = pd.DataFrame({role: table[role] for role in "xyz"})
    asked = [
        lambda: screen(frame, ["x"], "y", ["z"], **rows),
        lambda: pc(frame, "fisher-z", progress=False, **rows),
        lambda: test_many([{role: table[role] for role in "xyz"} | rows], test="fisher-z"),
    ]
    if "time" not in rows:
        said = {"sample_weight" if key == "weights" else key: value for key, value in rows.items()}
        asked.append(lambda: CISelector("fisher-z").fit(frame[["x", "z"]], frame["y"], **said))
    for ask_it in asked:
        with pytest.raises(error, match=text):
            ask_it()
