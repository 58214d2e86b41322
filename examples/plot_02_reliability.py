"""
Is a probability of 0.8 right in 80 % of cases?
===============================================

A reliability curve needs many cases whose truth is known: 3000 simulated ones. Along the diagonal,
probabilities mean what they say. The band is where the curve of reliable probabilities would lie.
"""

import matplotlib.pyplot as plt

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation
from unselected.plots import ReliabilityDisplay

data = make_paper_simulation(200, 3000, 5000, random_state=3)

# %%
# The same 100 features, with the correction and without it. Grey bars show how the probabilities
# are spread.

fig, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
for ax, correct in zip(axes, (False, True), strict=True):
    model = SelectiveBernoulliNB(k=100, correct_selection=correct)
    model.fit(data.X_train, data.y_train)
    ReliabilityDisplay.from_estimator(model, data.X_test, data.y_test, random_state=0, ax=ax)
    ax.get_legend().remove()
    ax.set_title("corrected" if correct else "uncorrected")

# %%
# Uncorrected, most probabilities are near 0 or 1, and of the cases that are given more than 0.95
# about one in five turns out to be of the other class.
