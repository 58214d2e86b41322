"""
The event: which counts would have been omitted
===============================================

A binary feature of 40 cases is two counts, the ones in each class. The cut on the correlation
divides the table of all counts into kept and omitted ones. The omission probability is the sum of
the probabilities of the omitted counts, and depends on the concentration.
"""

import matplotlib.pyplot as plt

from unselected.plots import OmissionProbabilityDisplay, SelectedCountsDisplay

fig, ax = plt.subplots(figsize=(6, 5.4), layout="constrained")
counts = SelectedCountsDisplay.from_counts(20, 20, 0.5, ax=ax)

# %%
# The probability of the grey cells together, by concentration:

fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
omission = OmissionProbabilityDisplay.from_counts(20, 20, 0.5, ax=ax)

# %%
# Where the concentration is small, features differ much between the classes, and many
# would pass the cut. To the power of the number of omitted features even small differences decide:
# 0.99 to the power 5000 is nothing.
