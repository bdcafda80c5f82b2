"""From features to p-values: the statistics that `SpectralCIT` can use, each as a piece of evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg

from ..inputs import RowDesign
from ..null.bootstrap import Multipliers
from ..null.chi2 import chi2_sf
from ..null.chi2_mixture import chi2_mixture_sf
from ..null.combine import cauchy
from ..null.joint import Combination, Null, joint_p
from ..null.normal import normal_sf
from ..null.signs import are_too_few
from ..numeric.whiten import Whitener
from ..result import NullDistribution
from .block_null import Drawn, measured_block
from .blocks import BLOCK_WEIGHTS, FeatureBlock, feature_blocks
from .canonical import comes_first, joint_order, mirrored
from .largest_pair import LargestPairs, largest_pairs
from .learned import LearnedEvidence, LearnedPair, learned_evidence, learned_search
from .side_features import SideFeatures
from .witness import Fold, witness_statistic
from .zweights import ZWeights

__all__ = [
    "SEARCH_DRAWS",
    "Evidence",
    "block_evidence",
    "combine_evidence",
    "frobenius_evidence",
    "learned_pair",
    "witness_evidence",
]

_STORED_DRAWS = 200  # of the null distribution in a result: enough for a picture, small in a file
# By hand. When X or Y has several columns, what the searches get of the error rate; blocks have the rest.
_SEARCH_SHARES = {"learned": 0.25, "largest linear pair": 0.075, "largest curved pair": 0.075}
SEARCH_DRAWS = (
    200  # by hand: sign vectors under which directions are learned again at first; see `null.signs`
)
# A block, its statistic, and what draws its null distribution: measured once, for the first signs and more.
_Measured = tuple[FeatureBlock, float, Drawn]
_MAX_WHITENED = 10  # whitening many noisy features would spread any signal over the square of their number


@dataclass(frozen=True)
class Evidence:
    """A statistic with its p-value and null distribution."""

    name: str  # which statistic
    statistic: float  # as in a result
    pvalue: float
    null: NullDistribution
    details: dict[str, Any] = field(default_factory=dict)  # what else the user may want to see, JSON-safe
    learned: LearnedPair | None = None  # the leading learned pair, where a side has several columns


@dataclass(frozen=True, eq=False)
class _Piece:
    """One statistic with its share of the error rate and its null distribution under the shared signs."""

    name: str
    share: float
    statistic: float
    null: Null
    squares: FeatureBlock | None = None  # the block, where the statistic is a sum of squares

    def mixture_p(self) -> float:
        """Return the p-value without signs: that of a chi-squared mixture, where there is one."""
        if self.squares is None:
            return float(self.null.sf(self.statistic))
        weights = _mixture_weights(self.squares.left, self.squares.right_products(slice(None)))
        return chi2_mixture_sf(self.statistic, weights)


def block_evidence(
    x: SideFeatures,
    y: SideFeatures,
    weights: ZWeights | None,
    *,
    null: str,
    n_draws: int,
    rng: np.random.Generator,
    design: RowDesign | None = None,
) -> Evidence:
    """Combine all blocks and, when there are several columns, learned directions and the largest pair."""
    if not comes_first(x, y):
        return _mirrored(block_evidence(y, x, weights, null=null, n_draws=n_draws, rng=rng, design=design))
    multipliers = _multipliers(x, y, n_draws, rng, design)
    blocks, search = feature_blocks(x, y, weights), learned_search(x, y, multipliers)
    measured = [(block, *measured_block(block, multipliers)) for block in blocks]
    learned, largest = None if search is None else search.evidence(), largest_pairs(x, y, multipliers)
    pieces, table = _pieces(measured, learned, largest, multipliers), {} if learned is None else learned.table
    if null == "mixture":
        found = _mixture_evidence(pieces)
    else:
        combination: Combination = "min" if null == "min-p" else "harmonic-mean"
        found = _signed_evidence(pieces, combination, multipliers)
        if are_too_few(multipliers.signs, found.pvalue):
            drawn = len(multipliers.signs)
            multipliers = multipliers.with_more_signs(rng)
            more = None if search is None else search.further(multipliers.signs[drawn:]).evidence()
            pieces = _pieces(measured, more, largest_pairs(x, y, multipliers), multipliers)
            table = {} if more is None else more.table
            found = _signed_evidence(pieces, combination, multipliers)
    if learned is None or largest is None:
        return found
    # The pair that is shown is that of the first signs: `learned_pair` finds it without p-values.
    details = {
        **found.details,
        "block_pvalues": {**found.details["block_pvalues"], **table},
        "learned_pair": learned.pair.described(x, y),
        "largest_pair": {"x": largest.x, "y": largest.y},
    }
    return replace(found, details=details, learned=learned.pair)


def _mixture_evidence(pieces: list[_Piece]) -> Evidence:
    """Combine the p-values without signs by Cauchy's method."""
    shares = np.array([piece.share for piece in pieces])
    pvalues = [piece.mixture_p() for piece in pieces]
    strongest = -float(np.log((np.array(pvalues) / shares).min()))
    described = NullDistribution("cauchy_combination", {"n_components": len(pieces)})
    table = {piece.name: float(p) for piece, p in zip(pieces, pvalues, strict=True)}
    return Evidence("blocks", strongest, cauchy(pvalues, shares), described, {"block_pvalues": table})


