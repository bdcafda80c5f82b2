# %% [markdown]
# # The file behind the examples
# A made-up study of 400 patients whose truth is known: age, stage and the image drive the gene, the marker
# and the outcome; the gene has an effect of its own on the outcome, the marker has none.
# `python examples/make_study.py` writes study.csv beside this file.

# %%
from pathlib import Path

import numpy as np


def study(n: int = 400, seed: int = 2026) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age = rng.normal(62, 9, n)
    stage = rng.choice(["I", "II", "III"], n, p=[0.5, 0.3, 0.2])
    image = rng.normal(size=(n, 8))
    confounding = np.sin(age / 6) + 0.8 * (stage == "III") + 0.5 * image[:, 0]
    gene = confounding + 0.7 * rng.normal(size=n)
    marker = confounding**2 + 0.7 * rng.normal(size=n)
    outcome = confounding + 0.5 * (gene - confounding) ** 2 + 0.5 * rng.normal(size=n)
    return {
        "gene": gene.round(3),
        "marker": marker.round(3),
        "outcome": outcome.round(3),
        "age": age.round(1),
        "stage": stage,
        **{f"img_{k + 1}": column.round(3) for k, column in enumerate(image.T)},
    }


# %%
def write(path: Path) -> None:
    columns = study()
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(__file__).with_name("study.csv"))
