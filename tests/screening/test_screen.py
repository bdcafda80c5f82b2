"""A screen is a loop over `ci_test`, only quicker; every column gets its row."""

import numpy as np
import polars as pl
import pytest

from spectralcit import SpectralCIT, ci_test, screen
from spectralcit.errors import ParameterError, UnknownColumnError

GENES = [f"g{k}" for k in range(10)]
GIVEN = ["age", "dose"]


def by_name(found):
    return {row.x: row for row in found.rows}


@pytest.fixture(scope="module")
def two_stage(study):
    return screen(study, y="relapse", z=GIVEN, random_state=3)


def test_full_mode_is_a_loop_over_ci_test_bit_for_bit(study):
    names = [*GENES[:3], "binary", "site", "holes"]
    found = by_name(screen(study, x=names, y="relapse", z=GIVEN, mode="full", random_state=3, missing="drop"))
    for name in names:
        direct = ci_test(name, "relapse", GIVEN, data=study, random_state=3, missing="drop")
        row = found[name]
        assert (row.pvalue, row.effect, row.n, row.warnings) == (
            direct.pvalue,
            direct.effect_size,
            direct.n,
            direct.warnings,
        ), name
        assert [row.low, row.high] == direct.diagnostics["effect_interval"]


def test_columns_sent_on_have_the_pvalue_of_ci_test_and_all_small_ones_are(study, two_stage):
    found = by_name(two_stage)
    assert {"g0", "g1", "site"} <= {row.x for row in two_stage.hits()}
    stages = [row.stage for row in found.values() if row.pvalue is not None and row.pvalue <= 0.08]
    assert set(stages) == {"full"}
    assert sum(row.stage == "quick" for row in found.values()) >= 4
    for name in ("g0", "g1"):
        assert found[name].pvalue == ci_test(name, "relapse", GIVEN, data=study, random_state=3).pvalue


def test_rows_tell_sign_and_kind(two_stage):
    found = by_name(two_stage)
    assert (found["g0"].sign, found["g0"].kind) == (1, "linear")
    assert found["g1"].kind != "linear"
    assert found["site"].sign is None
    assert 0.0 < found["g0"].low < found["g0"].effect < found["g0"].high <= 1.0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("constant", "constant"),
        ("copy of relapse", "hold the same values"),
        ("copy of age", "hold the same values"),
        ("empty", "missing values"),
        ("names", "160 categories"),
        ("holes", "missing='drop'"),
    ],
)
def test_a_column_that_cannot_be_tested_says_why(two_stage, name, words):
    row = by_name(two_stage)[name]
    assert row.pvalue is None
    assert words in row.reason


def test_a_function_of_z_is_independent_and_says_so(two_stage):
    row = by_name(two_stage)["function of age"]
    assert row.pvalue == 1.0
    assert "function of Z" in row.warnings[0]


def test_all_other_columns_are_tested_when_none_are_named(study, two_stage):
    assert set(by_name(two_stage)) == set(study.columns) - {"relapse", *GIVEN}


def test_sorted_with_qvalues_only_where_there_are_pvalues(two_stage):
    p = [row.pvalue for row in two_stage.rows]
    tested = [value for value in p if value is not None]
    assert p == sorted(tested) + [None] * (len(p) - len(tested))
    assert [q is None for q in two_stage.qvalues] == [value is None for value in p]


def test_frames_hold_the_same_table(two_stage):
    pandas, polars = two_stage.to_pandas(), two_stage.to_polars()
    assert pandas["x"].tolist() == polars["x"].to_list() == [row.x for row in two_stage.rows]
    assert polars["pvalue"].null_count() == 6
    assert polars.schema["sign"] == pl.Int64
    np.testing.assert_array_equal(pandas["pvalue"], polars["pvalue"].to_numpy())


def test_pictures(two_stage):
    volcano, qq = two_stage.plot().axes
    assert "λ" in qq.get_title()
    assert len(volcano.texts) == len(two_stage.hits())


def test_neither_container_nor_processes_matter(study, two_stage, tmp_path):
    study.to_parquet(tmp_path / "study.parquet")
    frame = pl.from_pandas(study)
    for data, jobs in ((frame.lazy(), 2), (tmp_path / "study.parquet", 1)):
        other = screen(data, y="relapse", z=GIVEN, random_state=3, n_jobs=jobs)
        assert other.rows == two_stage.rows


