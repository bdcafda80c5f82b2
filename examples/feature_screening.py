# %% [markdown]
# # Screening features
# Which of six features say something about the target beyond the two that are already in the model? Six
# questions need a correction: here the expected share of false discoveries is kept at 0.1
# (Benjamini and Hochberg).

# %%
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import false_discovery_control

from spectralcit import ci_test

rng = np.random.default_rng(5)
n = 300
model = rng.normal(size=(n, 2))
features = rng.normal(size=(n, 6)) + np.sin(2 * model[:, :1])  # all go with the first column of the model
target = 2 * np.sin(2 * model[:, 0]) + features[:, 0] ** 2 + features[:, 1] + rng.normal(size=n)

# %%
results = [ci_test(feature, target, model, random_state=0) for feature in features.T]
adjusted = false_discovery_control([result.pvalue for result in results])
kept = np.flatnonzero(adjusted <= 0.1)
for k in kept:
    print(f"feature {k}: adjusted p = {adjusted[k]:.2g}, effect size {results[k].effect_size:.2f}")

# %% [markdown]
# ## The picture
# Bars beyond the line are discoveries. Only the first two features were put into the target.

# %%
figure, ax = plt.subplots()
ax.barh(np.arange(6), -np.log10(adjusted), color=["#4a80d4" if k in kept else "#8c8c8c" for k in range(6)])
ax.axvline(-np.log10(0.1), color="#d9534f", linestyle="--")
ax.set_yticks(np.arange(6), [f"feature {k}" for k in range(6)])
ax.invert_yaxis()
ax.set_xlabel("evidence: −log₁₀ of the adjusted p-value")

if __name__ == "__main__":
    plt.show()
