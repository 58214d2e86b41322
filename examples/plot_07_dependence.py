"""
Features that depend on each other: what the guards do
======================================================

The correction takes back what selection did, and nothing else. Naive Bayes also counts correlated
features as independent evidence. Here groups of ten features share a hidden factor, more and more
of it from left to right. The guards learn from cases left out how much the evidence is worth.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

COLORS = {"none": "#d9630f", "tempered": "#56b4e9", "correlated": "#0b3d6e"}
MARKERS = {"none": "s", "tempered": "^", "correlated": "o"}


def draw(n, shared, rng):
    """Return cases of 60 groups of ten features; five groups are related to the class."""
    y = np.arange(n) % 2
    factors = rng.normal(size=(n, 60))
    factors[:, :5] += 0.9 * y[:, np.newaxis]
    own = rng.normal(size=(n, 600))
    return np.sqrt(shared) * np.repeat(factors, 10, axis=1) + np.sqrt(1 - shared) * own, y


# %%
# For each strength of the dependence: one training set of 100 cases, 2000 new cases.

shares = [0.1, 0.3, 0.5, 0.7]
gap = {guard: [] for guard in COLORS}
for shared in shares:
    rng = np.random.default_rng(5)
    X, y = draw(100, shared, rng)
    X_new, y_new = draw(2000, shared, rng)
    for guard in gap:
        model = SelectiveGaussianNB(k=30, dependence=guard).fit(X, y)
        actual = np.mean(model.predict(X_new) != y_new)
        gap[guard].append(model.expected_error(X_new) - actual)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.axhline(0, color="0.5", lw=1)
for guard, values in gap.items():
    ax.plot(shares, values, marker=MARKERS[guard], color=COLORS[guard], label=guard)
ax.set_xlabel("part of the variance that ten features share")
ax.set_ylabel("expected less actual error")
ax.legend(title='dependence="..."', frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Below 0 the classifier is overconfident. All three lines have the correction.
