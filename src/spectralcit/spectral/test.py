"""`SpectralCIT`, the default test: spectral features of residuals under a calibrated statistic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import BaseCITest, SharedConditioning
from ..errors import ParameterError
from ..inputs import Block, CIData
from ..nuisance.regression import is_regressor
from ..parameters import anything, choice, integer
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from .dictionary import SideFeatures
from .effect import partial_feature_correlation
from .evidence import Evidence, block_evidence, combine_evidence, frobenius_evidence, witness_evidence
from .pair import leading_pair, pair_of_sides
from .sides import Sides, WideZ, dictionary_folds, dictionary_sides, learned_folds, random_streams
from .witness import Fold, leading_directions

if TYPE_CHECKING:
    from ..paper.config import PaperConfig
    from ..paper.test import PaperSpectralCIT
    from ..views import LeadingPair

__all__ = ["SpectralCIT"]

_NULLS = {
    "blocks": ("bootstrap", "min-p", "mixture"),
    "witness": ("normal",),
    "frobenius": ("mixture", "chi2"),
    "combined": ("auto",),
}
# Share of the variance that Z explains. What is left above the first is rounding; above the second, by hand,
# errors of the fit are no longer small beside it.
_DETERMINISTIC = 1.0 - 1e-9
_NEARLY_DETERMINISTIC = 0.99
_STRAINED_SHARE = 0.5  # of the degrees of freedom: by hand, where residuals begin to say little about noise
_HIGH_LEVERAGE_ROWS = 0.02  # of the rows: by hand; a handful in any table is no news


@register(
    "spectral",
    tags=TestTags(
        summary="learned spectral features; the recommended default",
        symmetric=False,
        standing=100,
        recommended=(
            "the default: it kept its level in our calibration study, sees linear and nonlinear dependence, "
            "and its time is proportional to the rows"
        ),
        aliases=("spectralcit",),
        assumes=(
            "what Z explains of X and Y can be learned from this many rows; the diagnostics show how well"
        ),
        fails=(
            "when Z acts in a way that kernel ridge cannot follow at this n; by low power against "
            "very weak or very local dependence"
        ),
    ),
)
class SpectralCIT(BaseCITest):
    """Test whether X is independent of Y given Z.

    The default removes from X and Y what Z explains (kernel ridge regression that learns which directions
    of Z matter), expands the residuals in a small dictionary of functions, removes Z again, and compares
    the partial cross-covariance of these features, in eight blocks from linear to everything, with its null
    distribution under a joint multiplier bootstrap. Every part can be exchanged.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.standard_normal((400, 2))
    >>> x = np.sin(z[:, 0]) + 0.5 * rng.standard_normal(400)
    >>> y = np.cos(z[:, 0]) + 0.5 * rng.standard_normal(400)
    >>> SpectralCIT(random_state=0).test(x, y, z).reject()
    False
    >>> SpectralCIT(random_state=0).test(x, y + x**2, z).reject()
    True

    References
    ----------
    Fröhlich et al. (2026). Toward Scalable and Valid Conditional Independence Testing with Spectral
    Representations. ICML. Shah, Peters (2020). The hardness of conditional independence testing and the
    generalised covariance measure. Annals of Statistics 48.
    """

    features: str = choice(
        "dictionary",
        "``'dictionary'``: closed form, about a third of a second at a thousand rows. ``'bilevel'``: the "
        "published networks, trained on one half of the residuals and tested on the other, both ways.",
        "dictionary",
        "bilevel",
    )
    nuisance: Any = choice(
        "kernel_ridge",
        "What removes Z: kernel ridge regression; a scikit-learn regressor or classifier, which is "
        "cross-fitted; or, with bilevel features, the projection on the learned w(Z).",
        "kernel_ridge",
        "projection",
        other="a scikit-learn regressor or classifier",
        accepts=is_regressor,
    )
    statistic: str = choice(
        "auto",
        "``'blocks'``: full-sample blocks of features. ``'witness'``: one-sided studentised projection on "
        "directions learned from the other half. ``'frobenius'``: the paper's, of whitened residuals. "
        "``'combined'``: witness and blocks. ``'auto'``: blocks for the dictionary, combined for bilevel "
        "features.",
        "auto",
        *_NULLS,
    )
    null: str = choice(
        "auto",
        "For blocks ``'bootstrap'`` (harmonic mean of the blocks' p-values), ``'min-p'`` (the smallest of "
        "them) or ``'mixture'``; for witness ``'normal'``; for frobenius ``'mixture'`` or ``'chi2'``.",
        *dict.fromkeys(("auto", *(null for nulls in _NULLS.values() for null in nulls))),
    )
    # A hundred sign vectors resolve p-values no finer than 0.01; a million of them are gigabytes at any n.
    n_draws: int = integer(1000, "Sign vectors of the multiplier bootstrap.", least=100, most=1_000_000)
    config: PaperConfig | None = anything(
        None,
        "Hyper-parameters of the bilevel learner.",
        words="a PaperConfig or None",
        accepts=lambda value: value is None or type(value).__name__ == "PaperConfig",
    )

    @classmethod
    def paper(cls, **parameters: Any) -> PaperSpectralCIT:
        """Return the published test, registered as ``"spectral-paper"``.

        Parameters
        ----------
        **parameters
            Hyper-parameters under the paper's names.
        """
        from ..paper.test import PaperSpectralCIT

        return PaperSpectralCIT(**parameters)

    def _run(self, data: CIData, seed: int) -> Outcome:
        statistic, null = self._resolved()
        rng, fixed_map_seed, null_rng, training_seed = random_streams(seed)
        folds: list[Fold] = []
        if self.features == "bilevel":
            folds = learned_folds(data, self.nuisance, self._config(), rng, training_seed)
            whole = [Sides(*fold.held_out, None) for fold in folds]
        else:
            whole = [dictionary_sides(data, self.nuisance, rng, fixed_map_seed)]
            if _is_deterministic(whole[0].x) or _is_deterministic(whole[0].y):
                return _function_of_z()
            if statistic in ("witness", "combined"):
                folds = dictionary_folds(data, self.nuisance, rng, fixed_map_seed)
        pieces = []
        if statistic in ("blocks", "combined"):
            pieces += [
                block_evidence(s.x, s.y, s.weights, null=null, n_draws=self.n_draws, rng=null_rng)
                for s in whole
            ]
        if statistic == "frobenius":
            pieces += [frobenius_evidence(s.x, s.y, null=null) for s in whole]
        if statistic in ("witness", "combined"):
            pieces.append(witness_evidence(folds))
        outcome = _outcome(combine_evidence(pieces, statistic), whole, data)
        if self.features == "bilevel":
            return outcome
        return replace(outcome, show=partial(pair_of_sides, whole[0], data))

    def leading_pair(self, data: CIData, seed: int) -> LeadingPair | None:
        """See `BaseCITest.leading_pair`; bilevel features would have to be trained again."""
        return leading_pair(self, data, seed) if self.features == "dictionary" else None

    def share(self, blocks: Mapping[Any, Block], z: Block | None, *, seed: int) -> SharedConditioning | None:
        """Decompose Z once for all tests given it; see `BaseCITest.share`."""
        from .shared import ConditioningSet, can_share

        n = len(next(iter(blocks.values())).values)
        return ConditioningSet(self, blocks, z, seed=seed) if can_share(self, z, n) else None

    def _config(self) -> PaperConfig:
        from ..paper.config import PaperConfig

        return PaperConfig() if self.config is None else self.config

    def _resolved(self) -> tuple[str, str]:
        """Replace ``"auto"``, and refuse a null distribution that is not one of the statistic's."""
        statistic = self.statistic
        if statistic == "auto":
            statistic = "combined" if self.features == "bilevel" else "blocks"
        allowed = _NULLS[statistic]
        null = allowed[0] if self.null == "auto" else self.null
        if null not in allowed:
            raise ParameterError(
                f"null={self.null!r} does not go with statistic={statistic!r}; choose from {allowed}"
            )
        if statistic == "combined":
            null = "bootstrap"
        return statistic, null


