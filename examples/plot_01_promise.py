"""
Does the classifier keep its promise?
=====================================

The paper's simulation, in small: 3000 binary features, each weakly related to the class. We keep
the k that look best, and ask how often the classifier expects to be wrong, and how often it is.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation

BLUE, ORANGE = "#0b3d6e", "#d9630f"

ks = [1, 3, 10, 30, 100, 300, 1000]
n_tables = 4

# %%
# A fit for each k, with the correction and without it, to four simulated tables.

expected = {True: np.zeros(len(ks)), False: np.zeros(len(ks))}
actual = {True: np.zeros(len(ks)), False: np.zeros(len(ks))}
for seed in range(n_tables):
    data = make_paper_simulation(200, 1000, 3000, random_state=seed)
    for place, k in enumerate(ks):
        for correct in (True, False):
            model = SelectiveBernoulliNB(k=k, correct_selection=correct)
            model.fit(data.X_train, data.y_train)
            wrong = model.predict(data.X_test) != data.y_test
            expected[correct][place] += model.expected_error(data.X_test) / n_tables
            actual[correct][place] += wrong.mean() / n_tables

# %%
# Means over the tables. The grey line is what happened; both classifiers make nearly the same
# errors. The other lines are what they promised.

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(ks, actual[True], color="0.35", lw=2.5, label="actual error")
ax.plot(ks, expected[True], "o--", color=BLUE, label="promised, corrected")
ax.plot(ks, expected[False], "s:", color=ORANGE, label="promised, uncorrected")
ax.fill_between(ks, expected[False], actual[False], color=ORANGE, alpha=0.12, lw=0)
ax.annotate("broken promise", (30, 0.25), color=ORANGE, ha="center")
ax.set(xscale="log", xlabel="features kept, of 3000", ylabel="error rate", ylim=(0, 0.5))
ax.legend(frameon=False, loc="lower left")
ax.spines[["top", "right"]].set_visible(False)
