"""Tests of other libraries, run by their own programs with their defaults, for benchmarks alone.

Nothing of them is copied: each class hands the columns to the installed package and takes the p-value that
comes back. Importing this module registers nothing; a suite with ``imports =
["spectralcit.benchmark.peers"]`` calls `register_all`, and then knows them by names such as
``"causal-learn-kci"``.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, ClassVar

import joblib
import numpy as np

from ..base import BaseCITest
from ..errors import MissingExtraError, ParameterError
from ..inputs import CIData
from ..registry import TestTags, register
from ..result import NullDistribution, Outcome

__all__ = ["PEERS", "PeerTest", "register_all"]

_SEED_LIMIT = 2**32  # what NumPy's old generator takes as a seed


class PeerTest(BaseCITest):
    """Base of the wrappers: columns out, statistic and p-value in.

    Attributes
    ----------
    name : str
        The name in suites.
    packages : tuple of str
        What must be installed; versions are stored with every replicate.
    """

    name: ClassVar[str] = ""
    packages: ClassVar[tuple[str, ...]] = ()

    def _run(self, data: CIData, seed: int) -> Outcome:
        if data.z is None:
            raise ParameterError(f"{self.name!r} is here for questions with a z")
        try:
            # Several start processes for a single answer; a replicate has one core, as ours have.
            with joblib.parallel_config(backend="sequential"), _old_generator(seed):
                statistic, pvalue = self._ask(data.x.values, data.y.values, data.z.values, seed)
        except ImportError as error:
            raise MissingExtraError(f"{self.name!r} needs {' and '.join(self.packages)}: {error}") from error
        # Shares of permutations may be zero there; here a p-value is positive.
        return Outcome(
            statistic=float(statistic),
            pvalue=max(float(pvalue), np.finfo(float).tiny),
            null=NullDistribution("of the package"),
        )

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        """Ask the package; return statistic (or the p-value, where it tells none) and p-value."""
        raise NotImplementedError


@contextlib.contextmanager
def _old_generator(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator, which many of the packages draw from, and put it back afterwards."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed % _SEED_LIMIT)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _one_column(values: np.ndarray, name: str) -> np.ndarray:
    if values.shape[1] > 1:
        raise ParameterError(f"{name!r} takes one column as x and one as y")
    return values[:, 0]


def _frame(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[Any, list[str]]:
    """A pandas frame with the columns x, y and z0, z1, ..., and the names of the latter."""
    import pandas as pd

    names = [f"z{k}" for k in range(z.shape[1])]
    return pd.DataFrame(np.column_stack([x, y, z]), columns=["x", "y", *names]), names


class _CausalLearn(PeerTest):
    packages = ("causal-learn",)
    method: ClassVar[str] = ""
    vectors: ClassVar[bool] = True  # whether it takes several columns

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        from causallearn.utils.cit import CIT

        test = CIT(np.column_stack([x, y, z]), self.method)
        if self.vectors:
            of_x, of_y = list(range(x.shape[1])), list(range(x.shape[1], x.shape[1] + y.shape[1]))
            pvalue = test(of_x, of_y, list(range(x.shape[1] + y.shape[1], test.data.shape[1])))
        else:
            _one_column(x, self.name), _one_column(y, self.name)
            pvalue = test(0, 1, list(range(2, test.data.shape[1])))
        return pvalue, pvalue


class CausalLearnKCI(_CausalLearn):
    """Kernel test of Zhang et al. with a gamma approximation, in causal-learn."""

    name, method = "causal-learn-kci", "kci"


class CausalLearnRCIT(_CausalLearn):
    """KCI with random Fourier features, in causal-learn."""

    name, method = "causal-learn-rcit", "rcit"


class CausalLearnFastKCI(_CausalLearn):
    """KCI on blocks of rows, in causal-learn."""

    name, method = "causal-learn-fastkci", "fastkci"


class CausalLearnFisherZ(_CausalLearn):
    """Fisher's z of the partial correlation, in causal-learn."""

    name, method, vectors = "causal-learn-fisherz", "fisherz", False