def _is_deterministic(side: SideFeatures) -> bool:
    return side.residuals.location.r_squared > _DETERMINISTIC


def _function_of_z() -> Outcome:
    """A variable that Z determines is independent of everything given Z."""
    warning = (
        "X or Y is a function of Z up to rounding: given Z nothing of it is left to test, and independence "
        "holds trivially"
    )
    return Outcome(
        statistic=0.0,
        pvalue=1.0,
        null=NullDistribution("degenerate", {}),
        effect_size=0.0,
        warnings=(warning,),
    )


def _outcome(evidence: Evidence, whole: list[Sides], data: CIData) -> Outcome:
    sides = whole[0]
    u, v = sides.x.together, sides.y.together
    directions = leading_directions(u, v, count=3)
    noise = _noise_moments(u, v)
    effect = partial_feature_correlation(u, v, *noise)
    diagnostics: dict[str, Any] = {
        **evidence.details,
        "effect_interval": [effect.low, effect.high],
        "singular_values": directions.singular_values.tolist(),
        "directions": {
            "x": _strongest(directions.left, u, sides.x.names),
            "y": _strongest(directions.right, v, sides.y.names),
        },
        "x": _side_diagnostics(sides.x),
        "y": _side_diagnostics(sides.y),
    }
    return Outcome(
        statistic=evidence.statistic,
        pvalue=evidence.pvalue,
        null=evidence.null,
        effect_size=effect.size,
        diagnostics=diagnostics,
        warnings=_warnings(sides, data),
    )


