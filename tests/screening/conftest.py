import numpy as np
import pandas as pd
import pytest

N = 160


@pytest.fixture(scope="session")
def study():
    """Twelve columns of which the first two and a category matter, and some that cannot be tested."""
    rng = np.random.default_rng(300_200)
    age, dose = rng.normal(size=(2, N))
    signal = rng.normal(size=N)
    relapse = np.sin(age) + signal + 0.5 * rng.normal(size=N)
    columns = {
        "g0": age + signal + rng.normal(size=N),
        "g1": dose - 2.0 * signal**2 + 0.3 * rng.normal(size=N),
        **{f"g{k}": age * (k % 2) + rng.normal(size=N) for k in range(2, 10)},
        "binary": (rng.normal(size=N) > dose).astype(float),
        "site": np.where(signal > 0.5, "a", np.where(rng.normal(size=N) > 0, "b", "c")),
        "constant": np.ones(N),
        "copy of relapse": relapse,
        "copy of age": age,
        "empty": np.full(N, np.nan),
        "names": [f"patient {k}" for k in range(N)],
        "holes": np.where(np.arange(N) % 20 == 3, np.nan, rng.normal(size=N)),
        "function of age": 3.0 * age - 1.0,
    }
    return pd.DataFrame({**columns, "age": age, "dose": dose, "relapse": relapse})
