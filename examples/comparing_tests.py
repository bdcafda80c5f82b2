# %% [markdown]
# # Several tests, one question
# To see whether an answer hangs on the test, not to pick the smallest p-value. The effect of X on Y changes
# its sign with Z: what looks at average covariance only is blind to it.

# %%
import matplotlib.pyplot as plt
import numpy as np

from spectralcit import ci_test

rng = np.random.default_rng(7)
n = 400
z = rng.normal(size=n)
x = z + rng.normal(size=n)
y = z + 0.6 * np.sign(z) * (x - z) + rng.normal(size=n)

# %%
pvalues = {}
for method in ("spectral", "fisher-z", "gcm", "wgcm", "rcot"):
    pvalues[method] = ci_test(x, y, z, method=method, random_state=0).pvalue
    print(f"{method:<10}{pvalues[method]:.2g}")

# %% [markdown]
# ## The picture
# The line is the level 0.05: dots to its left reject independence.

# %%
figure, ax = plt.subplots()
ax.scatter(list(pvalues.values()), list(pvalues), s=60, color="#4a80d4", zorder=2)
ax.axvline(0.05, color="#d9534f", linestyle="--")
ax.set_xscale("log")
ax.set_xticks([1e-12, 1e-8, 1e-4, 1], ["1e-12", "1e-8", "1e-4", "1"])
ax.invert_yaxis()
ax.set_xlabel("p-value")

if __name__ == "__main__":
    plt.show()
