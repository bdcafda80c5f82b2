# %% [markdown]
# # A biomarker among sixty clinical variables
# Two of sixty columns confound, and they do so nonlinearly. A linear test cannot remove that and sees a tie
# that is not there; the default test learns which columns matter.

# %%
import matplotlib.pyplot as plt
import numpy as np

from spectralcit import SpectralCIT, ci_test, plots, prepare

rng = np.random.default_rng(11)
n = 600
clinical = rng.normal(size=(n, 60))
confounding = clinical[:, 0] ** 2 + np.abs(clinical[:, 1])
protein = confounding + 0.7 * rng.normal(size=n)
survival = confounding + 0.7 * rng.normal(size=n)  # the protein plays no part

# %%
linear = ci_test(protein, survival, clinical, method="fisher-z")
default = ci_test(protein, survival, clinical, random_state=0)
print(f"no tie in truth.  fisher-z: p = {linear.pvalue:.2g}   default: p = {default.pvalue:.2g}")
print(f"Z explains {default.diagnostics['x']['r_squared']:.0%} of the protein, out of sample")

# %% With an effect of the protein's own the default test sees it.
affected = survival + 0.5 * (protein - confounding)
print(f"a real tie.       default: p = {ci_test(protein, affected, clinical, random_state=0).pvalue:.2g}")

# %% [markdown]
# ## The picture
# Protein and survival rise together (grey). What is left of both once the clinical columns are removed does
# not (blue).

# %%
pair = plots.leading_pair(SpectralCIT(), prepare(protein, survival, clinical), seed=default.seed)
figure, ax = plt.subplots()
for x, y, colour, label in (
    (protein, survival, "#8c8c8c", "as measured"),
    (pair.x.residual, pair.y.residual, "#4a80d4", "once Z is removed"),
):
    points = {"s": 12, "alpha": 0.7, "linewidths": 0, "rasterized": True}
    ax.scatter((x - x.mean()) / x.std(), (y - y.mean()) / y.std(), color=colour, label=label, **points)
ax.set_xlabel("protein, in standard deviations")
ax.set_ylabel("survival, in standard deviations")
ax.legend()

if __name__ == "__main__":
    plt.show()