def _noise_moments(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Mean and variance of ``n |C_uv|²`` if u and v were independent."""
    cov_u, cov_v = u.T @ u / len(u), v.T @ v / len(v)
    mean = float(np.trace(cov_u) * np.trace(cov_v))
    return mean, float(2.0 * np.square(cov_u).sum() * np.square(cov_v).sum())


def _strongest(
    coefficients: np.ndarray, features: np.ndarray, names: tuple[str, ...]
) -> list[dict[str, float]]:
    """For each direction, the three features that carry most of it, with their shares."""
    sizes = np.abs(coefficients) * features.std(axis=0)[:, None]
    shares = sizes / np.maximum(sizes.sum(axis=0), 1e-300)
    return [{names[j]: round(float(share[j]), 4) for j in np.argsort(-share)[:3]} for share in shares.T]


def _side_diagnostics(side: SideFeatures) -> dict[str, Any]:
    residuals = side.residuals
    return {
        "r_squared": residuals.location.r_squared,
        "location_fit": residuals.location.name,
        "feature_fit": side.fit.name,
        "degrees_of_freedom": side.fit.degrees_of_freedom,
        "high_leverage_share": side.fit.high_leverage_share,
        "n_normal_scored": int(residuals.normal_scored.sum()),
        "n_rescaled": int(residuals.rescaled.sum()),
        "n_linear": side.linear.shape[1],
        "n_nonlinear": side.nonlinear.shape[1],
    }


def _warnings(sides: Sides, data: CIData) -> tuple[str, ...]:
    found = []
    for label, side in (("X", sides.x), ("Y", sides.y)):
        share = side.fit.degrees_of_freedom / len(side.linear)
        if share > _STRAINED_SHARE:
            found.append(
                f"removing Z from {label} used {share:.0%} of the degrees of freedom: too few rows for this Z"
            )
        if side.residuals.location.r_squared > _NEARLY_DETERMINISTIC:
            found.append(
                f"Z explains {side.residuals.location.r_squared:.2%} of {label}: little is left to test, and "
                "small errors of the fit matter"
            )
        if side.fit.high_leverage_share > _HIGH_LEVERAGE_ROWS:
            found.append(
                f"{side.fit.high_leverage_share:.0%} of the rows are so unusual in Z that they alone decide "
                f"their own prediction of {label}"
            )
    if sides.wide is not None and data.z is not None:
        found.append(_wide_warning(sides.wide, data.z.n_columns, data.n))
    return tuple(found)


def _wide_warning(wide: WideZ, width: int, n: int) -> str:
    if wide.complete:
        return (
            f"Z has {width} columns for {n} rows and acts through many of them: all were removed by least "
            "squares, which leaves little to test"
        )
    if wide.linear is not None:
        return (
            f"Z has {width} columns for {n} rows and acts on X and on Y through many of them: its leading "
            f"{wide.linear.shape[1]} principal components were removed, and what stays of Z may look like "
            "dependence"
        )
    count = 0 if wide.part is None else wide.part.n_columns
    return (
        f"Z has {width} columns for {n} rows: only what X or Y visibly follows was removed, {count} of its "
        "columns and principal components"
    )