def _signed_evidence(pieces: list[_Piece], combination: Combination, multipliers: Multipliers) -> Evidence:
    """Combine the pieces by their distribution under the shared signs."""
    combined = joint_p(
        np.array([piece.statistic for piece in pieces]),
        [piece.null for piece in pieces],
        np.array([piece.share for piece in pieces]),
        combination,
    )
    least = multipliers.least_pvalue
    thinned = combined.draws[np.linspace(0, len(combined.draws) - 1, _STORED_DRAWS).astype(int)]
    described = NullDistribution("bootstrap", {"draws": thinned.tolist()})
    table = {piece.name: float(max(p, least)) for piece, p in zip(pieces, combined.pvalues, strict=True)}
    details = {"block_pvalues": table, "pvalue_error": combined.error}
    return Evidence("blocks", combined.statistic, max(combined.pvalue, least), described, details)


def learned_pair(
    x: SideFeatures,
    y: SideFeatures,
    *,
    n_draws: int,
    rng: np.random.Generator,
    design: RowDesign | None = None,
) -> LearnedPair | None:
    """Return `Evidence.learned` of `block_evidence` without the blocks."""
    if not comes_first(x, y):
        swapped = learned_pair(y, x, n_draws=n_draws, rng=rng, design=design)
        return None if swapped is None else swapped.mirrored()
    learned = learned_evidence(x, y, _multipliers(x, y, n_draws, rng, design))
    return None if learned is None else learned.pair


def _multipliers(
    x: SideFeatures, y: SideFeatures, n_draws: int, rng: np.random.Generator, design: RowDesign | None
) -> Multipliers:
    if x.linear.shape[1] > 1 or y.linear.shape[1] > 1:
        n_draws = min(n_draws, SEARCH_DRAWS)
    # Rows that do not count alike are clusters of one: few heavy ones are treated as few clusters are.
    clusters = None if design is None else design.clusters
    if design is not None and clusters is None:
        clusters = np.arange(len(x.linear))
    return Multipliers(len(x.linear), n_draws, rng, order=joint_order(x, y), clusters=clusters)


def _pieces(
    blocks: list[_Measured],
    learned: LearnedEvidence | None,
    largest: LargestPairs | None,
    multipliers: Multipliers,
) -> list[_Piece]:
    """Return all statistics with their null distributions and their shares of the error rate."""
    searches = _searches(learned, largest)
    return [*_blocks(blocks, multipliers, 1.0 - sum(piece.share for piece in searches)), *searches]


def _blocks(blocks: list[_Measured], multipliers: Multipliers, share: float) -> list[_Piece]:
    """Draw the blocks' null distributions; together they have this share of the error rate."""
    total = sum(BLOCK_WEIGHTS[block.name] for block, _, _ in blocks)
    return [
        _Piece(
            block.name,
            share * BLOCK_WEIGHTS[block.name] / total,
            statistic,
            drawn(multipliers),
            squares=None if block.largest else block,
        )
        for block, statistic, drawn in blocks
    ]


