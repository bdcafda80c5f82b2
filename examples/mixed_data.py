# %% [markdown]
# # Numbers, categories, booleans and missing values together

# %%
import matplotlib.pyplot as plt
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

# %% [markdown]
# ## The picture
# Smokers and others within each region: their means with two standard errors.

# %%
figure, ax = plt.subplots()
regions = sorted(frame["region"].unique())
for shift, smokes, colour in ((-0.1, False, "#4a80d4"), (0.1, True, "#d9534f")):
    health = frame[frame["smoker"] == smokes].groupby("region")["health"]
    error = 2 * health.std() / np.sqrt(health.size())
    places = np.arange(len(regions)) + shift
    ax.errorbar(places, health.mean(), error, fmt="o", color=colour, label="smokers" if smokes else "others")
ax.set_xticks(range(len(regions)), regions)
ax.set_ylabel("health")
ax.legend()

if __name__ == "__main__":
    plt.show()
