# %% [markdown]
# # Quick start
# Is the gene tied to the outcome once age, stage and the image are known? And the marker?

# %%
from pathlib import Path

import matplotlib.pyplot as plt

from spectralcit import SpectralCIT, ci_test, plots, prepare
from spectralcit.tables import read_table

table = read_table(Path(__file__).with_name("study.csv"))
known = ["age", "stage", *(f"img_{k}" for k in range(1, 9))]

# %%
gene = ci_test(data=table, x="gene", y="outcome", z=known, random_state=0)
print(gene)
kinds = gene.diagnostics["block_pvalues"]
print("the most surprising kind of dependence:", min(kinds, key=kinds.get))

# %% The marker goes with the outcome only because age, stage and image drive both.
alone = ci_test(data=table, x="marker", y="outcome", random_state=0)
marker = ci_test(data=table, x="marker", y="outcome", z=known, random_state=0)
print(f"marker and outcome: p = {alone.pvalue:.2g}; once the rest is known: p = {marker.pvalue:.2g}")

# %% [markdown]
# ## The picture
# What is left of gene and outcome when Z is removed from both: the outcome rises to both sides of the gene's
# expected value, so no correlation would have shown it.

# %%
data = prepare(table.pick("gene"), table.pick("outcome"), table.pick(known))
pair = plots.leading_pair(SpectralCIT(), data, seed=gene.seed)
figure, ax = plt.subplots()
plots.plot_partial(pair, ax)

if __name__ == "__main__":
    plt.show()
