"""
The winner's curse, and how it is taken back
============================================

2000 features, of which every one has a small effect. The 25 that look strongest are kept. At face
value their effects are far too large. The posterior given the selection knows better.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

BLUE, ORANGE = "#0b3d6e", "#d9630f"

rng = np.random.default_rng(4)
y = np.arange(60) % 2
truth = 0.25 * rng.normal(size=2000)  # differences between the classes, in standard deviations
X = rng.normal(size=(60, 2000)) + np.outer(y, truth)

model = SelectiveGaussianNB(k=25).fit(X, y)
effect = model.feature_effects(level=0.9).effects["mean_difference"]
true_effect = truth[model.selection_.indices]

# %%
# One row for each kept feature: the truth as a diamond, face value in orange, and the corrected
# mean with its 90 % interval in blue.

order = np.argsort(true_effect)
rows = np.arange(order.size)
fig, ax = plt.subplots(figsize=(7, 6), layout="constrained")
ax.hlines(rows, effect.low[order], effect.high[order], color=BLUE, lw=4, alpha=0.25)
ax.plot(effect.mean[order], rows, "o", color=BLUE, label="corrected, 90 % interval")
ax.plot(effect.naive[order], rows, "s", color=ORANGE, mfc="white", label="at face value")
ax.plot(true_effect[order], rows, "D", color="0.15", ms=5, label="truth")
ax.axvline(0, color="0.7", lw=0.8, zorder=0)
ax.set(xlabel="difference between the classes, in standard deviations", yticks=[])
ax.set_ylabel("25 kept features")
ax.legend(frameon=False, loc="upper left")
ax.spines[["top", "right", "left"]].set_visible(False)

# %%
# How many of the intervals hold the truth, and how much of the effect at face value was chance?

inside = np.mean((effect.low <= true_effect) & (true_effect <= effect.high))
print(f"{inside:.0%} of the 90 % intervals hold the truth")
print(f"mean absolute effect at face value {np.abs(effect.naive).mean():.2f}, ", end="")
print(f"corrected {np.abs(effect.mean).mean():.2f}, true {np.abs(true_effect).mean():.2f}")
