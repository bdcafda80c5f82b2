"""SpectralCIT exactly as published: learn on 80 % of the rows, test on 20 %, chi-square null."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base import BaseCITest
from ..errors import TooFewRowsError
from ..inputs import CIData, train_test_rows
from ..numeric.whiten import FloatArray, covariance, distance_to_identity
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome
from .bilevel import ProgressCallback, TrainedModel, TrainingProblem, train
from .config import PaperConfig, Regularizer, WeightInit
from .features import SpectralMaps, canonical_order, training_problem
from .statistic import StatisticName, check_statistic_name, retained_rank, spectral_statistic

__all__ = ["PaperSpectralCIT", "PendingTest"]

_Blocks = tuple[FloatArray, FloatArray, "FloatArray | None"]

#: Points kept of each loss curve.
_CURVE_POINTS = 100


@dataclass(frozen=True, eq=False)
class PendingTest:
    """A test whose rows are split and whose networks are yet to be trained."""

    train: _Blocks
    test: _Blocks
    problem: TrainingProblem


@register(
    "spectral-paper",
    tags=TestTags(
        summary="SpectralCIT exactly as published (Fröhlich et al., ICML 2026)",
        symmetric=False,
        splits=True,
        assumes="the learned features of Z capture what Z explains of the features of X and Y",
        fails="by rejecting true nulls under strong confounding; needs hundreds of rows",
    ),
)
class PaperSpectralCIT(BaseCITest):
    """The published SpectralCIT.

    The rows are split at random into a training and a test part. The split depends on the seed and the number
    of rows and on nothing else, and the order of the rows matters only through it: within each part, rows are
    sorted by their values. Columns are standardised
    with the training part. Networks ``u(X)``, ``v(Y, Z)``, ``w(Z)`` are trained by bi-level optimisation to
    span the leading singular functions of the partial covariance operator, and whitened on the training part.
    On the test part, with features centred there,

    ``T = n ||C_UV - C_UW C_WV||_F ** 2``

    is compared with a chi-square distribution with ``output_dim ** 2`` degrees of freedom. With ``z=None``
    there is no ``w``, and the same machinery tests unconditional independence.

    The null distribution holds when ``w`` captures what Z explains of ``u`` and of ``v``. Under strong
    confounding it often does not, and the test rejects too often; the page "The published test" of the
    documentation says when and why. Prefer `SpectralCIT` unless you need the published method.

    The effect size is the root mean square of the retained singular values after removal of their expected
    noise, between 0 and 1.

    Parameters
    ----------
    output_dim, perc_dim_prune, n_hidden_u, n_hidden_v, n_hidden_w, layer_size_u, layer_size_v, layer_size_w
        Rank, pruning and architecture, see `PaperConfig`.
    lr_inner, lr_outer, reg_str_inner, reg_str_outer, batch_size, n_epochs, n_warmup, n_steps_inner
        Training, see `PaperConfig`.
    test_fraction, regularizer, clip_norm, weight_init, output_tanh
        Split and variants, see `PaperConfig`.
    statistic
        ``"frobenius"``, the statistic of the paper; or ``"projector"``, that of the authors' program, which
        weighs each row by the diagonal of the projector off ``w`` instead of subtracting ``C_UW C_WV``.
    progress
        Called during training with the number of steps done and the number in total.
    random_state
        Seed of the split, the weights and the mini-batches.
    missing
        ``"raise"`` or ``"drop"``.

    Examples
    --------
    >>> import numpy as np
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

    def __init__(
        self,
        *,
        output_dim: int = 10,
        perc_dim_prune: float = 1.0,
        n_hidden_u: int = 2,
        n_hidden_v: int = 2,
        n_hidden_w: int = 2,
        layer_size_u: int = 128,
        layer_size_v: int = 128,
        layer_size_w: int = 128,
        lr_inner: float = 3e-5,
        lr_outer: float = 2.1e-3,
        reg_str_inner: float = 3.3,
        reg_str_outer: float = 1.9,
        batch_size: int = 256,
        n_epochs: int = 400,
        n_warmup: int = 100,
        n_steps_inner: int = 1,
        test_fraction: float = 0.2,
        regularizer: Regularizer = "frobenius",
        clip_norm: float | None = 5.0,
        weight_init: WeightInit = "xavier",
        output_tanh: bool = False,
        statistic: StatisticName = "frobenius",
        progress: ProgressCallback | None = None,
        random_state: int | None = None,
        missing: str = "raise",
    ) -> None:
        super().__init__(random_state=random_state, missing=missing)
        self.output_dim = output_dim
        self.perc_dim_prune = perc_dim_prune
        self.n_hidden_u = n_hidden_u
        self.n_hidden_v = n_hidden_v
        self.n_hidden_w = n_hidden_w
        self.layer_size_u = layer_size_u
        self.layer_size_v = layer_size_v
        self.layer_size_w = layer_size_w
        self.lr_inner = lr_inner
        self.lr_outer = lr_outer
        self.reg_str_inner = reg_str_inner
        self.reg_str_outer = reg_str_outer
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.n_warmup = n_warmup
        self.n_steps_inner = n_steps_inner
        self.test_fraction = test_fraction
        self.regularizer = regularizer
        self.clip_norm = clip_norm
        self.weight_init = weight_init
        self.output_tanh = output_tanh
        self.statistic = statistic
        self.progress = progress

    @property
    def config(self) -> PaperConfig:
        """The hyper-parameters, checked."""
        return PaperConfig(**{name: getattr(self, name) for name in PaperConfig.names()})

    def _run(self, data: CIData, seed: int) -> Outcome:
        pending = self.begin(data, seed)
        model = train([pending.problem], self.config, self.progress)[0]
        return self.finish(pending, model)

    def begin(self, data: CIData, seed: int, label: str = "") -> PendingTest:
        """Check the parameters, split the rows and standardise the training part.

        Parameters
        ----------
        data
            Checked inputs.
        seed
            Source of the split, the weights and the mini-batches.
        label
            Name of the problem in error messages.
        """
        config = self.config
        check_statistic_name(self.statistic)
        split_seed, training_seed = np.random.SeedSequence(seed).spawn(2)
        split = train_test_rows(data.n, config.test_fraction, np.random.default_rng(split_seed))
        _check_split(len(split[0]), len(split[1]), config, conditional=data.z is not None)
        train_part, test_part = (_part(data, rows) for rows in split)
        return PendingTest(train_part, test_part, training_problem(*train_part, training_seed, label))

    def finish(self, pending: PendingTest, model: TrainedModel) -> Outcome:
        """Compute statistic, p-value and diagnostics from trained networks.

        Parameters
        ----------
        pending
            What `begin` returned.
        model
            The networks trained on ``pending.problem``.
        """
        config = self.config
        maps = SpectralMaps.fit(model, *pending.train)
        u, v, w = maps(*pending.test)
        result = spectral_statistic(
            u,
            v,
            w,
            retained=retained_rank(config.output_dim, config.perc_dim_prune),
            kind=self.statistic,
        )
        features = {"u": u, "v": v} if w is None else {"u": u, "v": v, "w": w}
        e_val = {name: distance_to_identity(covariance(values)) for name, values in features.items()}
        whiteners = {name: getattr(maps, name).whitener for name in features}
        diagnostics: dict[str, Any] = {
            "critical_value_0.05": result.critical_value(0.05),
            "retained_rank": result.retained,
            "singular_values": result.singular_values,
            "e_val": e_val | {"max": max(e_val.values())},
            "condition_before_whitening": {name: each.condition_before for name, each in whiteners.items()},
            "condition_after_whitening": {name: each.condition_after for name, each in whiteners.items()},
            "loss_outer": _thinned(model.outer_curve),
            "loss_inner": _thinned(model.inner_curve),
        }
        return Outcome(
            statistic=result.value,
            pvalue=result.pvalue,
            null=NullDistribution("chi2", {"df": result.degrees_of_freedom}),
            effect_size=result.effect_size,
            diagnostics=diagnostics,
            warnings=_warnings(config, result.retained),
            n_train=len(pending.train[0]),
            n_test=len(u),
        )


def _part(data: CIData, rows: np.ndarray) -> _Blocks:
    x, y = data.x.values[rows], data.y.values[rows]
    z = None if data.z is None else data.z.values[rows]
    order = canonical_order(x, y, z)
    return x[order], y[order], None if z is None else z[order]


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