class _Pgmpy(PeerTest):
    packages = ("pgmpy",)
    method: ClassVar[str] = ""

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        import pgmpy.ci_tests

        frame, names = _frame(_one_column(x, self.name), _one_column(y, self.name), z)
        test = getattr(pgmpy.ci_tests, self.method)(frame)
        test.run_test("x", "y", names)
        return test.statistic_, test.p_value_


class PgmpyGCM(_Pgmpy):
    """Generalised covariance measure with linear regressions, in pgmpy."""

    name, method = "pgmpy-gcm", "GCM"


class PgmpyPillai(_Pgmpy):
    """Pillai's trace of residuals, in pgmpy; boosted trees where they are its default."""

    name, method = "pgmpy-pillai", "PillaiTrace"


class _Tigramite(PeerTest):
    packages = ("tigramite",)
    method: ClassVar[str] = ""

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        return _tigramite(self.method).run_test_raw(x, y, z)


@functools.cache
def _tigramite(method: str) -> Any:
    """One instance per process, as PCMCI has it: a null distribution is drawn once a sample size."""
    import importlib

    module = importlib.import_module(f"tigramite.independence_tests.{method.lower()}")
    # CMIknn would use all cores; the answer is the same with one.
    options = {"workers": 1} if method == "CMIknn" else {}
    return getattr(module, method)(**options)


class TigramiteParCorr(_Tigramite):
    """Partial correlation with a t-distribution, in tigramite."""

    name, method = "tigramite-parcorr", "ParCorr"


class TigramiteGPDC(_Tigramite):
    """Distance correlation of residuals of Gaussian processes, in tigramite."""

    name, method = "tigramite-gpdc", "GPDC"
    packages = ("tigramite", "dcor")  # the latter computes the distances


class TigramiteCMIknn(_Tigramite):
    """Conditional mutual information of neighbours with local permutations, in tigramite."""

    name, method = "tigramite-cmiknn", "CMIknn"


class PingouinPartialCorrelation(PeerTest):
    """Partial correlation, in pingouin."""

    name, packages = "pingouin-partial-corr", ("pingouin",)

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        import pingouin

        frame, names = _frame(_one_column(x, self.name), _one_column(y, self.name), z)
        found = pingouin.partial_corr(frame, "x", "y", covar=names).iloc[0]
        return found["r"], found["p_val"] if "p_val" in found else found["p-val"]


class _Hyppo(PeerTest):
    packages = ("hyppo",)
    method: ClassVar[str] = ""

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        import hyppo.conditional

        found = getattr(hyppo.conditional, self.method)().test(x, y, z)
        return found[0], found[1]


class HyppoFCIT(_Hyppo):
    """Fast conditional independence test with decision trees, in hyppo."""

    name, method = "hyppo-fcit", "FCIT"


class HyppoPartialDcorr(_Hyppo):
    """Partial distance correlation, in hyppo."""

    name, method = "hyppo-pdcorr", "PartialDcorr"


class HyppoConditionalDcorr(_Hyppo):
    """Conditional distance correlation, in hyppo."""

    name, method = "hyppo-cdcorr", "ConditionalDcorr"


class DowhyGCM(PeerTest):
    """Generalised covariance measure with regressions that it selects, in DoWhy."""

    name, packages = "dowhy-gcm", ("dowhy",)

    def _ask(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, seed: int) -> tuple[float, float]:
        from dowhy.gcm.independence_test import generalised_cov_based

        pvalue = generalised_cov_based(_one_column(x, self.name), _one_column(y, self.name), z)
        return pvalue, pvalue


# In the order of the libraries' names.
PEERS: tuple[type[PeerTest], ...] = (
    CausalLearnFisherZ,
    CausalLearnKCI,
    CausalLearnRCIT,
    CausalLearnFastKCI,
    DowhyGCM,
    HyppoFCIT,
    HyppoPartialDcorr,
    HyppoConditionalDcorr,
    PgmpyGCM,
    PgmpyPillai,
    PingouinPartialCorrelation,
    TigramiteParCorr,
    TigramiteGPDC,
    TigramiteCMIknn,
)


def register_all() -> None:
    """Make the peers available by name, in this process."""
    for peer in PEERS:
        summary = (peer.__doc__ or "").partition("\n")[0].rstrip(".")
        register(peer.name, tags=TestTags(summary=summary, multivariate=False, mixed=False))(peer)
