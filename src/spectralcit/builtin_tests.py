"""The tests that come with the package, by the text ``"module:Class"``, so that a list of them loads none."""

from __future__ import annotations

from .tags import TestTags

__all__ = ["BUILT_IN_TESTS"]


def _entry(name: str, target: str, **tags: str | bool) -> tuple[str, tuple[str, TestTags]]:
    return name, (target, TestTags(**tags))  # type: ignore[arg-type]


BUILT_IN_TESTS: dict[str, tuple[str, TestTags]] = dict(
    [
        _entry(
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
        _entry(
            "spectral-paper",
            "spectralcit.paper.test:PaperSpectralCIT",
            symmetric=False,
            cost="O(n)",
            summary="SpectralCIT exactly as published (Fröhlich et al., ICML 2026)",
            assumes="the learned features of Z capture what Z explains of the features of X and Y",
            fails="by rejecting true nulls under strong confounding; needs hundreds of rows",
        ),
        _entry(
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
        _entry(
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
        _entry(
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
        _entry(
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
        _entry(
            "kcit",
            "spectralcit.methods.kcit:KCIT",
            symmetric=False,
            cost="O(n^3)",
            summary="kernel conditional independence test (Zhang et al. 2011)",
            assumes="kernel ridge with the given width and ridge removes Z; bias that is left grows with n",
            fails="when Z has many columns, and when the regression is biased, as under strong confounding",
        ),
        _entry(
            "rcit",
            "spectralcit.methods.rcit:RCIT",
            symmetric=False,
            cost="O(n)",
            summary="KCIT with random Fourier features (Strobl et al. 2019)",
            assumes="its random features of Z explain the features of X and Y",
            fails="with strong linear or high-dimensional confounding, and by depending on the seed",
        ),
        _entry(
            "rcot",
            "spectralcit.methods.rcit:RCoT",
            cost="O(n)",
            summary="RCIT without z among the features of y; for larger z",
            assumes="its random features of Z explain the features of X and Y",
            fails="with strong linear or high-dimensional confounding, and by depending on the seed",
        ),
        _entry(
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
        _entry(
            "chi2",
            "spectralcit.methods.contingency:Chi2Test",
            mixed=False,
            cost="O(n)",
            summary="Pearson's chi-squared test for discrete data, stratified by z",
            discrete=True,
            assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
            fails="when Z has many combinations: tables become sparse and power goes",
        ),
        _entry(
            "g2",
            "spectralcit.methods.contingency:G2Test",
            mixed=False,
            cost="O(n)",
            summary="likelihood-ratio test for discrete data, stratified by z",
            discrete=True,
            assumes="enough rows in every stratum of Z; null=permutation needs no such rule",
            fails="when Z has many combinations: tables become sparse, and it is then too liberal",
        ),
        _entry(
            "pcm",
            "spectralcit.methods.pcm:PCM",
            symmetric=False,
            cost="O(n)",
            summary="projected covariance measure: does x help to predict y beyond z",
            assumes="Y and the learned function can be regressed on Z well enough on the testing half",
            fails="to see an X that changes only the variance or shape of Y, and loses power at small n",
        ),
        _entry(
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
        _entry(
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
        _entry(
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
        _entry(
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
        _entry(
            "gcit",
            "spectralcit.methods.gcit:GCIT",
            symmetric=False,
            cost="O(n)",
            summary="randomisation test with a Wasserstein generator of x given z (Bellot et al. 2019)",
            assumes="the generator has learned the distribution of X given Z",
            fails="when the generator is poor, as it often is with the published settings: false rejections",
        ),
        _entry(
            "dgcit",
            "spectralcit.methods.dgcit:DGCIT",
            symmetric=False,
            cost="O(n)",
            summary="two Sinkhorn generators and a maximum of covariances (Shi et al. 2021)",
            assumes="the errors of the two generators, multiplied, are small",
            fails="when both generators are poor: many false rejections",
        ),
        _entry(
            "cdcit",
            "spectralcit.methods.cdcit:CDCIT",
            symmetric=False,
            cost="O(n log n)",
            summary="randomisation test with a diffusion model of x given z (Yang et al. 2025)",
            assumes="the diffusion model has learned the distribution of X given Z",
            fails="when the model overfits or underfits X given Z; it needs many rows",
        ),
        _entry(
            "dr-generative",
            "spectralcit.methods.dr_generative:GenerativeDR",
            symmetric=False,
            cost="O(n^2)",
            summary="two generators and a doubly robust kernel statistic (Zhang et al. 2024)",
            assumes="the errors of the two generators, multiplied, are small",
            fails="when both generators are poor: false rejections",
        ),
        _entry(
            "cmi-knn",
            "spectralcit.methods.cmiknn:CMIknn",
            symmetric=False,
            mixed=False,
            cost="O(n^2)",
            summary="nearest-neighbour conditional mutual information, local permutations (Runge 2018)",
            assumes="X given Z hardly changes between rows whose Z are neighbours; continuous columns",
            fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
        ),
        _entry(
            "cmi-knn-mixed",
            "spectralcit.methods.cmiknn:CMIknnMixed",
            symmetric=False,
            cost="O(n^2)",
            summary="the same for continuous and discrete columns together (Mesner & Shalizi 2021)",
            assumes="X given Z hardly changes between rows with neighbouring Z; nothing when Z is discrete",
            fails="by rejecting true nulls when neighbours in Z are far apart (many columns, wiggles)",
        ),
        _entry(
            "ccit",
            "spectralcit.methods.ccit:CCIT",
            symmetric=False,
            cost="O(n)",
            summary="boosted trees against a nearest-neighbour bootstrap (Sen et al. 2017)",
            assumes="Y given Z hardly changes between rows with the nearest Z",
            fails="by missing weak dependence; by rejecting true nulls when neighbours in Z are far apart",
        ),
        _entry(
            "nnlscit",
            "spectralcit.methods.nnlscit:NNLSCIT",
            symmetric=False,
            cost="O(n)",
            summary="classifier-based mutual information, local sampling (Li et al. 2023)",
            assumes="X and Y given Z hardly change between rows whose Z are neighbours",
            fails="when the distributions given Z are not smooth, and by missing weak dependence",
        ),
        _entry(
            "local-permutation",
            "spectralcit.methods.local_permutation:LocalPermutation",
            cost="O(n)",
            summary="permute x among rows with nearby z, single or double binning (Kim et al. 2022)",
            assumes="X given Z, or Y given Z, hardly changes within a cell of Z; nothing when Z is discrete",
            fails="by rejecting true nulls when Z has more than two or three columns",
        ),
        _entry(
            "crt",
            "spectralcit.methods.crt:CRT",
            symmetric=False,
            cost="O(n)",
            summary="conditional randomisation test: draw x given z, from your model or a fitted one",
            assumes="the distribution of X given Z is known or fitted well; nothing of Y",
            fails="by rejecting true nulls when the model of X given Z is wrong",
        ),
        _entry(
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
