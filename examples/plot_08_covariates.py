"""
Genes of the batch, and genes of the illness
============================================

Most ill patients were measured in the second batch. So genes that differ between batches seem to
differ between ill and well. With the batch as a covariate, features are scored given it.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

rng = np.random.default_rng(2)
n = 120
ill = rng.random(n) < 0.5
batch = rng.random(n) < np.where(ill, 0.8, 0.2)
X = rng.normal(size=(n, 400))
X[:, :60] += 1.2 * batch[:, np.newaxis]  # genes of the batch
X[:, 60:70] += 0.9 * ill[:, np.newaxis]  # genes of the illness
y = np.where(ill, "ill", "well")

# %%
# Scores of all genes, without and with the covariate.

plain = SelectiveGaussianNB(k=10, store_scores=True).fit(X, y)
names = {"batch": np.where(batch, "b2", "b1")}
adjusted = SelectiveGaussianNB(k=10, store_scores=True).fit(X, y, covariates=names)

kinds = {
    "other genes": (slice(70, None), "0.75", "."),
    "genes of the batch": (slice(0, 60), "#d9630f", "s"),
    "genes of the illness": (slice(60, 70), "#0b3d6e", "o"),
}
fig, ax = plt.subplots(figsize=(6.5, 5.2), layout="constrained")
for label, (columns, color, marker) in kinds.items():
    ax.plot(
        plain.feature_scores_[columns],
        adjusted.feature_scores_[columns],
        marker,
        color=color,
        label=label,
    )
ax.axvline(plain.threshold_, color="0.5", lw=0.8, ls="--")
ax.axhline(adjusted.threshold_, color="0.5", lw=0.8, ls="--")
ax.set_xlabel("score, nothing adjusted")
ax.set_ylabel("score, given the batch")
ax.legend(frameon=False, loc="upper left")
ax.spines[["top", "right"]].set_visible(False)

# %%
# Dashed lines are the cuts: to the right of, or above them, genes are kept.

for name, model in (("nothing adjusted", plain), ("given the batch", adjusted)):
    kept = model.selection_.indices
    print(f"{name}: {np.sum((kept >= 60) & (kept < 70))} of 10 kept genes are of the illness")
