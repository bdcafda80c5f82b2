"""The published SpectralCIT: learn on 80 % of the rows, test on 20 %, chi-square null."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..errors import ParameterError, TooFewRowsError
from ..inputs import CIData, train_test_rows
from ..numeric.whiten import FloatArray, covariance, distance_to_identity
from ..parameters import choice
from ..progress import Report, progress_option, progress_reports
from ..registry import TestTags, register
from ..result import CITestResult, NullDistribution, Outcome
from .config import Hyperparameters, PaperConfig
from .groups import group_size, groups_of_one_shape
from .held_out import held_out
from .problem import Blocks, TrainingProblem, canonical_order, training_problem
from .statistic import (
    SpectralStatistic,
    StatisticName,
    retained_rank,
    signed_pvalue,
    spectral_statistic,
)

if TYPE_CHECKING:
    from .bilevel import TrainedModel

__all__ = ["PaperSpectralCIT"]

_FEWEST_CLUSTERS = 6  # of five, all signs alike have a chance of 2 / 32: nothing could be rejected at .05
_CURVE_POINTS = 100  # kept of each loss curve; by hand: as many as a small figure can show


@dataclass(frozen=True, eq=False)
class _Pending:
    """A test whose rows are split and whose networks are yet to be trained."""

    train: Blocks
    test: Blocks
    problem: TrainingProblem
    clusters: np.ndarray | None  # of the test part's rows, when these are not independent
    inflation: float
    seed: int


@register(
    "spectral-paper",
    tags=TestTags(
        summary="the published SpectralCIT: networks learned on 80 % of the rows (Fröhlich et al. 2026)",
        symmetric=False,
        splits=True,
        honours=("groups", "time"),
        assumes="the learned features of Z capture what Z explains of the features of X and Y",
        fails="by rejecting true nulls under strong confounding; needs hundreds of rows",
    ),
)
class PaperSpectralCIT(BaseCITest, Hyperparameters):
    """The published SpectralCIT.

    The rows are split at random into a training and a test part. The split depends on the seed and the number
    of rows and on nothing else, and the order of the rows matters only through it: within each part, rows are
    sorted by their values. Columns are standardised with the training part. Networks ``u(X)``, ``v(Y, Z)``,
    ``w(Z)`` are trained by bi-level optimisation to span the leading singular functions of the partial
    covariance operator, and whitened on the training part. On the test part, with features centred there,

    ``T = n ||C_UV - C_UW C_WV||_F ** 2``

    is compared with a chi-square distribution with ``output_dim ** 2`` degrees of freedom. With ``z=None``
    there is no ``w``, and the same machinery tests unconditional independence.

    The null distribution holds when ``w`` captures what Z explains of ``u`` and of ``v``. Under strong
    confounding it often does not, and the test rejects too often; the page "The published test" of the
    documentation says when and why. Prefer `SpectralCIT` unless you need the published method.

    With ``groups`` or ``time`` whole groups or blocks are split, and the statistic is compared with its
    distribution under random signs of those of the test part, because chi-square takes rows for independent.

    The effect size is the root mean square of the retained singular values after removal of their expected
    noise, between 0 and 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + 0.5 * rng.normal(size=500)
    >>> test = PaperSpectralCIT(output_dim=2, layer_size_u=16, layer_size_v=16, n_epochs=50, random_state=0)
    >>> result = test.test(x, y)
    >>> result.reject(), result.null
    (True, NullDistribution(name='chi2', parameters={'df': 4}))

    References
    ----------
    Fröhlich, Kostić, Lounici, Perazzo, Tiezzi and Pontil (2026), "Toward Scalable and Valid Conditional
    Independence Testing with Spectral Representations", ICML.
    """

    min_rows: ClassVar[int] = 20
    # Compiled loops run outside the interpreter lock, and threads share what was compiled.
    threads_suffice: ClassVar[bool] = True
    late_parameters: ClassVar[tuple[str, ...]] = ("perc_dim_prune",)  # the networks are trained by then

    statistic: StatisticName = choice(
        "frobenius",
        'The statistic of the paper; or "projector", that of the authors\' program, which weighs each row by '
        "the diagonal of the projector off ``w`` instead of subtracting ``C_UW C_WV``.",
        "frobenius",
        "projector",
    )
    progress: bool | Report = progress_option()

    @property
    def config(self) -> PaperConfig:
        """The hyper-parameters, checked."""
        return PaperConfig(**{name: getattr(self, name) for name in PaperConfig.names()})

    @property
    def together(self) -> int:
        """How many problems may train in one compiled loop; only small networks do so more quickly."""
        return group_size(self.config)

    def batches(self, datas: Sequence[CIData]) -> list[list[int]]:
        """Groups of problems of one shape, which train together; see `BaseCITest.batches`."""
        # Splits that keep groups whole have sizes of their own, and such problems train alone.
        plain = [k for k, data in enumerate(datas) if data.design is None]
        together = groups_of_one_shape([datas[k] for k in plain], self.config)
        alone = [[k] for k, data in enumerate(datas) if data.design is not None]
        return [[plain[k] for k in group] for group in together] + alone

    def run_batch(
        self, datas: Sequence[CIData], seeds: Sequence[int], labels: Sequence[str]
    ) -> list[CITestResult]:
        """Train the problems of a group in one compiled loop; see `BaseCITest.run_batch`."""
        from .bilevel import train

        started = time.perf_counter()
        begun = [self._begin(*problem) for problem in zip(datas, seeds, labels, strict=True)]
        models = train([pending.problem for pending in begun], self.config)
        outcomes = [self._finish(pending, model) for pending, model in zip(begun, models, strict=True)]
        each = (time.perf_counter() - started) / len(datas)
        return [
            self._wrap(outcome, data, seed, seconds=each)
            for outcome, data, seed in zip(outcomes, datas, seeds, strict=True)
        ]

    def restate(self, result: CITestResult) -> CITestResult:
        """Answer with this test's pruning from a result with another; the networks are the same.

        Parameters
        ----------
        result
            Of a test that differs in `perc_dim_prune` alone, on rows that are independent.
        """
        if result.null.name != "chi2" or result.n_test is None:
            raise ParameterError("pruning can be changed afterwards only where the null is chi-square")
        values = np.asarray(result.diagnostics["singular_values"])
        if len(values) != self.output_dim:
            raise ParameterError(
                f"the result has {len(values)} singular values and this test {self.output_dim}: train anew, "
                "for only pruning may differ"
            )
        found = SpectralStatistic.of(values, result.n_test, self._retained)
        before = _warnings(self.config, result.diagnostics["retained_rank"])
        others = tuple(each for each in result.warnings if each not in before)
        return replace(
            result,
            statistic=found.value,
            pvalue=found.pvalue,
            null=_chi2(found),
            effect_size=found.effect_size,
            diagnostics={**result.diagnostics, **_about(found)},
            warnings=(*others, *_warnings(self.config, found.retained)),
        )

    @property
    def _retained(self) -> int:
        return retained_rank(self.output_dim, self.perc_dim_prune)

    def _run(self, data: CIData, seed: int) -> Outcome:
        from .bilevel import train  # JAX takes a second to load, and not everybody who imports this runs it

        pending = self._begin(data, seed)
        with progress_reports(self.progress, "training") as report:
            model = train([pending.problem], self.config, report)[0]
        return self._finish(pending, model)

    def _begin(self, data: CIData, seed: int, label: str = "") -> _Pending:
        """Split the rows and standardise the training part; `label` is for error messages."""
        config = self.config
        split_seed, training_seed = np.random.SeedSequence(seed).spawn(2)
        clusters = None if data.design is None else data.design.clusters
        split = train_test_rows(data.n, config.test_fraction, np.random.default_rng(split_seed), clusters)
        _check_split(len(split[0]), len(split[1]), config, conditional=data.z is not None)
        (train_part, _), (test_part, order) = (_part(data, rows) for rows in split)
        problem = training_problem(*train_part, training_seed, label)
        held_out = None if clusters is None else clusters[split[1]][order]
        if held_out is not None and len(np.unique(held_out)) < _FEWEST_CLUSTERS:
            raise TooFewRowsError(
                f"the published test keeps {config.test_fraction:.0%} of the groups for testing: "
                f"{len(np.unique(held_out))} are too few, {_FEWEST_CLUSTERS} are needed; use 'spectral'"
            )
        inflation = 1.0 if data.design is None else data.design.inflation
        return _Pending(train_part, test_part, problem, held_out, inflation, seed)

    def _finish(self, pending: _Pending, model: TrainedModel) -> Outcome:
        """Compute statistic, p-value and diagnostics from trained networks."""
        from .features import SpectralMaps

        config = self.config
        maps = SpectralMaps.fit(model, *pending.train)
        u, v, w = maps(*pending.test)
        result = spectral_statistic(u, v, w, retained=self._retained, kind=self.statistic)
        pvalue, null = result.pvalue, _chi2(result)
        if pending.clusters is not None:
            if result.retained < config.output_dim or self.statistic != "frobenius":
                raise ParameterError(
                    "groups and time need statistic='frobenius' and perc_dim_prune=1: no other has signs"
                )
            pvalue = signed_pvalue(u, v, w, pending.clusters, pending.inflation, pending.seed)
            null = NullDistribution("bootstrap", {"n_groups": len(np.unique(pending.clusters))})
        features = {"u": u, "v": v} if w is None else {"u": u, "v": v, "w": w}
        e_val = {name: distance_to_identity(covariance(values)) for name, values in features.items()}
        whiteners = {name: getattr(maps, name).whitener for name in features}
        condition = {name: each.condition_before for name, each in whiteners.items()}
        outside = held_out(features, self.statistic)
        diagnostics: dict[str, Any] = {
            **_about(result),
            "e_val": e_val | {"max": max(e_val.values())},
            "spread_on_test_rows": dict(outside.spread),
            "share_of_few_rows": outside.share_of_few,
            "condition_before_whitening": condition,
            "condition_after_whitening": {name: each.condition_after for name, each in whiteners.items()},
            "loss_outer": _thinned(model.outer_curve),
            "loss_inner": _thinned(model.inner_curve),
        }
        return Outcome(
            statistic=result.value,
            pvalue=pvalue,
            null=null,
            effect_size=result.effect_size,
            diagnostics=diagnostics,
            warnings=(*outside.warnings(condition), *_warnings(config, result.retained)),
            n_train=len(pending.train[0]),
            n_test=len(u),
        )


def _chi2(found: SpectralStatistic) -> NullDistribution:
    return NullDistribution("chi2", {"df": found.degrees_of_freedom})


def _about(found: SpectralStatistic) -> dict[str, Any]:
    return {
        "critical_value_0.05": found.critical_value(0.05),
        "retained_rank": found.retained,
        "singular_values": found.singular_values,
    }


def _part(data: CIData, rows: np.ndarray) -> tuple[Blocks, np.ndarray]:
    x, y = data.x.values[rows], data.y.values[rows]
    z = None if data.z is None else data.z.values[rows]
    order = canonical_order(x, y, z)
    return (x[order], y[order], None if z is None else z[order]), order


def _check_split(n_train: int, n_test: int, config: PaperConfig, *, conditional: bool) -> None:
    # The paper's theory assumes n > 2 d; with fewer rows the covariance of w cannot even be of full rank.
    widest = 2 * config.output_dim if conditional else config.output_dim
    if min(n_train, n_test) <= widest:
        raise TooFewRowsError(
            f"the split gives {n_train} training and {n_test} test rows; with output_dim={config.output_dim}"
            f" the published test needs more than {widest} of each: give more rows or a smaller output_dim"
        )


def _warnings(config: PaperConfig, retained: int) -> tuple[str, ...]:
    if retained == config.output_dim:
        return ()
    return (
        f"perc_dim_prune keeps the {retained} largest of {config.output_dim} singular values and, as"
        f" published, compares them with chi2({retained**2}); under the null they are larger than that, so"
        " the p-value is too small",
    )


def _thinned(curve: FloatArray) -> dict[str, list[float]]:
    """Evenly spaced points of a loss curve, the last one included."""
    chosen = np.linspace(0, len(curve) - 1, min(len(curve), _CURVE_POINTS)).round().astype(int)
    return {"update": (chosen + 1).tolist(), "loss": curve[chosen].tolist()}
