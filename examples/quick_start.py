# %% [markdown]
# # Quick start
# Is the gene tied to the outcome once age, stage and the image are known? And the marker?

# %%
from pathlib import Path

from spectralcit import ci_test
from spectralcit.tables import read_table

table = read_table(Path(__file__).with_name("study.csv"))
known = ["age", "stage", *(f"img_{k}" for k in range(1, 9))]

# %%
gene = ci_test(data=table, x="gene", y="outcome", z=known, random_state=0)
print(gene)
print("kinds of dependence:", gene.diagnostics["block_pvalues"])

# %% The marker goes with the outcome only because age, stage and image drive both.
alone = ci_test(data=table, x="marker", y="outcome", random_state=0)
marker = ci_test(data=table, x="marker", y="outcome", z=known, random_state=0)
print(f"marker and outcome: p = {alone.pvalue:.2g}; once the rest is known: p = {marker.pvalue:.2g}")
