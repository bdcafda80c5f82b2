"""Are the p-values still the same, to the last bit? Every registered test on ten fixed data sets.

    python benchmarks/same_pvalues.py store      # before a change of the code's layout
    python benchmarks/same_pvalues.py compare    # after it: names every p-value that moved

Bits depend on the linear algebra library, so both runs belong on one machine; the stored file says what was
seen on ours. Slow tests run with few steps and draws: the question is whether the code is the same, not
whether the answer is good.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from spectralcit import ci_test, list_tests  # noqa: E402
from spectralcit.errors import SpectralCITError  # noqa: E402

STORED = Path(__file__).parent / "results" / "same_pvalues.json"

SMALL_NETWORK = {"n_steps": 20, "hidden": 16, "batch_size": 32}
QUICK: dict[str, dict] = {
    "ccit": {"n_bootstrap": 2, "n_trees": 10},
    "cdcit": {**SMALL_NETWORK, "n_draws": 10, "n_sampling_steps": 5},
    "cmi-knn": {"n_permutations": 49},
    "cmi-knn-mixed": {"n_permutations": 49},
    "cpt": {"n_permutations": 49, "n_steps": 10},
    "crt": {"n_draws": 99},
    "dgcit": {**SMALL_NETWORK, "n_bootstrap": 50, "n_samples": 10},
    "dr-generative": {**SMALL_NETWORK, "n_bootstrap": 50, "n_samples": 5},
    "gcit": {**SMALL_NETWORK, "n_draws": 50},
    "kpc": {"n_permutations": 49},
    "local-permutation": {"n_permutations": 99},
    "nnlscit": {"n_permutations": 20},
    "spectral-paper": {"n_epochs": 5, "layer_size_u": 16, "layer_size_v": 16, "layer_size_w": 16},
}
VARIANTS: dict[str, tuple[str, dict]] = {
    "spectral, witness": ("spectral", {"statistic": "witness"}),
    "spectral, frobenius": ("spectral", {"statistic": "frobenius"}),
    "gcm, forest": ("gcm", {"regressor": "forest"}),
    "gcm, linear": ("gcm", {"regressor": "linear"}),
    "kcit, gp": ("kcit", {"regression": "gp"}),
    "wgcm, estimated": ("wgcm", {"weights": "estimated"}),
    "crt, distance correlation": ("crt", {"statistic": "distance-correlation", "n_draws": 49}),
    "spectral-paper, authors' statistic": (
        "spectral-paper",
        {**QUICK["spectral-paper"], "statistic": "projector", "weight_init": "kaiming", "output_tanh": True},
    ),
}


def data_sets() -> dict[str, tuple]:
    """Ten samples that between them use every kind of column and of Z."""
    rng = np.random.default_rng(20261116)
    n = 160
    z = rng.standard_normal((n, 5))
    e = rng.standard_normal((n, 8))
    x, y = np.sin(2 * z[:, 0]) + 0.5 * e[:, 0], z[:, 0] ** 2 + 0.5 * e[:, 1]
    wide = np.hstack([z, rng.standard_normal((n, 100))])
    codes = (z[:, :2] > 0).astype(int) + (z[:, :2] > 1)
    levels = np.array(["a", "b", "c"])[codes]
    return {
        "null, one column": (x, y, z[:, :1]),
        "null, five columns": (x, y, z),
        "alternative": (x, y + 0.6 * x, z[:, :2]),
        "square": (e[:, 2], e[:, 2] ** 2 + z[:, 0], z[:, :2]),
        "vectors": (z[:, :3] + e[:, :3], z[:, :2] - e[:, 3:5], z),
        "wide": (wide[:, 0] + e[:, 5], wide[:, 0] - e[:, 6], wide),
        "no conditioning": (e[:, 0], np.abs(e[:, 0]) + e[:, 7], None),
        "binary y": (x, (y + e[:, 3] > 1).astype(float), z[:, :2]),
        "all discrete": ((codes[:, 0] + (e[:, 4] > 0)) % 3, codes[:, 0] * (e[:, 5] > 0), codes[:, :1]),
        "text": (levels[:, 0], x, levels[:, 1]),
    }


def measured() -> dict[str, dict[str, str]]:
    """P-values in hexadecimal, or the kind of error, by test and data set."""
    runs = {info.name: (info.name, QUICK.get(info.name, {})) for info in list_tests()} | VARIANTS
    found: dict[str, dict[str, str]] = {}
    for label, (method, parameters) in runs.items():
        found[label] = {}
        for name, (x, y, z) in data_sets().items():
            try:
                result = ci_test(x, y, z, method=method, random_state=11, **parameters)
                found[label][name] = result.pvalue.hex()
            except SpectralCITError as error:
                found[label][name] = type(error).__name__
        print(label, *(found[label].values()), file=sys.stderr)
    return found


def main() -> None:
    command = sys.argv[1] if len(sys.argv) == 2 else ""
    if command == "store":
        STORED.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
    elif command == "compare":
        before, now = json.loads(STORED.read_text(encoding="utf-8")), measured()
        moved = [
            f"{label} / {name}: {value} -> {now.get(label, {}).get(name)}"
            for label, values in before.items()
            for name, value in values.items()
            if now.get(label, {}).get(name) != value
        ]
        print(*moved, f"{len(moved)} of {sum(map(len, before.values()))} p-values moved", sep="\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
