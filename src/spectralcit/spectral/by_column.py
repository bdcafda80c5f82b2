"""The columns of X, or of Y, one by one: which of several depends most on the other side given Z."""

from __future__ import annotations

import numpy as np

from ..inputs import Block
from ..inputs.sources import source_columns
from ..null.bootstrap import Multipliers
from ..numeric.linear import independent_columns
from ..views import ColumnView
from .block_null import evaluate_block
from .blocks import FeatureBlock
from .dictionary import winsorised
from .ridge_pairs import leading
from .side_features import SideFeatures

__all__ = ["column_views", "linear_columns", "strongest_columns"]

_MOST_VIEWS = 60  # by hand: rows of a table, about two screens
_MOST_PARTNERS = 12  # by hand: features of the other side; of more, leading components


def linear_columns(side: SideFeatures) -> np.ndarray:
    """What Z leaves of each column, also where the test works on leading components of them."""
    if side.linear.shape == side.residuals.values.shape:
        return side.linear
    return side.fit.remove(winsorised(side.residuals.values, side.residuals.smooth))


def strongest_columns(x: SideFeatures, y: SideFeatures, x_block: Block, y_block: Block) -> tuple[int, int]:
    """Return the column of X and the column of Y whose features, linear or curved, go together most."""
    strength = _strengths(x, y, x_block, y_block)
    i, j = np.unravel_index(int(np.argmax(strength)), strength.shape)
    return int(i), int(j)


def column_views(
    side: SideFeatures, other: SideFeatures, block: Block, other_block: Block, multipliers: Multipliers
) -> tuple[ColumnView, ...]:
    """Describe every source column of a side with several, the most dependent first; at most sixty."""
    sources = source_columns(block)
    if len(sources) < 2:
        return ()
    strength = _strengths(side, other, block, other_block)
    linear, partners = linear_columns(side), linear_columns(other)
    ranked = sorted(sources, key=lambda source: -strength[list(source.members)].max())[:_MOST_VIEWS]
    few = leading(partners, _MOST_PARTNERS)[0]
    partner_columns = independent_columns(other.linear)
    every = np.hstack([few, leading(other.nonlinear, _MOST_PARTNERS)[0]])
    found = []
    for source in ranked:
        own = np.array(source.members)
        k, j = np.unravel_index(int(np.argmax(strength[own])), strength[own].shape)
        i = int(own[k])
        curved = side.curved[:, _curved_of(side, block, own)]
        pvalue = _pvalue(side, other, linear[:, own], few, partner_columns, multipliers)
        if curved.shape[1] or every.shape[1] > few.shape[1]:
            both = np.hstack([linear[:, own], curved])
            pvalue = min(
                1.0, 2.0 * min(pvalue, _pvalue(side, other, both, every, partner_columns, multipliers))
            )
        correlation = _correlations(linear[:, [i]], partners[:, [int(j)]])[0, 0]
        found.append(ColumnView(source.name, other_block.names[int(j)], float(correlation), pvalue))
    return tuple(sorted(found, key=lambda view: (view.pvalue, -abs(view.correlation))))


def _pvalue(
    side: SideFeatures,
    other: SideFeatures,
    left: np.ndarray,
    right: np.ndarray,
    right_columns: float,
    multipliers: Multipliers,
) -> float:
    block = FeatureBlock(
        "linear × linear",
        left,
        right,
        side.fit,
        side.allowance * other.allowance,
        right_columns=right_columns,
    )
    statistic, null = evaluate_block(block, multipliers)
    return max(float(null.sf(statistic)), multipliers.least_pvalue)


def _strengths(x: SideFeatures, y: SideFeatures, x_block: Block, y_block: Block) -> np.ndarray:
    """Largest absolute correlation of a feature of each column of X and one of each column of Y."""
    (left, left_owner), (right, right_owner) = _owned(x, x_block), _owned(y, y_block)
    sizes = np.abs(_correlations(left, right))
    found = np.zeros((x_block.n_columns, y_block.n_columns))
    np.maximum.at(found, (left_owner[:, None], right_owner[None, :]), sizes)
    return found


def _owned(side: SideFeatures, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Features of single columns, and which column each belongs to."""
    place = {name: j for j, name in enumerate(block.names)}
    owners = [place[name.rpartition(": order ")[0]] for name in side.curved_names]
    features = np.hstack([linear_columns(side), side.curved[:, : len(owners)]])
    return features, np.array([*range(block.n_columns), *owners])


def _curved_of(side: SideFeatures, block: Block, own: np.ndarray) -> list[int]:
    names = {block.names[j] for j in own}
    return [k for k, name in enumerate(side.curved_names) if name.rpartition(": order ")[0] in names]


def _correlations(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(left, axis=0)[:, None] * np.linalg.norm(right, axis=0)
    return left.T @ right / np.maximum(lengths, 1e-300)
