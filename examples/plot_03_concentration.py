"""
What the correction changes: the posterior of the concentration
===============================================================

All features share one hyperparameter, the concentration: how alike a feature is in the two classes.
The kept features alone say that features differ much. The event, that thousands of others looked
too weak to be kept, says that they do not. Only both together are right.
"""

import matplotlib.pyplot as plt

from unselected import SelectiveBernoulliNB
from unselected.datasets import make_paper_simulation
from unselected.plots import ConcentrationDisplay

TRUE_CONCENTRATION = 300.0
data = make_paper_simulation(200, 10, 10_000, concentration=TRUE_CONCENTRATION, random_state=0)

# %%
# Three posteriors: from all features, from the best 100 without the correction, and with it.

estimators = {
    "complete": SelectiveBernoulliNB(),
    "corrected": SelectiveBernoulliNB(k=100),
    "uncorrected": SelectiveBernoulliNB(k=100, correct_selection=False),
}
for estimator in estimators.values():
    estimator.fit(data.X_train, data.y_train)

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
display = ConcentrationDisplay.from_estimators(
    estimators, true_concentration=TRUE_CONCENTRATION, ax=ax
)

# %%
# With the correction 100 features and one count tell nearly what all 10,000 features tell.
