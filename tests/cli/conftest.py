from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def study(tmp_path):
    """A small study: text, booleans, missing values, and a name with a comma."""
    rng = np.random.default_rng(3)
    lines = ['id,age,stage,gene,outcome,"site, city",treated,empty']
    for row in range(90):
        age, gene = rng.integers(30, 80), rng.normal()
        stage = rng.choice(["I", "II", "III"])
        outcome = gene + 0.02 * age + rng.normal()
        site = rng.choice(["Oslo", "Bari"])
        shown = "NA" if row in (7, 40) else age
        lines.append(f"p{row},{shown},{stage},{gene:.6f},{outcome:.6f},{site},{rng.random() < 0.5},")
    path = tmp_path / "study.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
