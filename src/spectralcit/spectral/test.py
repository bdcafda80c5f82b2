"""`SpectralCIT`, the default test: spectral features of residuals under a calibrated statistic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..base import BaseCITest
from ..errors import CensoredTimesError, ParameterError
from ..inputs import Block, CIData
from ..nuisance.regression import is_regressor
from ..null.joint import Combination
from ..parameters import anything, choice, integer
from ..registry import TestTags, register
from ..result import Outcome
from .censored import censored_outcome
from .diagnostics import is_function_of_z, nothing_left, outcome_of
from .evidence import block_evidence, combine_evidence, frobenius_evidence, witness_evidence
from .pair import leading_pair, pair_of_sides
from .sides import Sides, dictionary_folds, dictionary_sides, learned_folds, random_streams
from .witness import Fold

if TYPE_CHECKING:
    from ..inputs import RowDesign
    from ..paper.config import PaperConfig
    from ..paper.test import PaperSpectralCIT
    from ..sharing import SharedConditioning
    from ..views import LeadingPair

__all__ = ["SpectralCIT"]

# The null distributions that go with each statistic, the default one first.
_NULLS = {
    "blocks": ("bootstrap", "min-p", "mixture"),
    "witness": ("normal",),
    "frobenius": ("mixture", "chi2"),
    "combined": ("auto",),
}


@register(
    "spectral",
    tags=TestTags(
        summary="spectral features of what Z leaves of X and Y; the recommended default",
        censored=True,
        standing=100,
        recommended=(
            "the default: it kept its level in our calibration study, sees linear and nonlinear dependence, "
            "and its time is proportional to the rows"
        ),
        aliases=("spectralcit",),
        honours=("groups", "time", "weights"),
        assumes=(
            "what Z explains of X and Y can be learned from this many rows; the diagnostics show how well"
        ),
        fails=(
            "when Z acts in a way that cannot be learned at this n; a warning says so often, not always; "
            "by low power against very weak or very local dependence"
        ),
    ),
)
class SpectralCIT(BaseCITest):
    """Test whether X is independent of Y given Z.

    The default removes from X and Y what Z explains (kernel ridge regression that learns which directions
    of Z matter), expands the residuals in a small dictionary of functions, removes Z again, and compares
    the partial cross-covariance of these features, in blocks from linear to everything, with its null
    distribution under a joint multiplier bootstrap. When X or Y has several columns, directions are learned
    along which they depend, and learned again under random signs. The order of columns, that of rows and the
    roles of X and Y do not matter. Every part can be exchanged.

    Examples
    --------
    >>> import numpy as np
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
        "``'dictionary'``: functions in closed form and, of vectors, learned directions; about a third of a "
        "second at a thousand rows. ``'bilevel'``: the published networks, trained on one half of the "
        "residuals and tested on the other, both ways.",
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
    n_draws: int = integer(
        1000,
        "Sign vectors of the multiplier bootstrap, at most 200 when X or Y has several columns; p-values "
        "between .005 and .12 (and, of fewer than 400, below) get four times as many, up to 4000.",
        least=100,
        most=1_000_000,
    )
    config: PaperConfig | None = anything(
        None,
        "Hyper-parameters of the bilevel learner.",
        words="a PaperConfig or None",
        accepts=lambda value: value is None or type(value).__name__ == "PaperConfig",
    )

    @classmethod
    def paper(cls, preset: str = "paper", **parameters: Any) -> PaperSpectralCIT:
        """Return the published test, registered as ``"spectral-paper"``.

        Parameters
        ----------
        preset
            ``"paper"`` for the test of the paper's text; ``"authors-program"`` for that of its public
            program: matrices of spectral norm one, log-Frobenius penalty, tanh outputs, Kaiming weights,
            epochs that both models share, and the statistic weighted by the projector's diagonal.
        **parameters
            Hyper-parameters under the paper's names; they come before those of the preset.
        """
        from ..paper.presets import preset_parameters
        from ..paper.test import PaperSpectralCIT

        return PaperSpectralCIT(**{**preset_parameters(preset), **parameters})

    def _run(self, data: CIData, seed: int) -> Outcome:
        statistic, null = self._resolved()
        if data.y.event is not None:
            return self._censored(data, seed, statistic, null)
        if data.design is not None and (statistic != "blocks" or null == "mixture"):
            raise ParameterError(
                f"{' and '.join(data.design.given)} need statistic='blocks' with null='bootstrap' or 'min-p' "
                f"and dictionary features; got statistic={statistic!r}, null={null!r}"
            )
        rng, fixed_map_seed, null_rng, training_seed = random_streams(seed)
        folds: list[Fold] = []
        if self.features == "bilevel":
            folds = learned_folds(data, self.nuisance, self._config(), rng, training_seed)
            whole = [Sides(*fold.held_out, None) for fold in folds]
        else:
            whole = [dictionary_sides(data, self.nuisance, rng, fixed_map_seed)]
            if is_function_of_z(whole[0].x) or is_function_of_z(whole[0].y):
                return nothing_left()
            if statistic in ("witness", "combined"):
                folds = dictionary_folds(data, self.nuisance, rng, fixed_map_seed)
        pieces = []
        if statistic in ("blocks", "combined"):
            pieces += [
                block_evidence(
                    s.x, s.y, s.weights, null=null, n_draws=self.n_draws, rng=null_rng, design=s.design
                )
                for s in whole
            ]
        if statistic == "frobenius":
            pieces += [frobenius_evidence(s.x, s.y, null=null) for s in whole]
        if statistic in ("witness", "combined"):
            pieces.append(witness_evidence(folds))
        outcome = outcome_of(combine_evidence(pieces, statistic), whole, data)
        if self.features == "bilevel":
            return outcome
        return replace(outcome, show=partial(pair_of_sides, whole[0], data, pieces[0].learned))

    @property
    def learns(self) -> bool:
        """Whether directions of vectors are learned: they join the blocks."""
        return self._resolved()[0] in ("blocks", "combined")

    def _censored(self, data: CIData, seed: int, statistic: str, null: str) -> Outcome:
        standard = self.features == "dictionary" and isinstance(self.nuisance, str) and statistic == "blocks"
        if not standard or null == "mixture":
            raise CensoredTimesError(
                "censored times need features='dictionary', nuisance='kernel_ridge', statistic='blocks' and "
                "null='bootstrap' or 'min-p'"
            )
        combination: Combination = "min" if null == "min-p" else "harmonic-mean"
        return censored_outcome(data, seed, n_draws=self.n_draws, combination=combination)

    def leading_pair(self, data: CIData, seed: int) -> LeadingPair | None:
        """See `BaseCITest.leading_pair`; none of bilevel features nor of censored times."""
        if self.features != "dictionary" or data.y.event is not None:
            return None
        return leading_pair(self, data, seed)

    def share(
        self,
        blocks: Mapping[Any, Block],
        z: Block | None,
        *,
        seed: int,
        design: RowDesign | None = None,
    ) -> SharedConditioning | None:
        """Decompose Z once for all tests given it; see `BaseCITest.share`."""
        from .shared import ConditioningSet, can_share

        n = len(next(iter(blocks.values())).values)
        if not can_share(self, z, n, design):
            return None
        return ConditioningSet(self, blocks, z, seed=seed, design=design)

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
