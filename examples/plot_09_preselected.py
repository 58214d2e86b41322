"""
Somebody selected before you got the data
=========================================

5000 columns of noise. Somebody kept the 40 with the largest correlations with the class and sent
you these. No cross-validation on the 40 columns can see that: the cases left out took part in that
selection. If you know how many columns there were, ``preselected_from`` puts it right.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

BLUE, ORANGE = "#0b3d6e", "#d9630f"

rng = np.random.default_rng(0)
y = np.arange(60) % 2
noise = rng.normal(size=(60, 5000))
score = np.abs(np.corrcoef(noise.T, y)[-1, :-1])
X = noise[:, np.argsort(-score)[:40]]
X_new, y_new = rng.normal(size=(1000, 40)), np.arange(1000) % 2

# %%
# What cross-validation says, what is true, and what the model expects if it is told of more or
# fewer columns.

unaware = SelectiveGaussianNB().fit(X, y)
left_out = unaware.cv_predict_proba(10)
cross_validated = np.mean((left_out[:, 1] > 0.5) != y)
actual = np.mean(unaware.predict(X_new) != y_new)

told = np.array([40, 100, 300, 1000, 2000, 5000, 10_000, 30_000])
expected = []
for before in told:
    model = SelectiveGaussianNB(preselected_from=None if before == 40 else int(before))
    expected.append(model.fit(X, y).expected_error(X_new))

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.axhline(actual, color="0.35", lw=2.5)
ax.annotate("actual error on new cases", (42, actual - 0.03), color="0.35")
ax.axhline(cross_validated, color=ORANGE, lw=2, ls=":")
ax.annotate("error in cross-validation", (42, cross_validated + 0.015), color=ORANGE)
ax.plot(told, expected, "o--", color=BLUE, label="expected error")
ax.axvline(5000, color="0.7", lw=0.8)
ax.annotate("the true number", (5300, 0.06), color="0.4")
ax.set(xscale="log", xlabel="preselected_from", ylabel="error rate", ylim=(-0.01, 0.58))
ax.legend(frameon=False, loc="center left")
ax.spines[["top", "right"]].set_visible(False)
