"""Counts and rounded values are not taken for labels of subjects; what is measured per subject is."""

from __future__ import annotations

import numpy as np
import pytest

from spectralcit import prepare
from spectralcit.inputs.numbers import repeats_by_itself

N = 400
SUBJECT = np.repeat(np.arange(40), 10)


def about_labels(*given):
    return [note for note in prepare(*given).notes if "same value" in note]


def counts(mean, link, size):
    """Negative binomial counts with a log link in z."""

    def make(rng):
        z = rng.normal(size=N)
        x, y = rng.poisson(rng.gamma(size, np.exp(mean + link * z) / size, (2, N))).astype(float)
        return x, y, z

    return make


def rounded(scale, decimals):
    def make(rng):
        z = rng.normal(size=N)
        x, y = np.round(scale * (z + 0.06 * rng.normal(size=(2, N))), decimals)
        return x, y, z

    return make


def rough(draw, function):
    """Both sides are a rough function of whole numbers in Z."""

    def make(rng):
        z = draw(rng)
        x, y = function(z) + 0.5 * rng.normal(size=(2, N))
        return x, y, z

    return make


QUIET = {
    "few counts": counts(1.0, 0.8, 2.0),
    "many counts": counts(2.5, 0.6, 1e6),
    "rounded": rounded(6.0, 0),
    "parity": rough(lambda rng: rng.integers(0, 30, N) * 1.0, lambda z: z % 2 * 2 - 1),
    "blocks of three": rough(lambda rng: rng.integers(20, 80, N) * 1.0, lambda z: z // 3 % 2 * 2 - 1),
    "parity of few": rough(lambda rng: np.round(3 * rng.normal(size=N)), lambda z: z % 2 * 2 - 1),
    "parity of tenths": rough(
        lambda rng: np.round(rng.normal(size=N), 1), lambda z: np.round(10 * z) % 2 * 2 - 1
    ),
}


@pytest.mark.parametrize("kind", QUIET)
def test_numbers_that_repeat_by_themselves_are_no_labels(kind):
    warned = sum(bool(about_labels(*QUIET[kind](np.random.default_rng(7_500_000 + k)))) for k in range(20))
    assert warned <= 1


IDENTIFIERS = {
    "numbers without gaps": lambda rng: np.arange(1.0, 41.0),
    "numbers with gaps": lambda rng: rng.choice(100_000, 40, replace=False) * 1.0,
    "altitude": lambda rng: np.round(rng.uniform(0, 1500, 40)),
}


def noise(rng, share=0.3):
    return np.sqrt(share) * rng.normal(size=40)[SUBJECT] + np.sqrt(1 - share) * rng.normal(size=N)


@pytest.mark.parametrize("kind", IDENTIFIERS)
def test_what_tells_subjects_apart_is_found_in_z(kind):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(7_500_100 + seed)
        z = np.column_stack([IDENTIFIERS[kind](rng)[SUBJECT], rng.normal(size=N)])
        rows = rng.permutation(N)
        found += bool(about_labels(noise(rng)[rows], noise(rng)[rows], z[rows]))
    assert found >= 19


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_what_is_measured_per_subject_is_found_in_a_side(decimals):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(7_500_200 + seed)
        x, z = np.round(rng.uniform(0, 1500, 40), decimals)[SUBJECT], rng.normal(size=N)
        rows = rng.permutation(N)
        found += bool(about_labels(x[rows], noise(rng)[rows], z[rows]))
    assert found >= 19


@pytest.mark.parametrize("zeros", [0.0, 0.15, 0.6])
@pytest.mark.parametrize("unit", [1.0, 0.1, 5 / 9])
def test_counts_repeat_by_themselves_however_many_are_zero_and_in_any_unit(zeros, unit):
    rng = np.random.default_rng(0)
    values = rng.poisson(rng.gamma(2.0, 2.0, N)) * (rng.uniform(size=N) >= zeros)
    assert repeats_by_itself(values * unit - 32.0)


def test_values_that_are_one_but_for_floating_point_are_no_step():
    values = np.round(np.random.default_rng(0).normal(size=N), 1)
    values[:5] += 1e-15
    assert repeats_by_itself(values)
    assert repeats_by_itself(np.full(5, 0.3))
