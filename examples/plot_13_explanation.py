"""
Why does this case get this probability?
========================================

``explain`` divides the log odds of a case into what each kept feature adds. Prior and contributions
sum to the total, so they can be drawn as a staircase.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveGaussianNB

BLUE, ORANGE = "#0b3d6e", "#d9630f"

rng = np.random.default_rng(3)
y = np.where(np.arange(100) % 2, "ill", "well")
X = rng.normal(size=(100, 500))
X[:, :8] += np.linspace(0.6, 1.3, 8) * (y == "ill")[:, np.newaxis]

model = SelectiveGaussianNB(k=10, prior="sparse").fit(X, y)
case = X[[np.argmin(np.abs(model.predict_proba(X)[:, 1] - 0.7))]]
told = model.explain(case)

# %%
# The odds are those of the second class, here "well", against the first.

order = np.argsort(-np.abs(told.contributions[0]))
steps = told.contributions[0, order]
ends = told.prior + np.cumsum(steps)
starts = ends - steps
names = [f"feature {j}" for j in told.features[order]]

fig, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
rows = np.arange(steps.size)
ax.barh(rows, steps, left=starts, color=np.where(steps > 0, BLUE, ORANGE), height=0.62)
ax.vlines(ends[:-1], rows[:-1] - 0.31, rows[1:] + 0.31, color="0.6", lw=0.8)
ax.axvline(0, color="0.75", lw=0.8, zorder=0)
ax.plot(told.total, steps.size - 0.35, "D", color="0.15")
ax.annotate(
    f"total: P(well) = {model.predict_proba(case)[0, 1]:.2f}",
    (float(told.total[0]), steps.size - 0.35),
    textcoords="offset points",
    xytext=(10, -4),
)
ax.set_yticks(rows, names)
ax.invert_yaxis()
ax.margins(x=0.12)
ax.set_xlabel("log odds of well;  orange speaks for ill, blue for well")
ax.spines[["top", "right"]].set_visible(False)
