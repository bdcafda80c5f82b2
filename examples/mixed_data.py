# %% [markdown]
# # Numbers, categories, booleans and missing values together

# %%
import numpy as np
import pandas as pd

from spectralcit import ci_test

rng = np.random.default_rng(3)
n = 500
frame = pd.DataFrame(
    {
        "income": np.exp(rng.normal(10, 0.5, n)),
        "region": rng.choice(["north", "south", "east", "west"], n),
        "smoker": rng.random(n) < 0.3,
    }
)
score = np.log(frame["income"]) - 10 + 0.8 * (frame["region"] == "north")
frame["school"] = pd.cut(
    score + rng.normal(size=n), [-np.inf, -0.5, 0.7, np.inf], labels=["low", "mid", "high"]
)
frame["health"] = score - 1.2 * frame["smoker"] + rng.normal(size=n)
frame.loc[rng.choice(n, 12, replace=False), "income"] = np.nan

# %% A category against a number, given a number and a category. School acts on health through nothing here.
school = ci_test(data=frame, x="school", y="health", z=["income", "region"], missing="drop", random_state=0)
print(school)

# %% A boolean against a number: smoking has an effect of its own.
smoker = ci_test(data=frame, x="smoker", y="health", z=["income", "region"], missing="drop", random_state=0)
print(f"smoker: p = {smoker.pvalue:.2g}, effect size {smoker.effect_size:.2f}")
