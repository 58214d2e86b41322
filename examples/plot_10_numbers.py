"""
A real response: intervals that hold what they promise
======================================================

No column is related to the response. The regressor that does not know of the selection predicts
with confidence. The one that does says that it knows nothing, which is right.
"""

import matplotlib.pyplot as plt
import numpy as np

from unselected import SelectiveNaiveRegressor
from unselected.plots import CoverageDisplay, PredictedActualDisplay

rng = np.random.default_rng(1)
X, y = rng.normal(size=(60, 2000)), rng.normal(size=60)
X_new, y_new = rng.normal(size=(300, 2000)), rng.normal(size=300)

fitted = {
    "uncorrected": SelectiveNaiveRegressor(k=20, correct_selection=False).fit(X, y),
    "corrected": SelectiveNaiveRegressor(k=20).fit(X, y),
}

# %%
# Predicted against actual responses of new cases, with 90 % intervals.

fig, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, fitted.items(), strict=True):
    low, high = model.predict_quantiles(X_new, (0.05, 0.95)).T
    PredictedActualDisplay.from_predictions(
        y_new, model.predict(X_new), low, high, level=0.9, ax=ax
    )
    ax.get_legend().remove()
    ax.set_title(f"{name}: {np.mean((low <= y_new) & (y_new <= high)):.0%} inside")

# %%
# The same at all levels: how many responses are in the central intervals?

pit = {name: model.predict_cdf(X_new, y_new) for name, model in fitted.items()}
fig, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
display = CoverageDisplay.from_predictions(pit, ax=ax)
