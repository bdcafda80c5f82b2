"""Normal, chi-squared and gamma tails."""

import math

import pytest
from scipy import stats

from spectralcit.errors import ParameterError
from spectralcit.null import chi2_sf, gamma_sf, normal_sf


@pytest.mark.parametrize("z", [-37.0, -1.0, 0.0, 0.5, 3.0, 37.0])
def test_normal_tails_add_up(z):
    greater, less = normal_sf(z, "greater"), normal_sf(z, "less")
    assert greater + less == pytest.approx(1.0)
    assert normal_sf(z) == pytest.approx(2 * min(greater, less), rel=1e-12)
    assert greater == pytest.approx(stats.norm.sf(z), rel=1e-12)


def test_far_tails_stay_positive_and_ordered():
    values = [normal_sf(z) for z in (10.0, 30.0, 38.0, 100.0)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0
    assert chi2_sf(1e9, 3) > 0


def test_square_of_a_normal_is_chi_squared():
    for z in (0.1, 2.0, 20.0):
        assert chi2_sf(z * z, 1) == pytest.approx(normal_sf(z), rel=1e-10)


def test_gamma_by_moments():
    assert gamma_sf(5.0, mean=4.0, variance=8.0) == pytest.approx(chi2_sf(5.0, 4), rel=1e-12)
    assert gamma_sf(3.0, mean=2.0, variance=4.0) == pytest.approx(math.exp(-1.5), rel=1e-12)


def test_bad_arguments():
    with pytest.raises(ParameterError, match="NaN"):
        normal_sf(math.nan)
    with pytest.raises(ParameterError, match="alternative"):
        normal_sf(1.0, "both")
    with pytest.raises(ParameterError):
        chi2_sf(1.0, 0)
    with pytest.raises(ParameterError):
        gamma_sf(1.0, 1.0, 0.0)
