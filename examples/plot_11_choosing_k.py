"""
How many features? Leave-one-out for every k in one pass
========================================================

``k_path`` repeats everything without each case, selection included, for several numbers of
features. Corrected, the expected error follows the actual one at every k. Uncorrected, more
features mean a better promise and nothing else.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

BLUE, ORANGE = "#0b3d6e", "#d9630f"

rng = np.random.default_rng(0)
y = np.arange(80) % 2
X = rng.normal(size=(80, 1000)) + np.outer(y, 0.14 * rng.normal(size=1000))
ks = [1, 2, 5, 10, 20, 50, 100, 200, 500]

paths = {
    correct: SelectiveGaussianNB(k=10, correct_selection=correct).fit(X, y).k_path(ks)
    for correct in (True, False)
}

# %%
# Log loss on the left, promised (dashed) and actual (solid) error on the right.

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for correct, color in ((True, BLUE), (False, ORANGE)):
    path, label = paths[correct], "corrected" if correct else "uncorrected"
    left.plot(ks, [at.log_loss for at in path], "o-", color=color, label=label)
    right.plot(ks, [at.error for at in path], "-", color=color, label=f"{label}, actual")
    promised = [at.expected_error for at in path]
    right.plot(ks, promised, "o--", color=color, mfc="white", label=f"{label}, promised")
left.axhline(np.log(2), color="0.6", lw=0.8, ls=":")
left.set(xscale="log", xlabel="features kept", ylabel="leave-one-out log loss")
right.set(xscale="log", xlabel="features kept", ylabel="error rate", ylim=(0, 0.7))
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