def test_columns_with_gaps_of_their_own_are_looked_at_too(study):
    rng = np.random.default_rng(5)
    holes = study.assign(**{name: study[name].where(rng.random(len(study)) > 0.05) for name in GENES})
    found = by_name(screen(holes, x=GENES, y="relapse", z=GIVEN, missing="drop"))
    assert {found[name].stage for name in ("g0", "g1")} == {"full"}
    assert sum(row.stage == "quick" for row in found.values()) >= 4
    assert all(row.n == holes[name].notna().sum() for name, row in found.items())
    direct = ci_test("g0", "relapse", GIVEN, data=holes, random_state=0, missing="drop")
    assert found["g0"].pvalue == direct.pvalue


def test_many_outcomes(study):
    found = screen(study, x="g0:g2", y=["relapse", "binary"], z="age", mode="full")
    alone = screen(study, x="g0:g2", y="binary", z="age", mode="full")
    assert {(row.x, row.y) for row in found.rows} == {
        (x, y) for x in ("g0", "g1", "g2") for y in ("relapse", "binary")
    }
    assert set(alone.rows) <= set(found.rows)


def test_all_pairs_of_a_list(study):
    names = ["g0", "g1", "relapse", "binary"]
    found = screen(study, pairs=names, z="age", test="fisher-z")
    assert {frozenset((row.x, row.y)) for row in found.rows} == {
        frozenset((a, b)) for a in names for b in names if a != b
    }
    assert len(found.rows) == 6
    row = next(row for row in found.rows if {row.x, row.y} == {"g0", "relapse"})
    assert row.pvalue == ci_test(row.x, row.y, "age", data=study, method="fisher-z").pvalue
    with pytest.raises(ParameterError, match="either pairs"):
        screen(study, y="relapse", pairs=names)


def test_a_list_may_hold_patterns_beside_names(study):
    listed = screen(study, x=["g?", "binary", "copy of *"], y="relapse", z=GIVEN, test="fisher-z")
    typed = screen(study, x="g?,binary,copy of *", y="relapse", z=GIVEN, test="fisher-z")
    assert listed.rows == typed.rows
    with pytest.raises(UnknownColumnError, match="no column matches 'k"):
        screen(study, x=["g0", "k*"], y="relapse")
    with pytest.raises(ParameterError, match="more than once"):
        screen(study, x=["g0", "g0"], y="relapse")


def test_a_test_that_cannot_share(study):
    found = screen(study, x="g0:g2", y="relapse", z=GIVEN, test="fisher-z")
    assert found.method == "fisher-z"
    for row in found.rows:
        assert row.pvalue == ci_test(row.x, "relapse", GIVEN, data=study, method="fisher-z").pvalue


def test_no_z(study):
    found = by_name(screen(study, x=GENES, y="relapse"))
    assert found["g0"].pvalue == ci_test("g0", "relapse", data=study, random_state=0).pvalue < 1e-4


def test_wrong_arguments_are_named(study):
    with pytest.raises(ParameterError, match="fdr"):
        screen(study, y="relapse", fdr="holm")
    with pytest.raises(ParameterError, match="mode"):
        screen(study, y="relapse", mode="quick")
    with pytest.raises(ParameterError, match="y is missing"):
        screen(study)
    with pytest.raises(UnknownColumnError, match="Did you mean 'relapse'"):
        screen(study, y=["relaps"])
    with pytest.raises(ParameterError, match="no parameter 'draws'"):
        screen(study, y="relapse", draws=3)


def test_what_is_wrong_with_outcome_or_z_is_an_error_and_not_a_row_each(study):
    with pytest.raises(ValueError, match="column 'holes' of z"):
        screen(study, x=GENES, y="relapse", z="holes")


def test_an_instance_keeps_its_parameters(study):
    found = screen(study, x=["g2", "g3"], y="relapse", z="age", test=SpectralCIT(n_draws=200), mode="full")
    direct = ci_test("g2", "relapse", "age", data=study, random_state=0, n_draws=200)
    assert by_name(found)["g2"].pvalue == direct.pvalue