def _searches(learned: LearnedEvidence | None, largest: LargestPairs | None) -> list[_Piece]:
    """Return the searches for directions and for single pairs, where a side has several columns."""
    if learned is None or largest is None:
        return []
    directions = _Piece("learned", _SEARCH_SHARES["learned"], learned.search.statistic, learned.search.null)
    pairs = [
        _Piece(name, _SEARCH_SHARES[name], -float(np.log(p)), largest.nulls[name])
        for name, p in largest.pvalues.items()
    ]
    return [directions, *pairs]


def _mirrored(evidence: Evidence) -> Evidence:
    """Return the evidence with X and Y exchanged in all names."""
    details = dict(evidence.details)
    details["block_pvalues"] = {mirrored(name): p for name, p in details["block_pvalues"].items()}
    for name in ("learned_pair", "largest_pair"):
        if name in details:
            details[name] = {**details[name], "x": details[name]["y"], "y": details[name]["x"]}
    learned = None if evidence.learned is None else evidence.learned.mirrored()
    return replace(evidence, details=details, learned=learned)


def _mixture_weights(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Eigenvalues of the second moments of products of features, through the smaller Gram matrix."""
    n = len(right)
    if left.shape[1] * right.shape[1] <= n:
        products = np.einsum("ni,nj->nij", left, right).reshape(n, -1)
        return np.maximum(linalg.eigvalsh(products.T @ products / n), 0.0)
    gram = (left @ left.T) * (right @ right.T)
    return np.maximum(linalg.eigvalsh(gram / n), 0.0)


def witness_evidence(folds: list[Fold]) -> Evidence:
    """Average the two halves' witness statistics and compare with N(0, 1).

    Each half's direction is learned from the half on which the other is tested, so the two are positively
    correlated: their average has variance at most one, while their sum over √2 would not.
    """
    pairs = [witness_statistic(fold) for fold in folds]
    z = float(np.mean([statistic for statistic, _ in pairs]))
    details = {
        "witness_z": [statistic for statistic, _ in pairs],
        "witness_singular_values": [directions.singular_values.tolist() for _, directions in pairs],
    }
    return Evidence("witness", z, normal_sf(z, "greater"), NullDistribution("normal", {}), details)


def frobenius_evidence(x: SideFeatures, y: SideFeatures, *, null: str) -> Evidence:
    """Compare the squared norm of the whitened partial cross-covariance with its null distribution."""
    u, v = (_white(side.together[:, :_MAX_WHITENED]) for side in (x, y))
    n = len(u)
    statistic = float(np.square(u.T @ v).sum() / n)
    if null == "chi2":
        df = u.shape[1] * v.shape[1]
        return Evidence("frobenius", statistic, chi2_sf(statistic, df), NullDistribution("chi2", {"df": df}))
    weights = _mixture_weights(u, v)
    described = NullDistribution("chi2_mixture", {"weights": weights.tolist()})
    return Evidence("frobenius", statistic, chi2_mixture_sf(statistic, weights), described)


def _white(features: np.ndarray) -> np.ndarray:
    return Whitener.fit(features).transform(features)


def combine_evidence(pieces: list[Evidence], name: str) -> Evidence:
    """Combine p-values by Cauchy's method, which tolerates dependence; a single piece stays as it is."""
    if len(pieces) == 1:
        return pieces[0]
    pvalue = cauchy([piece.pvalue for piece in pieces])
    details: dict[str, Any] = {f"{piece.name}_pvalue": piece.pvalue for piece in pieces}
    for piece in pieces:
        details.update(piece.details)
    details.pop("pvalue_error", None)  # that of one piece
    statistic = -float(np.log(min(piece.pvalue for piece in pieces)))
    return Evidence(
        name,
        statistic,
        pvalue,
        NullDistribution("cauchy_combination", {"n_components": len(pieces)}),
        details,
    )
