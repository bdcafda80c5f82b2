"""Tests of a censored time: level under censoring that depends on X, power, invariances."""

import numpy as np
import pytest

from spectralcit import SpectralCIT, ci_test
from spectralcit.errors import CensoredTimesError, ParameterError


def study(seed, n=250, effect=0.0, crossing=False):
    """Z acts on X and on the hazard, X and Z on censoring."""
    rng = np.random.default_rng(seed)
    z, noise = rng.normal(size=n), rng.normal(size=n)
    x = np.sin(2 * z) + noise
    power = np.exp(np.tanh(noise)) if crossing else 1.0
    time = rng.exponential(size=n) ** power * np.exp(-np.sin(2 * z) - effect * noise)
    limit = 2.0 * rng.exponential(size=n) * np.exp(-x)
    return x, (np.minimum(time, limit), time <= limit), z


def test_censoring_that_depends_on_x_is_no_dependence():
    pvalues = [ci_test(*study(seed), random_state=0).pvalue for seed in range(12)]
    assert sum(p <= 0.05 for p in pvalues) <= 3
    # Taken for times of events, the same times depend on X.
    naive = [ci_test(x, time, z, random_state=0).pvalue for x, (time, _), z in map(study, range(3))]
    assert max(naive) < 0.02


@pytest.mark.parametrize("method", ["spectral", "gcm", "wgcm"])
def test_a_log_hazard_ratio_is_found(method):
    result = ci_test(*study(1, effect=0.7), method=method, random_state=0)
    assert result.pvalue <= 0.005
    assert 0.2 < result.effect_size < 1.0
    if method != "spectral":  # these two have a sign
        x, y, z = study(1, effect=0.7)
        assert ci_test(-x, y, z, method=method, random_state=0).effect_size < -0.2
    assert 100 < result.diagnostics["n_events"] < 250
    assert result.diagnostics["share_censored"] == pytest.approx(1 - result.diagnostics["n_events"] / 250)


def test_crossing_hazards_are_found():
    assert ci_test(*study(2, crossing=True), random_state=0).pvalue < 0.01


def test_units_of_time_and_the_order_of_rows_do_not_matter():
    x, (time, event), z = study(3)
    order = np.random.default_rng(0).permutation(len(x))
    first = ci_test(x, (time, event), z, random_state=0)
    second = ci_test(x[order], (365.25 * time[order], event[order]), z[order], random_state=0)
    assert first.pvalue == second.pvalue


def test_vectors_categories_and_no_z():
    x, y, z = study(4, effect=1.0)
    label = np.where(x > 0, "high", "low")
    assert ci_test(np.column_stack([x, x**2]), y, z, random_state=0).pvalue < 0.01
    assert ci_test(label, y, random_state=0).pvalue < 0.01
    assert 0.0 < ci_test(x, y, np.column_stack([z, z**2]), method="gcm", random_state=0).pvalue < 0.01


def test_one_of_many_columns_and_a_wide_z():
    x, y, z = study(8, effect=1.0)
    rng = np.random.default_rng(0)
    many = np.column_stack([rng.normal(size=(250, 20)), x])
    assert ci_test(many, y, z, random_state=0).pvalue < 0.01
    wide = ci_test(x, y, np.column_stack([z, rng.normal(size=(250, 130))]), random_state=0)
    assert wide.pvalue < 0.01
    assert any("131 columns" in text for text in wide.warnings)


def test_no_censoring_is_the_plain_test():
    x, (time, _), z = study(5)
    for method in ("spectral", "gcm", "kcit"):
        plain = ci_test(x, time, z, method=method, random_state=0)
        told = ci_test(x, (time, np.ones(len(x))), z, method=method, random_state=0)
        assert plain.pvalue == told.pvalue
        assert "n_events" not in told.diagnostics


def test_a_test_that_cannot_says_so_and_names_those_that_can():
    with pytest.raises(CensoredTimesError, match=r"'pcm' cannot take censored times .*: gcm, spectral, wgcm"):
        ci_test(*study(6), method="pcm")
    with pytest.raises(CensoredTimesError, match="statistic='blocks'"):
        SpectralCIT(statistic="witness").test(*study(6))


def test_few_events_are_warned_of():
    x, (time, event), z = study(7)
    event &= np.cumsum(event) <= 20
    assert any("20 events" in text for text in ci_test(x, (time, event), z, random_state=0).warnings)


def patients(seed, effect=0.0, count=20, visits=10):
    """Patients have a frailty, an X and a Z of their own."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(count), visits)
    n = len(patient)
    z, noise = (rng.normal(size=count)[patient] + 0.5 * rng.normal(size=n) for _ in range(2))
    frailty = rng.normal(size=count)[patient]
    time = rng.exponential(size=n) * np.exp(-0.7 * z - frailty - effect * noise)
    limit = 2.0 * rng.exponential(size=n) * np.exp(-0.5 * noise)
    return noise, (np.minimum(time, limit), time <= limit), z, patient


@pytest.mark.parametrize("method", ["spectral", "gcm"])
def test_patients_with_a_frailty_of_their_own_are_groups(method):
    """4 of 15 rejections at the level .05 have a chance of .006."""
    told, untold = 0, 0
    for seed in range(15):
        x, y, _, patient = patients(seed)
        told += ci_test(x, y, groups=patient, method=method, random_state=0).reject()
        untold += ci_test(x, y, method=method, random_state=0).reject()
    assert told <= 3
    assert untold >= 6


def test_a_hazard_ratio_is_found_among_groups_by_every_test():
    x, y, z, patient = patients(3, effect=1.5)
    for method in ("spectral", "gcm", "wgcm"):
        result = ci_test(x, y, z, groups=patient, method=method, random_state=0)
        assert result.pvalue < 0.03
        assert result.diagnostics["rows"] == {"n_groups": 20}
    low, high = ci_test(x, y, z, groups=patient, random_state=0).diagnostics["effect_interval"]
    plain_low, plain_high = ci_test(x, y, z, random_state=0).diagnostics["effect_interval"]
    assert high - low > plain_high - plain_low


def test_one_group_per_row_changes_nothing_of_a_censored_time():
    x, y, z = study(5)
    for method in ("spectral", "gcm", "wgcm"):
        plain = ci_test(x, y, z, method=method, random_state=0)
        assert (
            ci_test(x, y, z, groups=np.arange(len(x)), method=method, random_state=0).pvalue == plain.pvalue
        )


def test_groups_go_with_censored_times_but_not_time_nor_weights():
    x, y, z = study(6)
    for rows in ({"time": True}, {"weights": np.linspace(1, 2, len(x))}):
        with pytest.raises(CensoredTimesError, match=f"cannot be combined with {next(iter(rows))}="):
            ci_test(x, y, z, **rows)


def test_cells_are_not_drawn_beside_a_censored_time():
    x, y, z = study(6)
    with pytest.raises(ParameterError, match=r"does not go with censored times.*use missing='drop'"):
        ci_test(np.where(x > 1, np.nan, x), y, z, missing="impute")
