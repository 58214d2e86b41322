"""
An audit: columns that somebody selected before you got them
============================================================

2000 columns of noise, 60 cases. One table has only the 40 columns that look best, chosen with all
cases; the other has all columns, and the pipeline chooses its 40 inside of every fold. What can be
seen from a table and a pipeline?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from unselected.audit import check_selection
from unselected.plots import SelectionAuditDisplay

rng = np.random.default_rng(1)
X, y = rng.normal(size=(60, 2000)), np.repeat(["sick", "well"], 30)

best = SelectKBest(k=40)
before = check_selection(GaussianNB(), best.fit_transform(X, y), y)
inside = check_selection(make_pipeline(best, GaussianNB()), X, y, try_remedy=False)

# %%
# Above is the table of 40 columns, below that of 2000. On the left are errors in the folds: both
# pipelines promise too much, and by cross-validation the first is nearly always right. That cannot
# be told from a good model. On the right are the scores of the columns. In the first table the weak
# ones are missing, of which every table of measurements has many.

fig = plt.figure(figsize=(9.6, 8), layout="constrained")
parts = fig.subfigures(2, 1, hspace=0.06)
titles = "40 columns, selected with all cases", "2000 columns, selected inside of the folds"
for part, audit, title in zip(parts, (before, inside), titles, strict=True):
    SelectionAuditDisplay.from_audit(audit, axes=part.subplots(1, 2))
    part.suptitle(title, x=0.02, ha="left", fontsize=13, fontweight="bold")

# %%
# It says in words what it found, and what to do.

print(before)
