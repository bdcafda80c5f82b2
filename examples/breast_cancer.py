# %% [markdown]
# # Breast cancer: do genes say more than the clinic?
# 198 patients whose lymph nodes were free of tumour (GSE7390, Desmedt et al. 2007, as bundled with
# scikit-survival): 76 genes, and what the clinic knows anyway: age, size of the tumour, oestrogen receptor,
# grade. Do genes still speak about metastasis within five years once the clinic has spoken? The whole study,
# with all tests and a second table of patients: `spectralcit reproduce breast-cancer`.

# %%
import matplotlib.pyplot as plt
import numpy as np

from spectralcit import ci_test, screen
from spectralcit.datasets.real import load_real
from spectralcit.studies import chance_given, redrawn

table = load_real("breast-cancer")
question = table.info.question("metagenes")
patients = table.frame.dropna(subset=["metastasis_5y"])
clinic = list(question.z)
print(question.text)
print(f"{len(patients)} patients, {int(patients['metastasis_5y'].sum())} metastases; {table.info.source}")

# %% [markdown]
# ## Three metagenes at once
# Metagenes are the leading principal components of the genes. Patients who were followed for less than five
# years are left out in the first line and counted in the second, which takes the whole time with its
# censoring.

# %%
first = patients[question.columns]
within = ci_test(**question.arguments, data=first, random_state=0)
print(f"metastasis within five years: p = {within.pvalue:.2g}, effect {within.effect_size:.2f}")
times = table.info.question("censored")
whole = ci_test(**times.arguments, data=table.frame[times.columns], random_state=0)
print(f"time to metastasis, censored: p = {whole.pvalue:.2g}")

# %% [markdown]
# Both come with a warning: neighbouring rows are alike. Patients seem to be listed hospital by hospital, and
# the table does not say which. Taking neighbours together costs little:

# %%
ordered = ci_test(**question.arguments, data=first, time=True, random_state=0)
print(f"neighbouring rows together:   p = {ordered.pvalue:.2g}")

# %% [markdown]
# ## Can such a p-value be believed?
# The outcome is drawn anew from its chance given the clinic, so that genes know nothing about it that the
# clinic does not. On these very patients a test at level 0.05 should reject one such outcome in twenty.

# %%
chance = chance_given(first, question.y, clinic)
copies = [redrawn(first, question.y, chance, np.random.default_rng([1, k])) for k in range(20)]
for test in ("spectral", "fisher-z", "kcit", "rcot"):
    pvalues = [
        ci_test(**question.arguments, data=copy, method=test, random_state=0).pvalue for copy in copies
    ]
    print(f"{test:<9} rejects {sum(p <= 0.05 for p in pvalues)} of {len(copies)} redrawn outcomes")

# %% [markdown]
# ## Which genes?
# The 76 were chosen elsewhere because they foretell metastasis, so many small p-values are no surprise; what
# is asked is whether they say more than the clinic.

# %%
genes = [name for name in patients.columns if name.startswith("X2")]
found = screen(patients, x=genes, y="metastasis_5y", z=clinic, fdr="bh", progress=False)
hits = found.hits(0.1)
print(f"{len(hits)} of {len(genes)} genes with q ≤ 0.1")
for row in hits:
    print(f"  {row.x:<14} p = {row.pvalue:.2g}   {row.kind}")

# %% [markdown]
# ## What this does not say
# A small p-value means that genes and outcome are tied given *these four* columns: a finer grade,
# proliferation under the microscope or the hospital might hold the same news. It says nothing about causes,
# nor whether a treatment should change. With 35 metastases, a gene that is not found is not shown to be
# silent.

# %%
height = -np.log10(found.pvalues)
order = np.arange(1, len(height) + 1)
figure, ax = plt.subplots()
ax.plot(order, -np.log10((order - 0.5) / len(order)), color="#8c8c8c", label="chance alone")
ax.plot(order, height, "o", color="#4a80d4", markersize=3, label="76 genes")
ax.plot(order[: len(hits)], height[: len(hits)], "o", color="#d9534f", markersize=4, label="q ≤ 0.1")
ax.set(xlabel="genes, sorted", ylabel="−log10 p-value", title="metastasis, given the clinic")
ax.legend()

if __name__ == "__main__":
    plt.show()
