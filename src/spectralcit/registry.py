"""Names of tests: a table of the built-in ones, and a decorator by which any other class joins them.

Built-in tests are listed by the text ``"module:Class"`` and imported when they are first used, so that
listing the tests does not load JAX.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .errors import ParameterError, UnknownTestError, suggestion

if TYPE_CHECKING:
    from .base import BaseCITest

__all__ = ["TestInfo", "TestTags", "get_test", "list_tests", "register", "registered_name", "unregister"]

TestClass = TypeVar("TestClass", bound=type)


@dataclass(frozen=True)
class TestTags:
    """What a test can do, in a form that people and programs can read.

    Parameters
    ----------
    conditional
        Accepts a conditioning set ``z``.
    multivariate
        Accepts more than one column in ``x`` and ``y``.
    mixed
        Handles continuous and categorical columns together.
    discrete
        Accepts categories and other columns with few values only.
    symmetric
        Exchanging ``x`` and ``y`` does not change what is being tested.
    cost
        How the time grows with the number of rows, for instance ``"O(n)"``.
    summary
        One line for a table of tests.
    assumes
        What must hold for its p-values, in one sentence.
    fails
        How it goes wrong when that does not hold, and what it cannot see.
    """

    __test__ = False  # the name starts with "Test", and pytest would try to collect it

    conditional: bool = True
    multivariate: bool = True
    mixed: bool = True
    discrete: bool = False
    symmetric: bool = True
    cost: str = "O(n)"
    summary: str = ""
    assumes: str = ""
    fails: str = ""


@dataclass(frozen=True)
class TestInfo:
    """A registered test: its name, its tags, and where its class lives.

    Parameters
    ----------
    name
        The name that ``ci_test(method=...)`` accepts.
    tags
        What the test can do.
    target
        The class as ``"module:Class"``.
    """

    __test__ = False

    name: str
    tags: TestTags
    target: str

    @property
    def cls(self) -> type[BaseCITest]:
        """The test class; a built-in one is imported now if it was not before."""
        return get_test(self.name)


def _built_in(name: str, target: str, **tags: str | bool) -> tuple[str, TestInfo]:
    return name, TestInfo(name, TestTags(**tags), target)  # type: ignore[arg-type]


_BUILT_IN: dict[str, TestInfo] = dict(
    [
        _built_in(
            "spectral",
            "spectralcit.spectral.test:SpectralCIT",
            symmetric=False,
            cost="O(n)",
            summary="learned spectral features; the recommended default",
            assumes=(
                "what Z explains of X and Y can be learned from this many rows; the diagnostics show how well"
            ),
            fails=(
                "when Z acts in a way that kernel ridge cannot follow at this n; by low power against very "
                "weak or very local dependence"
            ),
        ),
        _built_in(
            "spectral-paper",
            "spectralcit.spectral.paper:PaperSpectralCIT",
            symmetric=False,
            cost="O(n)",
            summary="SpectralCIT exactly as published (Fröhlich et al., ICML 2026)",
            assumes="the learned features of Z capture what Z explains of the features of X and Y",
            fails="by rejecting true nulls under strong confounding; needs hundreds of rows",
        ),
        _built_in(
            "fisher-z",
            "spectralcit.methods.fisher_z:FisherZ",
            mixed=False,
            cost="O(n)",
            summary="partial correlation; Wilks' Lambda for several columns",
            assumes="linear dependence on Z and roughly Gaussian residuals",
            fails=(
                "by rejecting true nulls when Z acts nonlinearly on X and Y, and by missing dependence "
                "without correlation, such as y = x² + noise"
            ),
        ),
        _built_in(
            "spearman-z",
            "spectralcit.methods.fisher_z:SpearmanZ",
            mixed=False,
            cost="O(n log n)",
            summary="partial correlation of ranks",
            assumes="monotone relations that are linear between ranks",
            fails=(
                "by rejecting true nulls when Z acts on X and Y in a way that is not monotone, and by "
                "missing dependence without rank correlation"
            ),
        ),
        _built_in(
            "gcm",
            "spectralcit.methods.gcm:GCM",
            cost="O(n)",
            summary="generalised covariance measure: correlation of residuals, any regressor",
            assumes="the product of the errors of the two regressions on Z vanishes faster than n^(-1/2)",
            fails=(
                "by missing dependence without covariance given Z, such as y = x² + noise, and by rejecting "
                "true nulls when the regressor cannot follow Z"
            ),
        ),
        _built_in(
            "wgcm",
            "spectralcit.methods.wgcm:WeightedGCM",
            cost="O(n)",
            summary="weighted generalised covariance measure: residual correlations that vary with z",
            assumes="as for gcm; covariances that vary with Z are seen as far as its weights reach",
            fails=(
                "by missing dependence without covariance given Z, and by rejecting true nulls when the "
                "regressor cannot follow Z"
            ),
        ),
        _built_in(
            "kcit",
            "spectralcit.methods.kcit:KCIT",
            symmetric=False,
            cost="O(n^3)",
            summary="kernel conditional independence test (Zhang et al. 2011)",
            assumes="kernel ridge with the given width and ridge removes Z; bias that is left grows with n",
            fails="when Z has many columns, and when the regression is biased, as under strong confounding",
        ),
        _built_in(
            "rcit",
            "spectralcit.methods.rcit:RCIT",
            symmetric=False,
            cost="O(n)",
            summary="KCIT with random Fourier features (Strobl et al. 2019)",
            assumes="its random features of Z explain the features of X and Y",
            fails="with strong linear or high-dimensional confounding, and by depending on the seed",
        ),
        _built_in(
            "rcot",
            "spectralcit.methods.rcit:RCoT",
            cost="O(n)",
            summary="RCIT without z among the features of y; for larger z",
            assumes="its random features of Z explain the features of X and Y",
            fails="with strong linear or high-dimensional confounding, and by depending on the seed",
        ),
        _built_in(
            "hsic",
            "spectralcit.methods.hsic:HSIC",
            conditional=False,
            cost="O(n^2)",
            summary="Hilbert-Schmidt independence criterion, without conditioning",
            assumes="independent rows",
            fails=(
                "to see high-frequency dependence when the width is the median distance, and loses power as "
                "columns are added"
            ),
        ),
        _built_in(
            "chi2",
            "spectralcit.methods.contingency:Chi2Test",
            mixed=False,
            cost="O(n)",
            summary="Pearson's chi-squared test for discrete data, stratified by z",
            discrete=True,
            assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
            fails="when Z has many combinations: tables become sparse and power goes",
        ),
        _built_in(
            "g2",
            "spectralcit.methods.contingency:G2Test",
            mixed=False,
            cost="O(n)",
            summary="likelihood-ratio test for discrete data, stratified by z",
            discrete=True,
            assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
            fails="when Z has many combinations: tables become sparse, and it is then too liberal",
        ),
        _built_in(
            "pcm",
            "spectralcit.methods.pcm:PCM",
            symmetric=False,
            cost="O(n)",
            summary="projected covariance measure: does x help to predict y beyond z",
            assumes="Y and the learned function can be regressed on Z well enough on the testing half",
            fails="to see an X that changes only the variance or shape of Y, and loses power at small n",
        ),
        _built_in(
            "kpc",
            "spectralcit.methods.kpc:KPC",
            symmetric=False,
            cost="O(n log n)",
            summary="kernel partial correlation with local permutations",
            assumes="rows with similar Z can exchange their X",
            fails=(
                "when Z has more than a few columns: neighbours are then not similar, and true nulls are "
                "rejected"
            ),
        ),
        _built_in(
            "lpcit",
            "spectralcit.methods.lpcit:LPCIT",
            symmetric=False,
            cost="O(n^3)",
            summary="analytic kernel embeddings at random locations (Scetbon et al. 2022)",
            assumes="Gaussian process regressions remove Z",
            fails=(
                "when few random points miss the dependence, so power depends on the seed, and with many "
                "columns in Z"
            ),
        ),
        _built_in(
            "circe",
            "spectralcit.methods.circe:CIRCE",
            symmetric=False,
            cost="O(n^3)",
            summary="kernel test with a single regression, train/test split and wild bootstrap",
            assumes=(
                "the conditional mean of Y's features is learned well compared with the noise on the test "
                "rows"
            ),
            fails=(
                "by rejecting true nulls under strong confounding, and by low power at small n; prefer "
                "split-kci"
            ),
        ),
        _built_in(
            "split-kci",
            "spectralcit.methods.split_kci:SplitKCI",
            symmetric=False,
            cost="O(n^3)",
            summary="KCIT with train/test split and two independent regressions against bias",
            assumes="its regressions remove most of Z",
            fails=(
                "under strong or high-dimensional confounding, and has less power than a test that uses all "
                "rows"
            ),
        ),
        _built_in(
            "gcit",
            "spectralcit.methods.gcit:GCIT",
            symmetric=False,
            cost="O(n)",
            summary="randomisation test with a Wasserstein generator of x given z (Bellot et al. 2019)",
            assumes="the generator has learned the distribution of X given Z",
            fails="when the generator is poor, as it often is with the published settings: false rejections",
        ),
        _built_in(
            "dgcit",
            "spectralcit.methods.dgcit:DGCIT",
            symmetric=False,
            cost="O(n)",
            summary="two Sinkhorn generators and a maximum of covariances (Shi et al. 2021)",
            assumes="the errors of the two generators, multiplied, are small",
            fails="when both generators are poor: many false rejections",
        ),
        _built_in(
            "cdcit",
            "spectralcit.methods.cdcit:CDCIT",
            symmetric=False,
            cost="O(n log n)",
            summary="randomisation test with a diffusion model of x given z (Yang et al. 2025)",
            assumes="the diffusion model has learned the distribution of X given Z",
            fails="when the model overfits or underfits X given Z; it needs many rows",
        ),
        _built_in(
            "dr-generative",
            "spectralcit.methods.dr_generative:GenerativeDR",
            symmetric=False,
            cost="O(n^2)",
            summary="two generators and a doubly robust kernel statistic (Zhang et al. 2024)",
            assumes="the errors of the two generators, multiplied, are small",
            fails="when both generators are poor: false rejections",
        ),
        _built_in(
            "cmi-knn",
            "spectralcit.methods.cmiknn:CMIknn",
            symmetric=False,
            mixed=False,
            cost="O(n^2)",
            summary="nearest-neighbour conditional mutual information, local permutations (Runge 2018)",
            assumes="X given Z hardly changes between rows whose Z are neighbours; continuous columns",
            fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
        ),
        _built_in(
            "cmi-knn-mixed",
            "spectralcit.methods.cmiknn:CMIknnMixed",
            symmetric=False,
            cost="O(n^2)",
            summary="the same for continuous and discrete columns together (Mesner & Shalizi 2021)",
            assumes="X given Z hardly changes between rows with neighbouring Z; nothing when Z is discrete",
            fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
        ),
        _built_in(
            "ccit",
            "spectralcit.methods.ccit:CCIT",
            symmetric=False,
            cost="O(n)",
            summary="boosted trees against a nearest-neighbour bootstrap (Sen et al. 2017)",
            assumes="Y given Z hardly changes between rows with the nearest Z",
            fails="by missing weak dependence; by rejecting true nulls when neighbours in Z are far apart",
        ),
        _built_in(
            "nnlscit",
            "spectralcit.methods.nnlscit:NNLSCIT",
            symmetric=False,
            cost="O(n)",
            summary="classifier-based mutual information, local sampling (Li et al. 2023)",
            assumes="X and Y given Z hardly change between rows whose Z are neighbours",
            fails="when the distributions given Z are not smooth, and by missing weak dependence",
        ),
        _built_in(
            "local-permutation",
            "spectralcit.methods.local_permutation:LocalPermutation",
            cost="O(n)",
            summary="permute x among rows with nearby z, single or double binning (Kim et al. 2022)",
            assumes="X given Z, or Y given Z, hardly changes within a cell of Z; nothing when Z is discrete",
            fails="by rejecting true nulls when Z has more than two or three columns",
        ),
        _built_in(
            "crt",
            "spectralcit.methods.crt:CRT",
            symmetric=False,
            cost="O(n)",
            summary="conditional randomisation test: draw x given z, from your model or a fitted one",
            assumes="the distribution of X given Z is known or fitted well; nothing of Y",
            fails="by rejecting true nulls when the model of X given Z is wrong",
        ),
        _built_in(
            "cpt",
            "spectralcit.methods.cpt:CPT",
            symmetric=False,
            cost="O(n^2)",
            summary="conditional permutation test: permute x by its density given z",
            assumes="the density of X given Z is known or fitted well, up to the values of X themselves",
            fails="when the model of X given Z is wrong; without power when Z nearly determines X",
        ),
    ]
)

_REGISTERED: dict[str, tuple[TestInfo, type]] = {}


def register(name: str, *, tags: TestTags | None = None) -> Callable[[TestClass], TestClass]:
    """Class decorator that makes a test available by name.

    Parameters
    ----------
    name
        The name for ``ci_test(method=name)``. A name in use belongs to its first owner; only the same class,
        defined again (as when a notebook cell is run twice), may take it over.
    tags
        What the test can do; the defaults of `TestTags` when not given.

    Returns
    -------
    callable
        The decorator; it returns the class unchanged but for the attribute that records its name.

    Examples
    --------
    >>> from spectralcit import BaseCITest, Outcome, NullDistribution, register, get_test
    >>> @register("always-one", tags=TestTags(summary="never rejects"))
    ... class AlwaysOne(BaseCITest):
    ...     def _run(self, data, seed):
    ...         return Outcome(0.0, 1.0, NullDistribution("normal"))
    >>> get_test("always-one") is AlwaysOne
    True
    >>> unregister("always-one")
    """
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(f"a test needs a non-empty name, got {name!r}")

    def decorate(cls: TestClass) -> TestClass:
        from .base import BaseCITest

        if not (isinstance(cls, type) and issubclass(cls, BaseCITest)):
            raise ParameterError(f"{name!r}: only subclasses of BaseCITest can be registered, got {cls!r}")
        target = _target(cls)
        built_in = _BUILT_IN.get(name)
        if built_in is not None:
            if built_in.target != target:
                raise ParameterError(f"{name!r} is the built-in test {built_in.target}; choose another name")
            if tags is not None and tags != built_in.tags:
                raise ParameterError(f"{name!r} is built in: its tags belong in the table of registry.py")
            return cls
        if name in _REGISTERED and _REGISTERED[name][0].target != target:
            raise ParameterError(f"{name!r} is already registered by {_REGISTERED[name][0].target}")
        _REGISTERED[name] = (TestInfo(name, tags or TestTags(), target), cls)
        # Kept in the class itself: a class sent to a worker process takes its name along.
        cls._registered_name = name  # type: ignore[attr-defined]
        return cls

    return decorate


def unregister(name: str) -> None:
    """Remove a test that was added by `register`; built-in tests stay.

    Parameters
    ----------
    name
        The registered name.
    """
    if name not in _REGISTERED:
        raise UnknownTestError(f"no test was registered as {name!r}.{suggestion(name, _REGISTERED)}")
    del _REGISTERED[name]


def get_test(name: str) -> type[BaseCITest]:
    """Return the class registered under `name`.

    Parameters
    ----------
    name
        A name from `list_tests`.

    Raises
    ------
    UnknownTestError
        When there is no such name; the message suggests the nearest ones.
    """
    if name in _REGISTERED:
        return _REGISTERED[name][1]  # type: ignore[return-value]
    if name in _BUILT_IN:
        module, _, attribute = _BUILT_IN[name].target.partition(":")
        return getattr(importlib.import_module(module), attribute)
    known = sorted([*_BUILT_IN, *_REGISTERED])
    listing = ", ".join(known)
    raise UnknownTestError(f"no test is called {name!r}.{suggestion(name, known)} Known tests: {listing}")


def list_tests() -> list[TestInfo]:
    """Return every registered test, sorted by name, without importing any of them.

    Examples
    --------
    >>> [info.name for info in list_tests() if info.name.startswith("spectral")]
    ['spectral', 'spectral-paper']
    """
    infos = [*_BUILT_IN.values(), *(info for info, _ in _REGISTERED.values())]
    return sorted(infos, key=lambda info: info.name)


def registered_name(cls: type) -> str:
    """Return the name a class was registered under, or the class's own name when it was not.

    Parameters
    ----------
    cls
        A test class. A subclass does not inherit the name of its parent.
    """
    own = cls.__dict__.get("_registered_name")
    if own is not None:
        return own
    target = _target(cls)
    return next((info.name for info in _BUILT_IN.values() if info.target == target), cls.__name__)


def _target(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"
