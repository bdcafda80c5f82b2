"""Multiplier bootstrap of several statistics at once: signs in front of sums over groups of rows.

Each statistic is ``|sum_g S_g|² / n`` with sums S_g over groups of rows. Under the null hypothesis the S_g
have mean zero and are as good as independent, so random signs in front of them imitate the null
distribution. The same signs for all statistics keep their dependence, which is what calibrates their
combination without a Bonferroni loss.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from .quadratic import QuadraticNull
from .search import effective_number, joint_sf
from .signs import drawn_signs, more_signs, whole_clusters

__all__ = ["MaximumNull", "Multipliers"]


@dataclass(frozen=True, eq=False)
class MaximumNull:
    """Null distribution of the largest of several studentised sums."""

    draws: np.ndarray  # values under random signs, shape (n_draws,)
    number: float  # how many independent normal variables have such a largest absolute value

    def sf(self, statistic: np.ndarray | float) -> np.ndarray:
        """Return the tail of the largest of that many normal variables, in absolute value."""
        two_sided = 2.0 * special.ndtr(-np.asarray(statistic, dtype=float))
        return np.maximum(joint_sf(two_sided, self.number), np.finfo(float).tiny)


class Multipliers:
    """Random signs for groups of rows, shared by all statistics; `max_groups` bounds the cost at any n.

    Rows of one of the `clusters` are not independent and share their sign; without clusters rows are
    gathered at random.
    """

    def __init__(
        self,
        n: int,
        n_draws: int,
        rng: np.random.Generator,
        *,
        max_groups: int = 400,
        order: np.ndarray | None = None,
        clusters: np.ndarray | None = None,
    ) -> None:
        self.n = n
        self.clustered = clusters is not None
        if clusters is not None:
            self.groups = whole_clusters(clusters, max_groups, rng, order)
            self.signs = rng.choice(np.array([-1.0, 1.0]), size=(n_draws, len(self.groups)))
            return
        drawn, self.signs = drawn_signs(rng, n, min(n, max_groups), n_draws)
        self.groups = np.array_split(drawn if order is None else order[drawn], min(n, max_groups))

    def with_more_signs(self, rng: np.random.Generator) -> Multipliers:
        """Return the same groups with more sign vectors, of which these are the first."""
        extended = copy(self)
        extended.signs = more_signs(self.signs, rng)
        return extended

    @cached_property
    def rows(self) -> np.ndarray:
        """The rows of all groups, one group after the other."""
        return np.concatenate(self.groups)

    @property
    def least_pvalue(self) -> float:
        """What so many groups can show at most: the chance that all signs agree."""
        return 2.0 ** (1 - len(self.groups))

    def forms(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return ``left' right`` of every group's rows, shape (groups, left columns, right columns)."""
        if self.clustered:
            return np.stack([left[rows].T @ right[rows] for rows in self.groups])
        forms = np.empty((len(self.groups), left.shape[1], right.shape[1]))
        sides = zip(self._equal_groups(left[self.rows]), self._equal_groups(right[self.rows]), strict=True)
        done = 0
        for one, other in sides:
            np.matmul(one.transpose(0, 2, 1), other, out=forms[done : done + len(one)])
            done += len(one)
        return forms

    def sums_of_products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return, for every group, the sums over its rows of all products of a left and a right column."""
        return self.forms(left, right).reshape(len(self.groups), -1)

    def _equal_groups(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of one group after the other as (groups, rows, columns): the larger groups, the others.

        Groups gathered at random have two sizes; groups of one size are summed all at once.
        """
        count, width = len(self.groups), rows.shape[1]
        size, larger = divmod(len(rows), count)
        split = larger * (size + 1)
        return (
            rows[:split].reshape(larger, size + 1, width),
            rows[split:].reshape(count - larger, size, width),
        )

    def _summed(self, rows: np.ndarray) -> np.ndarray:
        """Return the sum over each group of rows that come one group after the other."""
        return np.concatenate([groups.sum(axis=1) for groups in self._equal_groups(rows)])

    def null_of_sums(self, sums: np.ndarray) -> QuadraticNull:
        """Return the null distribution of ``|sum of rows of sums|² / n``; `sums` has one row per group."""
        if sums.shape[1] > sums.shape[0]:
            return self.null_of_inner_products(sums @ sums.T)
        draws = np.square(self.signs @ sums).sum(axis=1)
        moments = sums.T @ sums
        own = np.square(sums).sum(axis=1)
        rotated = sums @ moments
        off_cube = (
            np.einsum("ij,jk,ki->", moments, moments, moments, optimize=True)
            - 3.0 * float(own @ np.einsum("ij,ij->i", rotated, sums))
            + 2.0 * (own**3).sum()
        )
        return self._null(draws, own.sum(), np.square(moments).sum() - np.square(own).sum(), off_cube)

    def inner_products(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return ``S S'`` of S, the `sums_of_products`, through n × n matrices.

        For many products of few rows.
        """
        assert not self.clustered
        # Single precision: a thousand products of noise are summed, and a p-value needs few digits.
        u, v = left[self.rows].astype(np.float32), right[self.rows].astype(np.float32)
        gram = u @ u.T
        gram *= v @ v.T
        halved = self._summed(gram)
        return self._summed(halved.T.astype(float))

    def null_of_largest(self, sums: np.ndarray) -> MaximumNull:
        """Return the null distribution of the largest ``|sum| / sqrt(sum of squares)`` of a column."""
        spread = np.sqrt(np.square(sums).sum(axis=0))
        unit = sums[:, spread > 0] / spread[spread > 0]
        if unit.shape[1] == 0:
            return MaximumNull(np.zeros(len(self.signs)), 1.0)
        draws = np.abs(self.signs @ unit).max(axis=1)
        return MaximumNull(draws, effective_number(2.0 * special.ndtr(-draws)))

    def null_of_inner_products(self, gram: np.ndarray) -> QuadraticNull:
        """Return the same as `null_of_sums` from the inner products of all pairs of rows of sums."""
        draws = np.einsum("ij,ij->i", self.signs @ gram, self.signs)
        own = np.diag(gram)
        off = gram - np.diag(own)
        single = off.astype(np.float32)  # the third moment needs few digits, and this is the costly product
        off_cube = float(np.einsum("ij,ij->", single @ single, single))
        return self._null(draws, own.sum(), np.square(off).sum(), off_cube)

    def _null(self, draws: np.ndarray, trace: float, off_square: float, off_cube: float) -> QuadraticNull:
        """Signs leave the diagonal of the Gram matrix alone, so only what is off it varies."""
        n = self.n
        return QuadraticNull(
            draws / n, trace / n, 2.0 * max(off_square, 0.0) / n**2, 8.0 * max(off_cube, 0.0) / n**3
        )
