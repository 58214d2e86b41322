"""
Which of the kept features are real?
====================================

Twelve of 2000 features are related to the class, all others are noise. With ``prior="sparse"`` each
kept feature gets the probability that it is related, with the selection accounted for: 1 less its
local false discovery rate.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

BLUE = "#0b3d6e"

rng = np.random.default_rng(0)
y = np.arange(80) % 2
X = rng.normal(size=(80, 2000))
X[:, :12] += rng.uniform(0.6, 1.4, size=12) * y[:, np.newaxis]

fitted = {
    correct: SelectiveGaussianNB(k=30, prior="sparse", correct_selection=correct).fit(X, y)
    for correct in (True, False)
}

# %%
# Filled bars are features that are really related.

fig, axes = plt.subplots(2, 1, figsize=(7.5, 5), layout="constrained", sharex=True)
for ax, correct in zip(axes, (False, True), strict=True):
    model = fitted[correct]
    order = np.argsort(-model.scores_)
    real = model.selection_.indices[order] < 12
    probability = model.related_probability_[order]
    colors = np.where(real, BLUE, "white")
    ax.bar(np.arange(30), probability, color=colors, edgecolor=BLUE, width=0.8)
    ax.set(ylabel="P(related)", ylim=(0, 1.05), xticks=[])
    ax.set_title("corrected" if correct else "uncorrected", loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    expected = probability.sum()
    print(f"corrected {correct}: expects {expected:.1f} related features, {real.sum()} are")
axes[1].set_xlabel("30 kept features, by score; filled: truly related")

# %%
# Without the correction every feature that was kept is taken for real.
