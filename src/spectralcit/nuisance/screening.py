"""Which part of a wide Z matters: when Z has half as many columns as rows or more.

Least squares on all columns would leave little or nothing to test, and a ridge leaves the same remainder of a
confounder in X and in Y. If few columns matter they can be found. Forward selection goes over the columns and
the leading principal components of Z (many correlated columns often act through a few of those), each with
four functions, and stops where noise alone would do as well. Columns that X or Y follows are kept for both: a
confounder that one side hides is then still removed ("double selection"). Whether something is left that is
spread over many columns, a ridge tells.

References
----------
Belloni, Chernozhukov, Hansen (2014). Inference on treatment effects after selection among high-dimensional
controls. Review of Economic Studies 81.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, stats

from ..inputs import Block
from ..numeric.linear import orthonormal_columns
from ..numeric.standardize import standardized
from .kernel_ridge import MAX_LINEAR_SHARE
from .maps import LinearFeatures, normal_scores
from .selection import clearly_better, select
from .smoother import Smoother

__all__ = ["follows_more", "is_wide", "principal_components", "relevant_part"]

_MAX_COMPONENTS = 20  # by hand: principal components beyond these carry little of any shared factor
_MAX_CANDIDATES = 2000  # columns that are looked at after the first step
_MAX_SELECTED = 60  # by hand: as many as the additive map can afford at a thousand rows
_FALSE_SELECTIONS = 1.0  # expected if nothing matters: a spare column is better than a missed confounder
_NEARLY_SPANNED = 1e-3  # share of a function's variance that the selected ones must leave


def is_wide(z: Block | None, n: int) -> bool:
    """Tell whether Z has too many columns for least squares on all of them."""
    return z is not None and z.n_columns >= MAX_LINEAR_SHARE * n


def relevant_part(z: Block, sides: Sequence[Block]) -> Block | None:
    """Return the columns and principal components of Z that one of `sides` follows; ``None`` if none is.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> values = rng.standard_normal((100, 150))
    >>> target = values[:, [7]] ** 2 + rng.standard_normal((100, 1))
    >>> z = Block(values, tuple(f"z{j}" for j in range(150)), ("continuous",) * 150, tuple(range(150)))
    >>> "z7" in relevant_part(z, [Block(target, ("x",), ("continuous",), (0,))]).names
    True
    """
    pool = _with_components(z)
    order = sorted(set().union(*(_forward(pool, _targets(side)) for side in sides)))
    if not order:
        return None
    return Block(
        pool.values[:, order],
        tuple(pool.names[j] for j in order),
        tuple(pool.kinds[j] for j in order),
        tuple(range(len(order))),
    )


def follows_more(z: Block, part: Block | None, side: Block) -> bool:
    """Tell whether `side` follows Z clearly beyond what least squares on `part` explains."""
    targets = _targets(side)
    fixed = orthonormal_columns(np.zeros((len(targets), 0)) if part is None else standardized(part.values))
    found = Smoother(fixed, name="selected columns")
    ridge = Smoother(fixed, standardized(z.values), LinearFeatures(), name="ridge")
    return clearly_better(select([found, ridge], targets), found, targets)


def principal_components(z: Block, count: int) -> np.ndarray:
    """Return the leading principal components of the standardised columns, at most `count`."""
    left, sizes, _ = linalg.svd(standardized(z.values), full_matrices=False, check_finite=False)
    return (left * sizes)[:, :count]


def _with_components(z: Block) -> Block:
    components = principal_components(z, min(_MAX_COMPONENTS, len(z.values) // 10))
    count = components.shape[1]
    return Block(
        np.hstack([z.values, components]),
        (*z.names, *(f"component {k + 1}" for k in range(count))),
        (*z.kinds, *("continuous",) * count),
        tuple(range(z.n_columns + count)),
    )


def _targets(side: Block) -> np.ndarray:
    values = side.values.copy()
    continuous = [j for j, kind in enumerate(side.kinds) if kind == "continuous"]
    values[:, continuous] = normal_scores(values[:, continuous])
    return standardized(values)


def _functions(pool: Block, columns: np.ndarray) -> np.ndarray:
    """Return four functions of each column, centred, with unit norm; zero where they are constant."""
    scores = standardized(normal_scores(pool.values[:, columns]))
    functions = np.stack(
        [standardized(pool.values[:, columns]), scores**2, np.sin(2.0 * scores), np.cos(2.0 * scores)]
    )
    functions -= functions.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.square(functions).sum(axis=1, keepdims=True))
    return functions / np.where(norms > 1e-8, norms, np.inf)


def _forward(pool: Block, targets: np.ndarray) -> set[int]:
    """Add, step by step, the column that explains most of what is left of the targets."""
    n, width = pool.values.shape
    columns = _promising(pool, targets)
    functions = _functions(pool, columns)
    unspanned = np.ones((len(functions), len(columns)))  # share of each function that the basis does not span
    basis = np.zeros((n, 0))
    left = targets.copy()
    selected: set[int] = set()
    for _ in range(max(1, min(_MAX_SELECTED, n // 6))):
        gains = _gains(functions, left) / np.maximum(unspanned, _NEARLY_SPANNED)
        gains[unspanned < _NEARLY_SPANNED] = 0.0
        kind, best = np.unravel_index(np.argmax(gains), gains.shape)
        chance = stats.chi2.sf(gains[kind, best], targets.shape[1])
        if chance * len(functions) * width > _FALSE_SELECTIONS:
            break
        selected.add(int(columns[best]))
        for function in {0, int(kind)}:  # the linear function as well, as in the fit to come
            direction = functions[function, :, best]
            direction = direction - basis @ (basis.T @ direction)
            size = float(np.sqrt(direction @ direction))
            if size**2 < _NEARLY_SPANNED:
                continue
            direction /= size
            basis = np.column_stack([basis, direction])
            left -= np.outer(direction, direction @ left)
            unspanned -= np.square(np.einsum("n,fnc->fc", direction, functions))
    return selected


def _promising(pool: Block, targets: np.ndarray) -> np.ndarray:
    """Return all columns, or of very many those that explain most alone."""
    columns = np.arange(pool.n_columns)
    if len(columns) <= _MAX_CANDIDATES:
        return columns
    parts = np.array_split(columns, len(columns) // _MAX_CANDIDATES + 1)
    gains = [_gains(_functions(pool, part), targets).max(axis=0) for part in parts]
    return np.sort(np.argsort(-np.concatenate(gains))[:_MAX_CANDIDATES])


def _gains(functions: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return what each function explains of the targets, in units of their variance, summed over targets."""
    variance = np.maximum(np.square(left).mean(axis=0), 1e-300)
    return np.square(np.einsum("fnc,nt->fct", functions, left / np.sqrt(variance), optimize=True)).sum(axis=2)
