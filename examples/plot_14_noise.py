"""
Noise, and a classifier that knows it
=====================================

2000 columns of noise, 60 cases. No classifier can be right in more than half of new cases. What do
the probabilities look like?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from unselected import SelectiveClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 2000)), np.arange(60) % 2
X_new = rng.normal(size=(2000, 2000))

methods = {
    "SelectKBest + GaussianNB": (make_pipeline(SelectKBest(k=20), GaussianNB()), "#d9630f"),
    "SelectKBest + LogisticRegression": (
        make_pipeline(SelectKBest(k=20), LogisticRegression()),
        "#56b4e9",
    ),
    "SelectiveClassifier": (SelectiveClassifier(k=20), "#0b3d6e"),
}

# %%
# The same 2000 new cases, all of which are noise.

fig, axes = plt.subplots(3, 1, figsize=(7, 5.6), layout="constrained", sharex=True)
for ax, (name, (method, color)) in zip(axes, methods.items(), strict=True):
    probability = method.fit(X, y).predict_proba(X_new)[:, 1]
    expected = np.mean(np.minimum(probability, 1 - probability))
    ax.hist(probability, bins=np.linspace(0, 1, 41), color=color)
    ax.set_title(f"{name}: expects {expected:.0%} errors", loc="left", fontsize=10.5)
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
axes[-1].set_xlabel("predicted probability of class 1")
