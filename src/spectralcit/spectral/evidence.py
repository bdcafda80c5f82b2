"""From features to p-values: the statistics that `SpectralCIT` can use, each as a piece of evidence."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import linalg

from ..null.bootstrap import Multipliers, joint_p
from ..null.chi2 import chi2_sf
from ..null.chi2_mixture import chi2_mixture_sf
from ..null.combine import bonferroni, cauchy
from ..null.normal import normal_sf
from ..numeric.whiten import Whitener
from ..result import NullDistribution
from .blocks import BLOCK_WEIGHTS, evaluate_block, feature_blocks
from .canonical import comes_first, joint_order, mirrored
from .dictionary import SideFeatures
from .largest_pair import largest_pair
from .learned import learned_evidence
from .witness import Fold, witness_statistic
from .zweights import ZWeights

__all__ = ["Evidence", "block_evidence", "combine_evidence", "frobenius_evidence", "witness_evidence"]

_STORED_DRAWS = 200  # of the null distribution in a result: enough for a picture, small in a file
# Shares of the error rate when X or Y has several columns, by hand.
_SEVERAL_SHARES = {"blocks": 0.6, "learned": 0.25, "largest pair": 0.15}
_MAX_WHITENED = 10  # whitening many noisy features would spread any signal over the square of their number


@dataclass(frozen=True)
class Evidence:
    """A statistic with its p-value and null distribution."""

    name: str  # which statistic
    statistic: float  # as in a result
    pvalue: float
    null: NullDistribution
    details: dict[str, Any] = field(default_factory=dict)  # what else the user may want to see, JSON-safe


def block_evidence(
    x: SideFeatures,
    y: SideFeatures,
    weights: ZWeights | None,
    *,
    null: str,
    n_draws: int,
    rng: np.random.Generator,
) -> Evidence:
    """Combine all blocks and, when there are several columns, learned directions and the largest pair."""
    if not comes_first(x, y):
        return _mirrored(block_evidence(y, x, weights, null=null, n_draws=n_draws, rng=rng))
    blocks = feature_blocks(x, y, weights)
    multipliers = Multipliers(len(x.linear), n_draws, rng, order=joint_order(x, y))
    evaluated = [evaluate_block(block, multipliers) for block in blocks]
    statistics = np.array([statistic for statistic, _ in evaluated])
    shares = np.array([BLOCK_WEIGHTS[block.name] for block in blocks])
    if null == "mixture":
        pvalues = [
            chi2_mixture_sf(statistic, _mixture_weights(block.left, block.right_products(slice(None))))
            for block, statistic in zip(blocks, statistics, strict=True)
        ]
        pvalue = cauchy(pvalues, shares)
        strongest = -float(np.log((np.array(pvalues) / shares * shares.sum()).min()))
        described = NullDistribution("cauchy_combination", {"n_components": len(blocks)})
    else:
        nulls = [null_ for _, null_ in evaluated]
        combined = joint_p(statistics, nulls, shares, "min" if null == "min-p" else "harmonic-mean")
        pvalue, strongest, pvalues = combined.pvalue, combined.statistic, list(combined.pvalues)
        thinned = combined.draws[np.linspace(0, len(combined.draws) - 1, _STORED_DRAWS).astype(int)]
        described = NullDistribution("bootstrap", {"draws": thinned.tolist()})
    table = {block.name: float(p) for block, p in zip(blocks, pvalues, strict=True)}
    details: dict[str, Any] = {"block_pvalues": table}
    learned, largest = learned_evidence(x, y, multipliers), largest_pair(x, y)
    if learned is not None and largest is not None:
        table.update({**learned.table, "largest pair": largest.pvalue})
        details["learned_pair"] = learned.leading
        details["largest_pair"] = {"x": largest.x, "y": largest.y}
        pvalue = bonferroni([pvalue, learned.pvalue, largest.pvalue], list(_SEVERAL_SHARES.values()))
    return Evidence("blocks", strongest, pvalue, described, details)


def _mirrored(evidence: Evidence) -> Evidence:
    """Return the evidence with X and Y exchanged in all names."""
    details = dict(evidence.details)
    details["block_pvalues"] = {mirrored(name): p for name, p in details["block_pvalues"].items()}
    for name in ("learned_pair", "largest_pair"):
        if name in details:
            details[name] = {**details[name], "x": details[name]["y"], "y": details[name]["x"]}
    return replace(evidence, details=details)


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
    statistic = -float(np.log(min(piece.pvalue for piece in pieces)))
    return Evidence(
        name,
        statistic,
        pvalue,
        NullDistribution("cauchy_combination", {"n_components": len(pieces)}),
        details,
    )
