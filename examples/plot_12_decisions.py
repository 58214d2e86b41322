"""
Decisions by cost: what overconfidence is worth in money
========================================================

A missed illness costs 20, a false alarm 1, a further test 0.5. With probabilities that mean what
they say, the cheapest decision follows from them, and the expected cost is the one to be paid.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation
from unselected.fitted.decisions import decide

BLUE, ORANGE = "#0b3d6e", "#d9630f"

data = make_paper_simulation(200, 4000, 4000, random_state=6)
truth = data.y_test
costs = np.array([[0.0, 1.0], [20.0, 0.0]])  # truth in rows, decision in columns
TEST = 0.5


def paid(decision, truth):
    """Return the cost of each case; -1 is a further test."""
    return np.where(decision < 0, TEST, costs[truth, np.maximum(decision, 0)])


expected, actual, tests = [], [], []
for correct in (True, False):
    model = SelectiveBernoulliNB(k=100, correct_selection=correct)
    probability = model.fit(data.X_train, data.y_train).predict_proba(data.X_test)
    decision = decide(probability, costs, indeterminate=TEST)
    expected.append(np.minimum((probability @ costs).min(axis=1), TEST).mean())
    actual.append(paid(decision, truth).mean())
    tests.append(np.mean(decision < 0))

# %%
# The uncorrected probabilities promise cheap decisions. Few further tests are asked for, many
# illnesses are missed, and the bill is higher than both promises.

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for place, color in enumerate((BLUE, ORANGE)):
    ax.bar(place - 0.2, expected[place], 0.36, color="white", edgecolor=color, lw=2, hatch="//")
    ax.bar(place + 0.2, actual[place], 0.36, color=color, edgecolor=color, lw=2)
    ax.text(place - 0.2, expected[place] + 0.01, "promised", ha="center", color=color)
    ax.text(place + 0.2, actual[place] + 0.01, "paid", ha="center", color=color)
labels = [
    f"{name}\n{share:.0%} further tests"
    for name, share in zip(("corrected", "uncorrected"), tests, strict=True)
]
ax.set_xticks([0, 1], labels)
ax.set_ylabel("mean cost of a case")
ax.spines[["top", "right"]].set_visible(False)
